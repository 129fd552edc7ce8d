#include "ranker/label_ranker.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/score_kernels.hpp"

namespace tagalong {

template <class T>
AnyGeometry<T> LabelRanker<T>::make_geometry(const RankerConfig& config) {
    if (config.geometry == Geometry::entropic)
        return EntropicGeometry<T>(config.n_features, config.constant != 0);
    const double rate = config.geometry == Geometry::adaptive ? config.rate : 0;
    // Labels that tie move by the same amount, unless the rule moves one pair only.
    const Steps steps = config.update->few_labels ? Steps::few_labels : Steps::alike;
    return LinearGeometry<T>(rate, config.average != Average::never, steps);
}

template <class T>
LabelRanker<T>::LabelRanker(const RankerConfig& config)
    : config_(config), geometry_(make_geometry(config)) {
    const LabelRule& rule = *config.update;
    if (config.geometry == Geometry::entropic) entropic_rule_ = rule.entropic(config.solver);
    else linear_rule_ = rule.linear(config.solver);
}

template <class T>
const WeightStore<T>& LabelRanker<T>::store() const {
    return std::visit([](const auto& geometry) -> const WeightStore<T>& { return geometry.store(); },
                      geometry_);
}

template <class T>
std::size_t LabelRanker<T>::labels() const {
    return store().labels();
}

template <class T>
void LabelRanker<T>::add_labels(std::size_t count) {
    std::visit([&](auto& geometry) { geometry.add_labels(count); }, geometry_);
}

// The natural length of an example: the norm in which its geometry bounds the curvature.
template <class T>
Norm LabelRanker<T>::norm() const {
    if (!config_.normalize) return Norm::none;
    return config_.geometry == Geometry::entropic ? Norm::largest : Norm::euclidean;
}

template <class T>
double LabelRanker<T>::blend_share() const {
    if (config_.average == Average::never) return 0;
    return config_.average == Average::always ? 1 : blend_.share();
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
           std::visit([](const auto& geometry) { return geometry.recompute_complexity(); }, geometry_);
}

template <class T>
double LabelRanker<T>::weight(std::int32_t row, int label) const {
    if (const auto* linear = std::get_if<LinearGeometry<T>>(&geometry_))
        return linear->weight(row, label, mean_factor());
    return std::get<EntropicGeometry<T>>(geometry_).weight(row, label);
}

template <class T>
Certificate LabelRanker<T>::certificate() const {
    return certificate_;
}

template <class T>
void LabelRanker<T>::restart_certificate() {
    std::visit([](auto& geometry) { geometry.restart(); }, geometry_);
    const std::int64_t rounds = certificate_.rounds;
    certificate_ = {};
    certificate_.rounds = certificate_.earlier = rounds;
}

template <class T>
void LabelRanker<T>::contributions(Reader& reader, int label, std::vector<double>& out) const {
    reader.at.find(store(), reader.x);
    const auto* entropic = std::get_if<EntropicGeometry<T>>(&geometry_);
    out.clear();
    for (std::size_t i = 0; i < reader.x.size(); ++i) {
        const std::int32_t row = reader.at.row[i];
        // A feature that has not entered the simplex has no weight.
        const bool none =
            row == FeatureIndex::kAbsent && !(entropic && reader.x.feature[i] < entropic->declared());
        out.push_back(none ? 0 : reader.x.value[i] * weight(row, label));
    }
}

template <class T>
std::span<const T> LabelRanker<T>::score(Reader& reader) const {
    RowLookup<T>& at = reader.at;
    if (const auto* linear = std::get_if<LinearGeometry<T>>(&geometry_)) {
        const auto factor = static_cast<T>(mean_factor());
        linear->score(reader.x, factor != 0, at);
        if (factor != 0)
            kernels::minus_scaled(at.sums.data(), at.mean_sums.data(), factor, at.sums.data(), at.sums.size());
    } else {
        std::get<EntropicGeometry<T>>(geometry_).score(reader.x, at);
    }
    return {at.sums.data(), labels()};
}

template <class T>
std::span<const std::int32_t> LabelRanker<T>::rank(Reader& reader, std::size_t k) const {
    best_labels(score(reader), k, reader.best);
    return reader.best;
}

// The prediction of the round, and what it says about the ways to predict.
template <class T>
void LabelRanker<T>::predict_and_judge(std::span<const int> relevant, std::span<const int> unknown,
                                       bool counts, T* scores) {
    const std::size_t K = labels();
    std::span<const T> predicted(at_.sums.data(), K);
    if (config_.average != Average::never && certificate_.rounds > 0) {
        const double share = blend_share();
        const auto full = static_cast<T>(1 / static_cast<double>(certificate_.rounds));
        const auto half = static_cast<T>(0.5 / static_cast<double>(certificate_.rounds));
        mean_.resize(K);
        middle_.resize(K);
        kernels::minus_scaled(at_.sums.data(), at_.mean_sums.data(), full, mean_.data(), K);
        kernels::minus_scaled(at_.sums.data(), at_.mean_sums.data(), half, middle_.data(), K);
        const std::array<std::span<const T>, 3> ways = {predicted, middle_, mean_};
        if (share == 1) predicted = mean_;
        else if (share != 0) predicted = middle_;
        const bool any_pair = !relevant.empty() && relevant.size() + unknown.size() < K;
        if (counts && config_.average == Average::chosen && any_pair)
            for (std::size_t i = 0; i < 3; ++i)
                blend_.precision[i] =
                    Blend::kMemory * blend_.precision[i] + average_precision_(ways[i], relevant, unknown);
    }
    if (scores) std::copy(predicted.begin(), predicted.end(), scores);
    if (!counts) return;
    cutoff_.observe(predicted, relevant, unknown);
    calibration_.observe(predicted, relevant, unknown);
}

template <class T>
void LabelRanker<T>::learn(Example& x, std::span<const std::int32_t> relevant,
                           std::span<const std::int32_t> unknown, double weight, T* scores) {
    relevant_.assign(relevant.begin(), relevant.end());
    unknown_.assign(unknown.begin(), unknown.end());
    std::sort(relevant_.begin(), relevant_.end());
    std::sort(unknown_.begin(), unknown_.end());
    const std::size_t labels_before = labels();
    const int last = std::max(relevant_.empty() ? -1 : relevant_.back(), unknown_.empty() ? -1 : unknown_.back());
    if (last >= static_cast<int>(labels())) add_labels(static_cast<std::size_t>(last) + 1 - labels());

    auto* linear = std::get_if<LinearGeometry<T>>(&geometry_);
    auto* entropic = std::get_if<EntropicGeometry<T>>(&geometry_);
    if (linear) {
        linear->catch_up(x);
        linear->score(x, config_.average != Average::never, at_);
    } else {
        entropic->score(x, at_);
    }
    predict_and_judge(relevant_, unknown_, weight > 0, scores);
    if (scores) std::fill(scores + labels_before, scores + labels(), -std::numeric_limits<T>::infinity());
    if (!(weight > 0)) return;
    // What was predicted did not know the features that come with this round.
    if (entropic && entropic->enter(x)) entropic->score(x, at_);
    sides_.split(std::span<const T>(at_.sums.data(), labels()), relevant_, unknown_);

    const double q = linear ? linear->squared_norm(x, at_) : entropic->curvature(x);
    Certificate& c = certificate_;
    const bool first = c.rounds == c.earlier;
    c.least_weight = first ? weight : std::min(c.least_weight, weight);
    c.most_weight = first ? weight : std::max(c.most_weight, weight);
    const auto rounds_before = static_cast<double>(c.rounds);
    ++c.rounds;
    if (!sides_.any_pair()) return;
    c.curvature = std::max(c.curvature, q);
    c.mistakes += sides_.mistake();
    c.loss += weight * std::max(0.0, config_.margin - sides_.margin);
    if (x.size() == 0 || (linear && q == 0)) return;

    step_.clear(labels());
    const RuleParameters rule{config_.C * weight, config_.margin, config_.temperature};
    if (linear) linear_step(q, rule);
    else entropic_step(*entropic, x, rule);
    if (step_.iterations > 0) {
        ++c.solver_rounds;
        c.solver_iterations += step_.iterations;
        c.solver_most_iterations = std::max<std::int64_t>(c.solver_most_iterations, step_.iterations);
    }
    if (step_.empty()) return;
    c.gain += config_.margin * step_.mass + step_.entropy;
    if (linear) {
        linear->account(step_, q, at_);
        linear->apply(x, step_, rounds_before, at_);
        return;
    }
    entropic->apply(x, step_, at_);
}

template <class T>
void LabelRanker<T>::linear_step(double q, const RuleParameters& rule) {
    linear_rule_(sides_, q, rule, step_);
}

template <class T>
void LabelRanker<T>::entropic_step(EntropicGeometry<T>& geometry, const Example& x,
                                   const RuleParameters& rule) {
    geometry.prepare(x);
    const auto curve = [&](int label, bool relevant) { return geometry.curve(x, at_, label, relevant); };
    entropic_rule_(sides_, std::ref(curve), rule, step_);
}

template class LabelRanker<float>;
template class LabelRanker<double>;

}  // namespace tagalong
