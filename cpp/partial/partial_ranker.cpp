#include "partial/partial_ranker.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/errors.hpp"
#include "predictions/ranking.hpp"

namespace tagalong {
namespace {

ConfidenceConfig widths_of(const PartialConfig& config) {
    ConfidenceConfig found = config.confidence;
    if (config.learn_all) found.exploration = 0;
    return found;
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
const std::vector<std::int32_t>& ids_of(const FullCovariance<T>& found) {
    return found.features().ids();
}
template <class T>
const std::vector<std::int32_t>& ids_of(const DiagonalCovariance<T>& found) {
    return found.store().features();
}
template <class T>
const std::vector<std::int32_t>& ids_of(const KernelCovariance<T>& found) {
    return found.features().ids();
}

template <class T>
std::int32_t place_of(const FullCovariance<T>& found, std::int32_t feature) {
    return found.features().find(feature);
}
template <class T>
std::int32_t place_of(const DiagonalCovariance<T>& found, std::int32_t feature) {
    return found.store().find(feature);
}
template <class T>
std::int32_t place_of(const KernelCovariance<T>& found, std::int32_t feature) {
    return found.features().find(feature);
}

}  // namespace

template <class T>
PartialRanker<T>::PartialRanker(const PartialConfig& config)
    : config_(config),
      loss_(config.loss, config.radius),
      confidence_(loss_, widths_of(config)),
      game_(config.game),
      covariance_(make_covariance<T>(config)) {}

template <class T>
void PartialRanker<T>::add_labels(std::size_t count) {
    std::visit([&](auto& found) { found.add_labels(count); }, covariance_);
    information_.resize(information_.size() + count, 0.0);
    updates_.resize(updates_.size() + count, 0);
}

template <class T>
const std::vector<std::int32_t>& PartialRanker<T>::features() const {
    return std::visit([](const auto& found) -> const auto& { return ids_of(found); }, covariance_);
}

template <class T>
std::size_t PartialRanker<T>::bytes() const {
    return std::visit([](const auto& found) { return found.bytes(); }, covariance_);
}

template <class T>
std::size_t PartialRanker<T>::slots(std::size_t most) const {
    if (most == 0) most = config_.max_labels;
    return std::min({most == 0 ? labels() : most, labels(), game_.config().costs.sizes()});
}

template <class T>
double PartialRanker<T>::dimension(const Example& x) const {
    if (config_.n_features > 0) return static_cast<double>(config_.n_features);
    return std::visit(
        [&](const auto& found) {
            std::size_t count = ids_of(found).size();
            for (const std::int32_t feature : x.feature)
                count += place_of(found, feature) == FeatureIndex::kAbsent;
            return static_cast<double>(count);
        },
        covariance_);
}

template <class T>
std::span<const T> PartialRanker<T>::score(Reader& reader) const {
    std::visit(
        [&](const auto& found) {
            auto& scratch = scratch_of(reader, found);
            found.look(reader.x, scratch);
            found.margins(scratch, reader.sums);
        },
        covariance_);
    return reader.sums;
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
        throw InputError("with this kernel the score of a label is no sum over features");
    std::vector<double> dual;
    if (kernel) dual = kernel->weights(static_cast<std::size_t>(label));
    std::visit(
        [&](const auto& found) {
            for (std::size_t i = 0; i < reader.x.size(); ++i) {
                const std::int32_t place = place_of(found, reader.x.feature[i]);
                if (place == FeatureIndex::kAbsent) continue;
                const auto at = static_cast<std::size_t>(place);
                double weight;
                if constexpr (requires { found.weight(at, at); })
                    weight = found.weight(static_cast<std::size_t>(label), at);
                else weight = dual[at];
                out[i] = reader.x.value[i] * weight;
            }
        },
        covariance_);
}

// Margins as they are known, from reader.sums.
template <class T>
void PartialRanker<T>::plain_standing(Reader& reader) const {
    const std::size_t K = reader.sums.size();
    reader.plain.probability.resize(K);
    reader.plain.margin.resize(K);
    for (std::size_t i = 0; i < K; ++i) {
        const double margin = static_cast<double>(reader.sums[i]);
        reader.plain.margin[i] = margin;
        reader.plain.probability[i] = margin;
    }
    loss_.probabilities(reader.plain.probability);
}

template <class T>
void PartialRanker<T>::suggest(Reader& reader, std::size_t most, bool marks) const {
    const std::size_t K = labels();
    most = slots(most);
    score(reader);
    std::visit([&](const auto& found) { found.forms(scratch_of(reader, found), reader.forms); },
               covariance_);
    const auto round = confidence_.round(account_.rounds + 1, K, dimension(reader.x));
    reader.optimistic.probability.resize(K);
    reader.optimistic.margin.resize(K);
    reader.width.resize(K);
    for (std::size_t i = 0; i < K; ++i) {
        const double margin = loss_.clip(static_cast<double>(reader.sums[i]));
        const double width = round.uncapped(reader.forms[i], information_[i]);
        reader.width[i] = round.capped(width);
        reader.optimistic.margin[i] = margin + width;
        reader.optimistic.probability[i] = margin + reader.width[i];
    }
    loss_.probabilities(reader.optimistic.probability);
    const bool budget = game_.config().max_explore >= 0;
    if (marks || budget) {
        plain_standing(reader);
        game_.choose(reader.plain, most, reader.plain_list);
    }
    if (budget)
        game_.choose_within_budget(reader.optimistic, reader.plain_list, most, reader.shown);
    else game_.choose(reader.optimistic, most, reader.shown);
}

template <class T>
void PartialRanker<T>::predict(Reader& reader, std::size_t most) const {
    score(reader);
    plain_standing(reader);
    game_.choose(reader.plain, slots(most), reader.plain_list);
}

template <class T>
double PartialRanker<T>::cutoff_of(Reader& reader) const {
    plain_standing(reader);
    game_.choose(reader.plain, slots(0), reader.plain_list);
    if (reader.plain_list.empty()) return std::numeric_limits<double>::infinity();
    return reader.plain.margin[static_cast<std::size_t>(reader.plain_list.back())];
}

template <class T>
void PartialRanker<T>::learn(Example& x, std::span<const std::int32_t> relevant,
                             std::span<const std::int32_t> unknown, double weight, T* scores,
                             std::size_t most) {
    take_answer(relevant, unknown);
    const std::size_t all = relevance_.size();
    take_example(x);
    suggest(now_, most, false);
    if (scores) {
        std::copy(now_.sums.begin(), now_.sums.end(), scores);
        std::fill(scores + labels(), scores + all, -std::numeric_limits<T>::infinity());
    }
    const auto known = [&](std::int32_t label) {
        return static_cast<int>(relevance_[static_cast<std::size_t>(label)]);
    };
    losses_ = list_losses(game_, now_.shown, relevant.size(), slots(most), known);
    if (weight > 0) {
        lessons_from_answer();
        update(weight, now_.shown.size());
    }
    if (all > labels()) add_labels(all - labels());
}

template <class T>
void PartialRanker<T>::feedback(const Example& x, std::span<const std::int32_t> shown,
                                std::span<const std::int32_t> accepted, double weight) {
    take_example(x);
    score(now_);
    lessons_.clear();
    for (std::size_t j = 0; j < shown.size(); ++j) {
        const bool yes = std::find(accepted.begin(), accepted.end(), shown[j]) != accepted.end();
        lessons_.push_back({shown[j], yes ? 1.0 : -1.0, j + 1});
    }
    update(weight, shown.size());
}

template <class T>
void PartialRanker<T>::take_example(const Example& x) {
    now_.x.feature.assign(x.feature.begin(), x.feature.end());
    now_.x.value.assign(x.value.begin(), x.value.end());
}

// The relevance of all labels, those that the answer brings included.
template <class T>
void PartialRanker<T>::take_answer(std::span<const std::int32_t> relevant,
                                   std::span<const std::int32_t> unknown) {
    std::size_t all = labels();
    for (const auto given : {relevant, unknown})
        for (const std::int32_t label : given)
            all = std::max(all, static_cast<std::size_t>(label) + 1);
    relevance_.assign(all, 0);
    for (const std::int32_t label : relevant) relevance_[static_cast<std::size_t>(label)] = 1;
    for (const std::int32_t label : unknown) relevance_[static_cast<std::size_t>(label)] = -1;
}

// What the answer tells of the labels that were shown; of all labels, if it is learnt in full.
template <class T>
void PartialRanker<T>::lessons_from_answer() {
    lessons_.clear();
    const auto teach = [&](std::int32_t label, std::size_t place) {
        const int known = relevance_[static_cast<std::size_t>(label)];
        if (known >= 0) lessons_.push_back({label, known == 1 ? 1.0 : -1.0, place});
    };
    for (std::size_t j = 0; j < now_.shown.size(); ++j) teach(now_.shown[j], j + 1);
    if (!config_.learn_all) return;
    taught_.assign(labels(), 0);
    for (const std::int32_t label : now_.shown) taught_[static_cast<std::size_t>(label)] = 1;
    for (std::size_t i = 0; i < labels(); ++i)
        if (!taught_[i]) teach(static_cast<std::int32_t>(i), 0);
}

// The labels of the lessons, in their order; then the others whose margins are beyond the radius and have
// to be projected onto it.
template <class T>
void PartialRanker<T>::find_touched() {
    const std::size_t K = labels();
    touched_.clear();
    taught_.assign(K, 0);
    for (const Lesson& lesson : lessons_) {
        touched_.push_back(lesson.label);
        taught_[static_cast<std::size_t>(lesson.label)] = 1;
    }
    std::size_t all = touched_.size();
    touched_.resize(all + K);
    for (std::size_t i = 0; i < K; ++i) {
        touched_[all] = static_cast<std::int32_t>(i);
        // Without a branch: the outcome is hard to predict.
        all += !taught_[i] & (std::abs(static_cast<double>(now_.sums[i])) > loss_.radius());
    }
    touched_.resize(all);
}

// The regret that the place of a label can have cost, if its true margin is within its width.
template <class T>
double PartialRanker<T>::regret_of(const Lesson& lesson, std::size_t size, double projected,
                                   double width) const {
    // A list that is longer than there are costs was not chosen here: count it in full.
    const double stake = size <= game_.config().costs.sizes() ? game_.stake(lesson.place, size) : 1;
    return stake * (probability(projected + width) - probability(projected - width));
}

template <class T>
void PartialRanker<T>::update(double weight, std::size_t size) {
    const Example& x = now_.x;
    const auto round = confidence_.round(account_.rounds + 1, labels(), dimension(x));
    find_touched();
    const auto update_in = [&](auto& covariance) {
        if (touched_.empty() || x.size() == 0) return;
        // Whoever calls this has just looked at x, with now_.
        covariance.prepare(x, scratch_of(now_, covariance), touched_);
        for (std::size_t j = 0; j < touched_.size(); ++j) {
            const auto label = static_cast<std::size_t>(touched_[j]);
            const double q = covariance.begin(touched_[j]);
            if (!(q > 0)) continue;
            const double margin = static_cast<double>(now_.sums[label]);
            const double projected = loss_.clip(margin);
            if (projected != margin) covariance.project((margin - projected) / q);
            if (j >= lessons_.size()) continue;
            const Lesson& lesson = lessons_[j];
            if (lesson.place > 0) {
                const double width = round.capped(round.uncapped(q, information_[label]));
                account_.regret += regret_of(lesson, size, projected, width);
            }
            information_[label] += covariance.include(weight);
            ++updates_[label];
            const double slope = loss_.slope(lesson.sign * projected) * lesson.sign;
            covariance.step(weight * slope / loss_.curvature());
        }
    };
    std::visit(update_in, covariance_);
    account_.shown += static_cast<std::int64_t>(size);
    ++account_.rounds;
}

template <class T>
void PartialRanker<T>::restore(const Account& account, std::vector<double> information,
                               std::vector<std::int64_t> updates) {
    account_ = account;
    information_ = std::move(information);
    updates_ = std::move(updates);
}

template class PartialRanker<float>;
template class PartialRanker<double>;

}  // namespace tagalong
