#include "ranker/label_ranker.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/score_kernels.hpp"
#include "ranker/geometry_round.hpp"
#include "rules/working_set.hpp"

namespace tagalong {

template <class T>
AnyGeometry<T> LabelRanker<T>::make_geometry(const RankerConfig& config) {
    if (config.geometry == Geometry::entropic)
        return EntropicGeometry<T>(config.n_features, config.constant != 0);
    const double rate = config.geometry == Geometry::adaptive ? config.rate : 0;
    // Labels with equal scores get equal coefficients, unless the rule moves a single pair or a
    // working set.
    const StepPattern steps = config.update->few_labels ? StepPattern::few_labels
                              : config.working_set      ? StepPattern::working_set
                                                        : StepPattern::by_score;
    return LinearGeometry<T>(rate, config.average != Average::never, steps, config.relevance);
}

template <class T>
LabelRanker<T>::LabelRanker(const RankerConfig& config)
    : config_(config), geometry_(make_geometry(config)), confidence_(config.one_label) {
    const LabelRule& rule = *config.update;
    if (config.geometry == Geometry::entropic) entropic_rule_ = rule.entropic(config.solver);
    else linear_rule_ = rule.linear(config.solver);
    if (linear_rule_ && config.working_set) linear_rule_ = on_working_set(std::move(linear_rule_));
}

template <class T>
const WeightStore<T>& LabelRanker<T>::store() const {
    return std::visit(
        [](const auto& geometry) -> const WeightStore<T>& { return geometry.store(); }, geometry_);
}

template <class T>
std::size_t LabelRanker<T>::labels() const {
    return store().labels();
}

template <class T>
void LabelRanker<T>::add_labels(std::size_t count) {
    std::visit([&](auto& geometry) { geometry.add_labels(count); }, geometry_);
}

// The norm by which examples are normalised: the one that bounds the curvature in the geometry.
template <class T>
Norm LabelRanker<T>::norm() const {
    if (!config_.normalize) return Norm::none;
    return config_.geometry == Geometry::entropic ? Norm::largest : Norm::euclidean;
}

template <class T>
std::size_t LabelRanker<T>::prediction_candidate() const {
    if (config_.average == Average::never) return 0;
    return config_.average == Average::always ? Blend::kShares.size() - 1 : blend_.best();
}

template <class T>
double LabelRanker<T>::blend_share() const {
    return Blend::kShares[prediction_candidate()];
}

template <class T>
double LabelRanker<T>::mean_factor() const {
    if (certificate_.rounds == 0) return 0;
    return blend_share() / static_cast<double>(certificate_.rounds);
}

template <class T>
double LabelRanker<T>::cutoff() const {
    return cutoff_.value();
}

template <class T>
double LabelRanker<T>::dual() const {
    return certificate_.gain -
           std::visit([](const auto& geometry) { return geometry.complexity(); }, geometry_);
}

template <class T>
double LabelRanker<T>::recompute_dual() const {
    return certificate_.gain -
           std::visit([](const auto& geometry) { return geometry.recompute_complexity(); },
                      geometry_);
}

template <class T>
double LabelRanker<T>::penalty() const {
    const auto* linear = std::get_if<LinearGeometry<T>>(&geometry_);
    return linear ? linear->penalty() : 0;
}

template <class T>
double LabelRanker<T>::weight(std::int32_t row, int label) const {
    return std::visit(
        [&](const auto& geometry) {
            return prediction_weight(geometry, row, label, mean_factor());
        },
        geometry_);
}

template <class T>
Certificate LabelRanker<T>::certificate() const {
    return certificate_;
}

template <class T>
void LabelRanker<T>::restart_certificate() {
    std::visit([](auto& geometry) { geometry.restart(); }, geometry_);
    certificate_.restart();
}

template <class T>
void LabelRanker<T>::contributions(const RowView& x, int label, RowLookup<T>& lookup,
                                   std::vector<double>& out) const {
    lookup.find(store(), x);
    out.clear();
    const double factor = mean_factor();
    std::visit(
        [&](const auto& geometry) {
            for (std::size_t i = 0; i < x.size(); ++i) {
                const std::int32_t row = lookup.row[i];
                const bool any =
                    row != FeatureIndex::kAbsent || has_weight_without_row(geometry, x.feature[i]);
                out.push_back(any ? x.value[i] * prediction_weight(geometry, row, label, factor)
                                  : 0);
            }
        },
        geometry_);
}

template <class T>
void LabelRanker<T>::summed_contributions(const RowView& x, RowLookup<T>& lookup,
                                          std::vector<double>& out) const {
    lookup.find(store(), x);
    out.assign(x.size(), 0.0);
    const double factor = mean_factor();
    std::vector<T> buffer;
    std::visit(
        [&](const auto& geometry) {
            for (std::size_t i = 0; i < x.size(); ++i) {
                const std::int32_t row = lookup.row[i];
                if (row == FeatureIndex::kAbsent && !has_weight_without_row(geometry, x.feature[i]))
                    continue;
                out[i] = summed_weights(geometry, row, x.value[i], factor, buffer);
            }
        },
        geometry_);
}

template <class T>
std::span<const T> LabelRanker<T>::score(const RowView& x, RowLookup<T>& lookup) const {
    std::visit([&](const auto& geometry) { score_prediction(geometry, x, mean_factor(), lookup); },
               geometry_);
    return {lookup.sums.data(), labels()};
}

template <class T>
std::span<const std::int32_t> LabelRanker<T>::rank(Reader& reader, std::size_t k) const {
    best_labels(score(reader), k, reader.best);
    return reader.best;
}

template <class T>
void LabelRanker<T>::judge(Reader& reader, std::size_t k, const TieOrder& ties,
                           Judgement& out) const {
    const std::span<const T> scores = score(reader);
    const ScoredItem<T> item{scores, cutoff(), reader.lookup.known(reader.x)};
    if (config_.probability) confidence_.judge(item, k, ties, out);
    else confidence_.rank_only(item, k, ties, out);
}

template <class T>
void LabelRanker<T>::learn(const Example& x, std::span<const std::int32_t> relevant,
                           std::span<const std::int32_t> unknown, double weight,
                           const RoundOptions<T>& options) {
    const std::size_t labels_before = labels();
    const bool counts = weight > 0, judged = counts && options.stands_for > 0;
    take_labels(relevant, unknown);
    std::visit(
        [&](auto& geometry) {
            score_round(geometry, x, config_.average != Average::never, lookup_);
            const double cutoff_before = cutoff();
            const std::span<const T> predicted = predict(judged);
            if (judged && config_.probability)
                confidence_.observe<T>(
                    {predicted.first(labels_before), cutoff_before, lookup_.known(x)},
                    round_.relevant, round_.unknown, options.stands_for, options.judgement);
            if (options.scores) {
                std::copy(predicted.begin(), predicted.end(), options.scores);
                std::fill(options.scores + labels_before, options.scores + labels(),
                          -std::numeric_limits<T>::infinity());
            }
            if (counts) learn_example(geometry, x, weight);
        },
        geometry_);
}

// Stores the labels of the round in sorted order, and adds new labels to the model.
template <class T>
void LabelRanker<T>::take_labels(std::span<const std::int32_t> relevant,
                                 std::span<const std::int32_t> unknown) {
    round_.take(relevant, unknown);
    if (round_.needed() > labels()) add_labels(round_.needed() - labels());
}

// The prediction of the round. If the round is judged, the prediction is also compared with the
// labels, to adapt the blend and the cut-off.
template <class T>
std::span<const T> LabelRanker<T>::predict(bool judged) {
    std::span<const T> predicted(lookup_.sums.data(), labels());
    if (config_.average != Average::never && certificate_.rounds > 0) {
        const auto candidates =
            blend_scores_(predicted, lookup_.mean_sums.data(), certificate_.rounds);
        predicted = candidates[prediction_candidate()];
        if (judged && config_.average == Average::chosen) update_blend(candidates);
    }
    if (judged && config_.cutoff) cutoff_.observe(predicted, round_.relevant, round_.unknown);
    return predicted;
}

// Updates the blend with the average precision of each candidate in this round.
template <class T>
void LabelRanker<T>::update_blend(const typename BlendScores<T>::Candidates& candidates) {
    const bool any_pair =
        !round_.relevant.empty() && round_.relevant.size() + round_.unknown.size() < labels();
    if (!any_pair) return;
    for (std::size_t i = 0; i < candidates.size(); ++i)
        blend_.observe(i, average_precision_(candidates[i], round_.relevant, round_.unknown));
}

// Computes the step of the round, applies it to the weights and updates the certificate.
template <class T>
template <class G>
void LabelRanker<T>::learn_example(G& geometry, const Example& x, double weight) {
    add_features(geometry, x, lookup_);
    sides_.split(std::span<const T>(lookup_.sums.data(), labels()), round_.relevant,
                 round_.unknown);
    const double q = curvature_along(geometry, x, lookup_);
    const auto rounds_before = static_cast<double>(certificate_.rounds);
    certificate_.count_round(weight);
    if (!sides_.has_pair()) return;
    certificate_.count_ranking(q, sides_.mistake(),
                               weight * std::max(0.0, config_.margin - sides_.margin));
    if (!can_move(geometry, x, q)) return;

    step_.clear(labels());
    choose_step(geometry, x, q, {config_.C * weight, config_.margin, config_.temperature});
    certificate_.count_solver(step_.iterations, step_.solved);
    if (step_.empty()) return;
    certificate_.gain += config_.margin * step_.mass + step_.entropy;
    apply_step(geometry, x, step_, q, rounds_before, lookup_);
}

template <class T>
void LabelRanker<T>::choose_step(LinearGeometry<T>&, const Example&, double q,
                                 const RuleParameters& rule) {
    linear_rule_(sides_, q, rule, step_);
}

template <class T>
void LabelRanker<T>::choose_step(EntropicGeometry<T>& geometry, const Example& x, double,
                                 const RuleParameters& rule) {
    geometry.prepare(x);
    const auto curve = [&](int label, bool relevant) {
        return geometry.curve(x, lookup_, label, relevant);
    };
    entropic_rule_(sides_, std::ref(curve), rule, step_);
}

template <class T>
void LabelRanker<T>::rebuild(const Selection& selection) {
    if (selection.keeps_all_rows()) confidence_.select(selection, labels());
    geometry_ = std::visit(
        [&](const auto& geometry) -> AnyGeometry<T> { return geometry.rebuilt(selection); },
        geometry_);
    restart_certificate();
}

template class LabelRanker<float>;
template class LabelRanker<double>;

}  // namespace tagalong
