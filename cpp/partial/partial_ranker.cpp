#include "partial/partial_ranker.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/errors.hpp"
#include "partial/ranking_regret.hpp"
#include "predictions/ranking.hpp"

namespace tagalong {
namespace {

ConfidenceConfig confidence_config(const PartialConfig& config) {
    ConfidenceConfig covariance = config.confidence;
    if (config.learn_all) covariance.exploration = 0;
    return covariance;
}

template <class T>
std::variant<FullCovariance<T>, DiagonalCovariance<T>, KernelCovariance<T>> make_covariance(
    const PartialConfig& config) {
    switch (config.covariance) {
        case CovarianceKind::full:
            return FullCovariance<T>(config.memory_limit);
        case CovarianceKind::diagonal:
            return DiagonalCovariance<T>();
        case CovarianceKind::kernel:
            break;
    }
    return KernelCovariance<T>(config.kernel, config.memory_limit);
}

template <class Reader, class T>
auto& scratch_of(Reader& reader, const FullCovariance<T>&) {
    return reader.full;
}
template <class Reader, class T>
auto& scratch_of(Reader& reader, const DiagonalCovariance<T>&) {
    return reader.diagonal;
}
template <class Reader, class T>
auto& scratch_of(Reader& reader, const KernelCovariance<T>&) {
    return reader.kernel;
}

template <class T>
const std::vector<std::int32_t>& ids_of(const FullCovariance<T>& covariance) {
    return covariance.features().ids();
}
template <class T>
const std::vector<std::int32_t>& ids_of(const DiagonalCovariance<T>& covariance) {
    return covariance.store().features();
}
template <class T>
const std::vector<std::int32_t>& ids_of(const KernelCovariance<T>& covariance) {
    return covariance.features().ids();
}

template <class T>
std::int32_t position_of(const FullCovariance<T>& covariance, std::int32_t feature) {
    return covariance.features().find(feature);
}
template <class T>
std::int32_t position_of(const DiagonalCovariance<T>& covariance, std::int32_t feature) {
    return covariance.store().find(feature);
}
template <class T>
std::int32_t position_of(const KernelCovariance<T>& covariance, std::int32_t feature) {
    return covariance.features().find(feature);
}

}  // namespace

template <class T>
PartialRanker<T>::PartialRanker(const PartialConfig& config)
    : config_(config),
      loss_(config.loss, config.radius, config.loss_table),
      widths_(loss_, confidence_config(config)),
      chooser_(config.chooser),
      covariance_(make_covariance<T>(config)) {}

template <class T>
void PartialRanker<T>::add_labels(std::size_t count) {
    std::visit([&](auto& covariance) { covariance.add_labels(count); }, covariance_);
    information_.resize(information_.size() + count, 0.0);
    updates_.resize(updates_.size() + count, 0);
}

template <class T>
const std::vector<std::int32_t>& PartialRanker<T>::features() const {
    return std::visit([](const auto& covariance) -> const auto& { return ids_of(covariance); },
                      covariance_);
}

template <class T>
std::size_t PartialRanker<T>::bytes() const {
    return std::visit([](const auto& covariance) { return covariance.bytes(); }, covariance_);
}

template <class T>
std::size_t PartialRanker<T>::slots(std::size_t max_size) const {
    if (max_size == 0) max_size = config_.max_labels;
    return std::min(
        {max_size == 0 ? labels() : max_size, labels(), chooser_.config().costs.max_size()});
}

template <class T>
double PartialRanker<T>::dimension(const Example& x) const {
    if (config_.n_features > 0) return static_cast<double>(config_.n_features);
    return std::visit(
        [&](const auto& covariance) {
            std::size_t count = ids_of(covariance).size();
            for (const std::int32_t feature : x.feature)
                count += position_of(covariance, feature) == FeatureIndex::kAbsent;
            return static_cast<double>(count);
        },
        covariance_);
}

template <class T>
std::span<const T> PartialRanker<T>::score(Reader& reader) const {
    std::visit(
        [&](const auto& covariance) {
            auto& scratch = scratch_of(reader, covariance);
            covariance.load_example(reader.x, scratch);
            covariance.compute_margins(scratch, reader.margins);
        },
        covariance_);
    return reader.margins;
}

template <class T>
std::span<const std::int32_t> PartialRanker<T>::rank(Reader& reader, std::size_t k) const {
    best_labels(score(reader), k, reader.best);
    return reader.best;
}

template <class T>
void PartialRanker<T>::contributions(Reader& reader, int label, std::vector<double>& out) const {
    out.assign(reader.x.size(), 0.0);
    const auto* kernel = std::get_if<KernelCovariance<T>>(&covariance_);
    if (kernel && kernel->kernel().kind != Kernel::Kind::linear)
        throw InputError(
            "explaining a score needs the linear kernel: with this one the score of a label is not "
            "a sum over features");
    std::vector<double> dual;
    if (kernel) dual = kernel->weights(static_cast<std::size_t>(label));
    std::visit(
        [&](const auto& covariance) {
            for (std::size_t i = 0; i < reader.x.size(); ++i) {
                const std::int32_t position = position_of(covariance, reader.x.feature[i]);
                if (position == FeatureIndex::kAbsent) continue;
                const auto at = static_cast<std::size_t>(position);
                double weight;
                if constexpr (requires { covariance.weight(at, at); })
                    weight = covariance.weight(static_cast<std::size_t>(label), at);
                else weight = dual[at];
                out[i] = reader.x.value[i] * weight;
            }
        },
        covariance_);
}

// Estimates without confidence widths, from reader.margins.
template <class T>
void PartialRanker<T>::estimate_plain(Reader& reader) const {
    const std::size_t K = reader.margins.size();
    reader.plain.probability.resize(K);
    reader.plain.margin.resize(K);
    for (std::size_t i = 0; i < K; ++i) {
        const double margin = static_cast<double>(reader.margins[i]);
        reader.plain.margin[i] = margin;
        reader.plain.probability[i] = margin;
    }
    loss_.probabilities(reader.plain.probability);
}

template <class T>
void PartialRanker<T>::suggest(Reader& reader, std::size_t max_size, bool with_plain_list) const {
    const std::size_t K = labels();
    max_size = slots(max_size);
    score(reader);
    std::visit(
        [&](const auto& covariance) {
            covariance.compute_variances(scratch_of(reader, covariance), reader.variances);
        },
        covariance_);
    const auto round = widths_.round(totals_.rounds + 1, K, dimension(reader.x));
    reader.optimistic.probability.resize(K);
    reader.optimistic.margin.resize(K);
    reader.width.resize(K);
    for (std::size_t i = 0; i < K; ++i) {
        const double margin = loss_.clip(static_cast<double>(reader.margins[i]));
        const double width = round.uncapped(reader.variances[i], information_[i]);
        reader.width[i] = round.capped(width);
        reader.optimistic.margin[i] = margin + width;
        reader.optimistic.probability[i] = margin + reader.width[i];
    }
    loss_.probabilities(reader.optimistic.probability);
    const bool budget = chooser_.config().max_explore >= 0;
    if (with_plain_list || budget) {
        estimate_plain(reader);
        chooser_.choose(reader.plain, max_size, reader.plain_list);
    }
    if (budget)
        chooser_.choose_within_budget(reader.optimistic, reader.plain_list, max_size, reader.shown);
    else chooser_.choose(reader.optimistic, max_size, reader.shown);
}

template <class T>
void PartialRanker<T>::predict(Reader& reader, std::size_t max_size) const {
    score(reader);
    estimate_plain(reader);
    chooser_.choose(reader.plain, slots(max_size), reader.plain_list);
}

template <class T>
double PartialRanker<T>::cutoff_of(Reader& reader) const {
    estimate_plain(reader);
    chooser_.choose(reader.plain, slots(0), reader.plain_list);
    if (reader.plain_list.empty()) return std::numeric_limits<double>::infinity();
    return reader.plain.margin[static_cast<std::size_t>(reader.plain_list.back())];
}

template <class T>
void PartialRanker<T>::learn(Example& x, std::span<const std::int32_t> relevant,
                             std::span<const std::int32_t> unknown, double weight, T* scores,
                             std::size_t max_size) {
    set_relevance(relevant, unknown);
    const std::size_t label_count = relevance_.size();
    copy_example(x);
    suggest(current_, max_size, false);
    if (scores) {
        std::copy(current_.margins.begin(), current_.margins.end(), scores);
        std::fill(scores + labels(), scores + label_count, -std::numeric_limits<T>::infinity());
    }
    const auto known = [&](std::int32_t label) {
        return static_cast<int>(relevance_[static_cast<std::size_t>(label)]);
    };
    losses_ = list_losses(chooser_, current_.shown, relevant.size(), slots(max_size), known);
    if (weight > 0) {
        collect_targets();
        update(weight, current_.shown.size(), slots(max_size));
    }
    if (label_count > labels()) add_labels(label_count - labels());
}

template <class T>
void PartialRanker<T>::feedback(const Example& x, std::span<const std::int32_t> shown,
                                std::span<const std::int32_t> accepted, double weight) {
    copy_example(x);
    score(current_);
    targets_.clear();
    for (std::size_t j = 0; j < shown.size(); ++j) {
        const bool is_accepted =
            std::find(accepted.begin(), accepted.end(), shown[j]) != accepted.end();
        targets_.push_back({shown[j], is_accepted ? 1.0 : -1.0, j + 1});
    }
    update(weight, shown.size(), shown.size());
}

template <class T>
void PartialRanker<T>::copy_example(const Example& x) {
    current_.x.feature.assign(x.feature.begin(), x.feature.end());
    current_.x.value.assign(x.value.begin(), x.value.end());
}

// Sets the relevance of all labels, including labels that are new in this round.
template <class T>
void PartialRanker<T>::set_relevance(std::span<const std::int32_t> relevant,
                                     std::span<const std::int32_t> unknown) {
    std::size_t label_count = labels();
    for (const auto given : {relevant, unknown})
        for (const std::int32_t label : given)
            label_count = std::max(label_count, static_cast<std::size_t>(label) + 1);
    relevance_.assign(label_count, 0);
    for (const std::int32_t label : relevant) relevance_[static_cast<std::size_t>(label)] = 1;
    for (const std::int32_t label : unknown) relevance_[static_cast<std::size_t>(label)] = -1;
}

// The targets of a round: the shown labels of known relevance; all labels if learn_all is set.
template <class T>
void PartialRanker<T>::collect_targets() {
    targets_.clear();
    const auto add_target = [&](std::int32_t label, std::size_t slot) {
        const auto known = relevance_[static_cast<std::size_t>(label)];
        if (known >= 0) targets_.push_back({label, known == 1 ? 1.0 : -1.0, slot});
    };
    for (std::size_t j = 0; j < current_.shown.size(); ++j) add_target(current_.shown[j], j + 1);
    if (!config_.learn_all) return;
    is_target_.assign(labels(), 0);
    for (const std::int32_t label : current_.shown) is_target_[static_cast<std::size_t>(label)] = 1;
    for (std::size_t i = 0; i < labels(); ++i)
        if (!is_target_[i]) add_target(static_cast<std::int32_t>(i), 0);
}

// Finds the labels that an update changes: the targets, in order; then the other labels whose
// margins are outside [-R, R] and must be projected.
template <class T>
void PartialRanker<T>::find_changed_labels() {
    const std::size_t K = labels();
    changed_labels_.clear();
    is_target_.assign(K, 0);
    for (const Target& target : targets_) {
        changed_labels_.push_back(target.label);
        is_target_[static_cast<std::size_t>(target.label)] = 1;
    }
    std::size_t count = changed_labels_.size();
    changed_labels_.resize(count + K);
    for (std::size_t i = 0; i < K; ++i) {
        changed_labels_[count] = static_cast<std::int32_t>(i);
        // Branch-free, since the condition is hard to predict.
        count +=
            !is_target_[i] & (std::abs(static_cast<double>(current_.margins[i])) > loss_.radius());
    }
    changed_labels_.resize(count);
}

// The gain of the slot of a label if it is relevant. A list longer than the table of costs comes
// from the caller: use the largest gain, 1.
template <class T>
double PartialRanker<T>::hit_gain(const Target& target, std::size_t size) const {
    return size <= chooser_.config().costs.max_size() ? chooser_.hit_gain(target.slot, size) : 1;
}

template <class T>
void PartialRanker<T>::update(double weight, std::size_t size, std::size_t slots) {
    const Example& x = current_.x;
    const auto round = widths_.round(totals_.rounds + 1, labels(), dimension(x));
    find_changed_labels();
    RankingRegret ranking(slots);
    const auto update_in = [&](auto& covariance) {
        if (changed_labels_.empty() || x.size() == 0) return;
        // Every caller has just loaded x into current_.
        covariance.prepare(x, scratch_of(current_, covariance), changed_labels_);
        for (std::size_t j = 0; j < changed_labels_.size(); ++j) {
            const auto label = static_cast<std::size_t>(changed_labels_[j]);
            const double q = covariance.select_label(changed_labels_[j]);
            if (!(q > 0)) continue;
            const double margin = static_cast<double>(current_.margins[label]);
            const double projected = loss_.clip(margin);
            if (projected != margin) covariance.project((margin - projected) / q);
            if (j >= targets_.size()) continue;
            const Target& target = targets_[j];
            if (target.slot > 0) {
                const double width = round.capped(round.uncapped(q, information_[label]));
                const double most = probability(projected + width);
                const double least = probability(projected - width);
                totals_.regret += hit_gain(target, size) * (most - least);
                ranking.add(most, least);
            }
            information_[label] += covariance.add_outer_product(weight);
            ++updates_[label];
            const double slope = loss_.slope(target.sign * projected) * target.sign;
            covariance.step(weight * slope / loss_.curvature());
        }
    };
    std::visit(update_in, covariance_);
    totals_.ranking_regret += ranking.bound();
    totals_.shown += static_cast<std::int64_t>(size);
    ++totals_.rounds;
}

template <class T>
void PartialRanker<T>::restore(const Totals& totals, std::vector<double> information,
                               std::vector<std::int64_t> updates) {
    totals_ = totals;
    information_ = std::move(information);
    updates_ = std::move(updates);
}

template class PartialRanker<float>;
template class PartialRanker<double>;

}  // namespace tagalong
