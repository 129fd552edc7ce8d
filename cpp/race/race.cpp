#include "race/race.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/score_kernels.hpp"
#include "predictions/rank_precisions.hpp"

namespace tagalong {

// The rows after which it is decided whether a stream is dense.
static constexpr double kFirstRows = 20;
// A stream becomes dense above the first density and sparse below the second.
static constexpr double kDense = 0.15, kSparse = 0.1;
// A longer first row is not standardised.
static constexpr std::size_t kLongRow = 4096;

template <class T>
Race<T>::Race(RaceConfig config)
    : entrants_(std::move(config)), confidence_(ranker_config().one_label, kFastLearner) {
    for (std::size_t type = 0; type < this->config().types.size(); ++type)
        entrants_.join(type, rounds_, labels_);
}

template <class T>
void Race<T>::add_labels(std::size_t count) {
    labels_ += count;
    for (std::size_t e = 0; e < entrants_.size(); ++e) entrants_[e].learner->add_labels(count);
}

template <class T>
bool Race<T>::suits(const ContestantType& type) const {
    switch (type.suits) {
        case Suits::several_values:
            return !statistics_.one_value();
        case Suits::dense:
            return dense_;
        case Suits::sparse:
            return !dense_;
        case Suits::words:
            return !dense_ && !statistics_.any_negative();
        default:
            return true;
    }
}

template <class T>
typename Race<T>::Moments Race<T>::moments(std::span<const T> scores) {
    if (scores.empty()) return {};
    const auto count = static_cast<double>(scores.size());
    const auto [sum, squares] = kernels::moments(scores.data(), scores.size());
    const double mean = sum / count;
    return {mean, squares / count - mean * mean};
}

template <class T>
void Race<T>::add_to_mixture(std::size_t entrant, std::span<const T> scores, double mean,
                             std::span<T> mixture) const {
    const auto factor = static_cast<T>(entrants_.factor(entrant)), centre = static_cast<T>(mean);
    if (factor == 0) return;
    T* const out = mixture.data();
    const T* const in = scores.data();
    for (std::size_t k = 0; k < mixture.size(); ++k) out[k] += factor * (in[k] - centre);
}

template <class T>
T Race<T>::put_on_scale(std::size_t seen, std::span<T> mixture) const {
    if (confidence_.has_one_label()) return 1;  // no cut-off
    const double variance = moments(mixture.first(seen)).variance;
    if (!(variance > std::numeric_limits<float>::min())) return 1;
    const double root = std::sqrt(std::sqrt(variance));  // of the deviation
    const auto factor = static_cast<T>(1 / (root * std::sqrt(root)));
    for (T& score : mixture) score *= factor;
    return factor;
}

template <class T>
std::span<const T> Race<T>::score(Reader& reader) const {
    score_scale(reader);
    return reader.mixture;
}

template <class T>
double Race<T>::score_scale(Reader& reader) const {
    reader.scaled.start(reader.x, statistics_);
    reader.scores.resize(labels_);
    reader.mixture.assign(labels_, T(0));
    for (std::size_t e = 0; e < entrants_.size(); ++e) {
        if (entrants_.factor(e) == 0) continue;
        const Entrant<T>& entrant = entrants_[e];
        const Example& x =
            reader.scaled.get(entrants_.type_of(e).scaling, statistics_, ranker_config());
        entrant.learner->score(x, reader.scratch, reader.scores.data());
        add_to_mixture(e, reader.scores, moments(reader.scores).mean, reader.mixture);
    }
    return static_cast<double>(put_on_scale(labels_, reader.mixture));
}

template <class T>
std::span<const std::int32_t> Race<T>::rank(Reader& reader, std::size_t k) const {
    best_labels(score(reader), k, reader.best);
    return reader.best;
}

template <class T>
void Race<T>::judge(Reader& reader, std::size_t k, const TieOrder& ties, Judgement& out) const {
    const std::span<const T> scores = score(reader);
    const ScoredItem<T> item{scores, cutoff(), reader.scaled.known()};
    if (ranker_config().probability) confidence_.judge(item, k, ties, out);
    else confidence_.rank_only(item, k, ties, out);
}

template <class T>
void Race<T>::take_labels(std::span<const std::int32_t> relevant,
                          std::span<const std::int32_t> unknown) {
    round_.take(relevant, unknown);
    if (round_.needed() > labels_) add_labels(round_.needed() - labels_);
}

template <class T>
void Race<T>::learn(const Example& x, std::span<const std::int32_t> relevant,
                    std::span<const std::int32_t> unknown, double weight,
                    const RoundOptions<T>& options) {
    const std::size_t seen = labels_;
    const bool counts = weight > 0, judged = counts && options.stands_for > 0;
    take_labels(relevant, unknown);
    if (rounds_ == 0 && x.size() > kLongRow) {
        for (std::size_t e = entrants_.size(); e-- > 0;)
            if (entrants_.type_of(e).scaling == Scaling::standard && entrants_.may_leave(e))
                entrants_.leave(e, rounds_, Reason::unsuited);
        entrants_.weigh();
    }
    keep_order_for_standard();

    scaled_.start(x, statistics_);
    scores_.resize(entrants_.size());
    moments_.resize(entrants_.size());
    mixture_.assign(labels_, T(0));
    for (std::size_t e = 0; e < entrants_.size(); ++e) {
        Contestant<T>& learner = *entrants_[e].learner;
        const Example& own =
            scaled_.get(entrants_.type_of(e).scaling, statistics_, ranker_config());
        scores_[e].resize(labels_);
        if (counts) learner.learn(own, round_, weight, judged, scratch_, scores_[e].data());
        else learner.score(own, scratch_, scores_[e].data());
        moments_[e] = moments(std::span<const T>(scores_[e]).first(seen));
        add_to_mixture(e, scores_[e], moments_[e].mean, mixture_);
    }
    put_on_scale(seen, mixture_);

    const std::span<const T> predicted(mixture_);
    if (options.scores) {
        std::copy_n(predicted.begin(), seen, options.scores);
        std::fill(options.scores + seen, options.scores + labels_,
                  -std::numeric_limits<T>::infinity());
    }
    if (judged && ranker_config().probability)
        confidence_.observe<T>({predicted.first(seen), cutoff(), scaled_.known()}, round_.relevant,
                               round_.unknown, options.stands_for, options.judgement);
    if (judged) {
        cutoff_.observe(predicted.first(seen), round_.relevant, round_.unknown);
        compare(seen);
        watch_for_drift(predicted.first(seen));
    }
    if (!counts) return;
    for (std::size_t s = 0; s < kScalings; ++s)
        if (const double ratio = scaled_.length_ratio(static_cast<Scaling>(s)); ratio > 0)
            length_ratio_[s].observe(std::min(ratio, RecentMean::kLargest));
    for (std::size_t e = entrants_.size(); e-- > 0;) {
        if (seen == 0) continue;
        const double variance = moments_[e].variance;
        if (variance < RecentMean::kLargest) entrants_[e].variance.observe(std::max(0.0, variance));
        else if (entrants_.may_leave(e)) entrants_.leave(e, rounds_, Reason::not_finite);
    }
    statistics_.observe(x, scaled_.places());
    ++rounds_;
    review_suitability();
    entrants_.review_pairs(rounds_);
    entrants_.review_memory(rounds_);
    entrants_.weigh();
    if (judged && drift_.just_raised()) begin_again();
}

// Standardising needs the features in ascending order.
template <class T>
void Race<T>::keep_order_for_standard() {
    statistics_.keep_ascending(entrants_.any_scaled(Scaling::standard));
}

// Rankings are too good while labels come in runs, and say nothing about the answers.
template <class T>
void Race<T>::watch_for_drift(std::span<const T> predicted) {
    const double gain = rank_precisions<T>(predicted, round_.relevant, round_.unknown, precisions_);
    constexpr double kNoRanking = std::numeric_limits<double>::quiet_NaN();
    drift_.observe(confidence_.in_runs() ? kNoRanking : gain, round_.relevant, precisions_);
}

// Compares the contestants by their average precision on the labels seen before.
template <class T>
void Race<T>::compare(std::size_t seen) {
    const auto keep_seen = [&](const std::vector<int>& labels, std::vector<int>& out) {
        out.clear();
        for (const int label : labels)
            if (static_cast<std::size_t>(label) < seen) out.push_back(label);
    };
    keep_seen(round_.relevant, seen_.relevant);
    keep_seen(round_.unknown, seen_.unknown);
    if (seen_.relevant.empty() || seen_.relevant.size() + seen_.unknown.size() >= seen) return;
    gains_.clear();
    for (const auto& scores : scores_)
        gains_.push_back(average_precision_(std::span<const T>(scores).first(seen), seen_.relevant,
                                            seen_.unknown));
    entrants_.observe(gains_);
}

// After the answers have changed, contestants that know nothing of the past start beside those that
// run. Nobody starts again soon after the last start.
template <class T>
void Race<T>::begin_again() {
    if (!entrants_.have_run_long()) return;
    for (std::size_t type = 0; type < config().types.size(); ++type)
        if (suits(*config().types[type]) && entrants_.may_join(type))
            entrants_.join(type, rounds_, labels_);
}

template <class T>
void Race<T>::review_suitability() {
    if (statistics_.rows() < kFirstRows) return;
    dense_ = statistics_.density() > (dense_ ? kSparse : kDense);
    for (std::size_t e = entrants_.size(); e-- > 0;)
        if (!suits(entrants_.type_of(e)) && entrants_.may_leave(e))
            entrants_.leave(e, rounds_, Reason::unsuited);
    for (std::size_t type = 0; type < config().types.size(); ++type) {
        const Departure& departure = entrants_.departures()[type];
        if (!departure.happened || departure.reason != Reason::unsuited) continue;
        if (!suits(*config().types[type])) continue;
        entrants_.forget_departure(type);
        entrants_.join(type, rounds_, labels_);
    }
}

template <class T>
void Race<T>::contributions(Reader& reader, int label, std::vector<double>& out) const {
    const Example& raw = reader.x;
    const double scale = score_scale(reader);
    out.assign(raw.size(), 0.0);
    std::vector<double> own, mean;
    for (std::size_t e = 0; e < entrants_.size(); ++e) {
        if (entrants_.factor(e) == 0) continue;
        const Entrant<T>& entrant = entrants_[e];
        const Example& x =
            reader.scaled.get(entrants_.type_of(e).scaling, statistics_, ranker_config());
        // Contributions relative to their mean over the labels, as the scores are centred.
        double rest = -entrant.learner->summed_contributions(x, reader.scratch, mean) /
                      static_cast<double>(labels_);
        rest += entrant.learner->contributions(x, label, reader.scratch, own);
        std::size_t at = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double part = own[i] - mean[i] / static_cast<double>(labels_);
            while (at < raw.size() && raw.feature[at] < x.feature[i]) ++at;
            const bool in_example = at < raw.size() && raw.feature[at] == x.feature[i];
            out[in_example ? at : 0] += entrants_.factor(e) * part;
        }
        out[0] += entrants_.factor(e) * rest;
    }
    for (double& part : out) part *= scale;
}

template <class T>
void Race<T>::weights(std::size_t row, std::vector<double>& out) const {
    out.assign(labels_, 0.0);
    std::vector<double> own(labels_);
    const bool constant = row + 1 == rows();
    for (std::size_t e = 0; e < entrants_.size(); ++e) {
        const Entrant<T>& entrant = entrants_[e];
        const Scaling scaling = entrants_.type_of(e).scaling;
        const double ratio = length_ratio_[static_cast<std::size_t>(scaling)].value();
        const auto add = [&](std::int32_t feature, double factor) {
            if (factor == 0) return;
            entrant.learner->weights(feature, own.data());
            double mean = 0;
            for (const double weight : own) mean += weight;
            mean /= static_cast<double>(labels_);
            for (std::size_t k = 0; k < labels_; ++k) out[k] += factor * (own[k] - mean);
        };
        if (!constant) {
            const ScaledValue value = scaled_value(statistics_, row, scaling);
            add(statistics_.features()[row], entrants_.factor(e) * ratio * value.slope);
            continue;
        }
        add(kConstantFeature, entrants_.factor(e) * ranker_config().constant);
        if (scaling != Scaling::standard) continue;
        for (std::size_t place = 0; place + 1 < rows(); ++place)
            add(statistics_.features()[place],
                entrants_.factor(e) * ratio * scaled_value(statistics_, place, scaling).offset);
    }
}

template <class T>
void Race<T>::restart_certificate() {
    for (std::size_t e = 0; e < entrants_.size(); ++e) entrants_[e].learner->restart_certificate();
}

template <class T>
void Race<T>::rebuild(const Selection& selection) {
    if (selection.keeps_all_rows()) {
        confidence_.select(selection, labels_);
        drift_.select(selection, labels_);
        for (std::size_t e = 0; e < entrants_.size(); ++e)
            entrants_[e].learner->select_labels(selection);
        labels_ = selection.labels();
    } else {
        std::vector<char> kept(rows() - 1);
        for (std::size_t row = 0; row < kept.size(); ++row) kept[row] = selection.keeps(row);
        const bool constant = selection.keeps(rows() - 1);
        statistics_.select(kept);
        const auto keeps = [&](std::int32_t feature) {
            return feature == kConstantFeature ? constant : statistics_.knows(feature);
        };
        for (std::size_t e = 0; e < entrants_.size(); ++e)
            entrants_[e].learner->select_features(keeps);
    }
    restart_certificate();
}

template <class T>
std::vector<double> Race<T>::state() const {
    std::vector<double> out = {static_cast<double>(rounds_),
                               static_cast<double>(entrants_.unsolved_of_departed()),
                               static_cast<double>(dense_), static_cast<double>(entrants_.size())};
    for (const RecentMean& ratio : length_ratio_) ratio.write(out);
    entrants_.write(out);
    return out;
}

template <class T>
bool Race<T>::restore(std::span<const double> numbers, std::size_t labels) {
    StateReader state(numbers);
    rounds_ = state.whole(0, 1e15);
    entrants_.restore_unsolved_of_departed(state.whole(0, 1e15));
    dense_ = state.whole(0, 1) == 1;
    const auto count =
        static_cast<std::size_t>(state.whole(1, static_cast<double>(entrants_.most())));
    for (RecentMean& ratio : length_ratio_) ratio.read(state);
    if (!state.sound()) return false;
    labels_ = labels;
    entrants_.read(state, count, rounds_);
    return state.sound() && state.rest().empty();
}

template <class T>
void Race<T>::finish_restoring() {
    keep_order_for_standard();
    entrants_.weigh();
}

template class Race<float>;
template class Race<double>;

}  // namespace tagalong
