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
// Pairs are compared from this round of a heat on, and again after so many rounds. In later heats
// contestants meet others that have learnt before, and differences show earlier.
static constexpr double kFirstComparison = 500, kLaterFirstComparison = 200;
static constexpr double kComparedEvery = 10;
// A contestant leaves if another one leads by more standard errors than this.
static constexpr double kClearLead = 4;
// From the given round of a heat on, a contestant leaves if its mean gain is below that of another
// one, and certainly no further than this from it. One that is further behind may still be a gain
// for the mixture.
static constexpr double kFirstSame = 2000;
static constexpr double kSmallDifference = 0.005;
// The entrants of one type: one from before a change of the answers, one from after it.
static constexpr std::int64_t kMostOfType = 2;
static constexpr std::int64_t kMemoryReviewedEvery = 16;

// The share of known features in the length of an example, which has the features at these places.
static double known_share(const Example& x, std::span<const std::int32_t> places) {
    double known = 0, all = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double square = x.value[i] * x.value[i];
        all += square;
        if (places[i] != FeatureIndex::kAbsent) known += square;
    }
    return all > 0 && std::isfinite(all) ? std::sqrt(known / all) : 1;
}

void ScaledExamples::start(const Example& x, const FeatureStatistics& before) {
    raw_ = &x;
    ready_.fill(false);
    before.find(x, places_);
}

std::int32_t ScaledExamples::known() const {
    return static_cast<std::int32_t>(
        std::count_if(places_.begin(), places_.end(),
                      [](std::int32_t place) { return place != FeatureIndex::kAbsent; }));
}

const Example& ScaledExamples::get(Scaling scaling, const FeatureStatistics& before,
                                   const RankerConfig& config) {
    const auto at = static_cast<std::size_t>(scaling);
    Example& out = scaled_[at];
    if (ready_[at]) return out;
    ready_[at] = true;
    scale(*raw_, places_, before, scaling, out);
    const double length = euclidean_length(out.value);
    // The first entry of the raw example is the constant feature.
    const std::span<const double> raw = std::span<const double>(raw_->value).subspan(1);
    ratio_[at] = 1;
    if (config.normalize) ratio_[at] = length > 0 ? euclidean_length(raw) / length : 0;
    const double known = scaling == Scaling::idf ? known_share(out, places().subspan(1)) : 1;
    out.finish(config.normalize ? Norm::euclidean : Norm::none, config.constant * known);
    return out;
}

template <class T>
Race<T>::Race(RaceConfig config)
    : config_(std::move(config)),
      departures_(config_.types.size()),
      confidence_(config_.ranker.one_label, kFastLearner) {
    for (std::size_t type = 0; type < config_.types.size(); ++type) join(type);
}

template <class T>
void Race<T>::add_labels(std::size_t count) {
    labels_ += count;
    for (Entrant& entrant : entrants_) entrant.learner->add_labels(count);
}

template <class T>
void Race<T>::join(std::size_t type) {
    Entrant entrant{type, rounds_, make_contestant<T>(*config_.types[type], config_.ranker), {}};
    entrant.learner->add_labels(labels_);
    entrants_.push_back(std::move(entrant));
    standings_.begin_heat(entrants_.size());
    weigh();
}

template <class T>
void Race<T>::leave(std::size_t entrant, Reason reason, std::int32_t winner, double lead) {
    if (const auto* ranker = entrants_[entrant].learner->ranker())
        unsolved_of_departed_ += ranker->unsolved();
    const std::size_t type = entrants_[entrant].type;
    departures_[type] = {true, reason, rounds_, winner, lead};
    entrants_.erase(entrants_.begin() + static_cast<std::ptrdiff_t>(entrant));
    standings_.remove(entrant);
}

template <class T>
bool Race<T>::may_leave(std::size_t entrant) const {
    const auto rankers = std::count_if(entrants_.begin(), entrants_.end(),
                                       [](const Entrant& e) { return e.learner->ranker(); });
    return entrants_.size() > 1 && (rankers > 1 || !entrants_[entrant].learner->ranker());
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

// The weights of the entrants in the mixture, from the standings.
template <class T>
void Race<T>::weigh() {
    standings_.weights(weight_);
    factor_.resize(entrants_.size());
    for (std::size_t e = 0; e < entrants_.size(); ++e) {
        const double variance = entrants_[e].variance.value();
        factor_[e] = variance > 0 ? weight_[e] / std::sqrt(variance) : 0;
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
    const auto factor = static_cast<T>(factor_[entrant]), centre = static_cast<T>(mean);
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
        if (factor_[e] == 0) continue;
        const Entrant& entrant = entrants_[e];
        const Example& x = reader.scaled.get(type_of(entrant).scaling, statistics_, config_.ranker);
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
    if (config_.ranker.probability) confidence_.judge(item, k, ties, out);
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
            if (type_of(entrants_[e]).scaling == Scaling::standard && may_leave(e))
                leave(e, Reason::unsuited);
        weigh();
    }
    keep_order_for_standard();

    scaled_.start(x, statistics_);
    scores_.resize(entrants_.size());
    moments_.resize(entrants_.size());
    mixture_.assign(labels_, T(0));
    for (std::size_t e = 0; e < entrants_.size(); ++e) {
        Contestant<T>& learner = *entrants_[e].learner;
        const Example& own =
            scaled_.get(type_of(entrants_[e]).scaling, statistics_, config_.ranker);
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
    if (judged && config_.ranker.probability)
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
        else if (may_leave(e)) leave(e, Reason::not_finite);
    }
    statistics_.observe(x, scaled_.places());
    ++rounds_;
    review();
    if (judged && drift_.just_raised()) begin_again();
}

// Standardising needs the features in ascending order.
template <class T>
void Race<T>::keep_order_for_standard() {
    statistics_.keep_ascending(
        std::any_of(entrants_.begin(), entrants_.end(),
                    [&](const Entrant& e) { return type_of(e).scaling == Scaling::standard; }));
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
    standings_.observe(gains_);
}

template <class T>
void Race<T>::review() {
    review_suitability();
    review_pairs();
    review_memory();
    weigh();
}

// After the answers have changed, contestants that know nothing of the past start beside those that
// run. Nobody starts again soon after the last start.
template <class T>
void Race<T>::begin_again() {
    if (standings_.rounds() < kFirstComparison) return;
    for (std::size_t type = 0; type < config_.types.size(); ++type) {
        const auto running =
            std::count_if(entrants_.begin(), entrants_.end(),
                          [&](const Entrant& entrant) { return entrant.type == type; });
        if (suits(*config_.types[type]) && running < kMostOfType) join(type);
    }
}

template <class T>
void Race<T>::review_suitability() {
    if (statistics_.rows() < kFirstRows) return;
    dense_ = statistics_.density() > (dense_ ? kSparse : kDense);
    for (std::size_t e = entrants_.size(); e-- > 0;)
        if (!suits(type_of(entrants_[e])) && may_leave(e)) leave(e, Reason::unsuited);
    for (std::size_t type = 0; type < departures_.size(); ++type) {
        Departure& departure = departures_[type];
        if (!departure.happened || departure.reason != Reason::unsuited) continue;
        if (!suits(*config_.types[type])) continue;
        departure = {};
        join(type);
    }
}

template <class T>
void Race<T>::review_pairs() {
    const bool first_heat = std::all_of(entrants_.begin(), entrants_.end(),
                                        [](const Entrant& e) { return e.started == 0; });
    if (standings_.rounds() < (first_heat ? kFirstComparison : kLaterFirstComparison) ||
        std::fmod(standings_.rounds(), kComparedEvery) != 0)
        return;
    while (const auto loss = clearest_loss())
        leave(loss->loser, loss->reason, static_cast<std::int32_t>(entrants_[loss->winner].type),
              loss->lead);
}

// The pair of entrants with the clearest difference, if one of them has to leave.
template <class T>
std::optional<typename Race<T>::Loss> Race<T>::clearest_loss() const {
    std::optional<Loss> found;
    for (std::size_t e = 0; e < entrants_.size(); ++e)
        for (std::size_t f = 0; f < entrants_.size(); ++f) {
            if (e == f || !may_leave(f)) continue;
            const double lead = standings_.lead(e, f);
            const bool beaten = lead > kClearLead;
            const bool behind = lead > 0 || (lead == 0 && e < f);
            const bool same = behind && standings_.rounds() >= kFirstSame &&
                              standings_.largest_difference(e, f) < kSmallDifference;
            if (!beaten && !same) continue;
            const Reason reason = beaten ? Reason::beaten : Reason::same;
            if (!found || lead > found->lead) found = {e, f, lead, reason};
        }
    return found;
}

template <class T>
void Race<T>::review_memory() {
    if (rounds_ % kMemoryReviewedEvery != 0) return;
    while (entrants_.size() > 1) {
        const std::size_t leader = standings_.leader();
        std::size_t others = 0, worst = leader;
        for (std::size_t e = 0; e < entrants_.size(); ++e) {
            if (e == leader) continue;
            others += entrants_[e].learner->bytes();
            const bool worse = worst == leader ||
                               standings_.discounted_gain(e) <= standings_.discounted_gain(worst);
            if (may_leave(e) && worse) worst = e;
        }
        if (others <= config_.memory || worst == leader) return;
        leave(worst, Reason::memory, static_cast<std::int32_t>(entrants_[leader].type));
    }
}

template <class T>
void Race<T>::contributions(Reader& reader, int label, std::vector<double>& out) const {
    const Example& raw = reader.x;
    const double scale = score_scale(reader);
    out.assign(raw.size(), 0.0);
    std::vector<double> own, mean;
    for (std::size_t e = 0; e < entrants_.size(); ++e) {
        if (factor_[e] == 0) continue;
        const Entrant& entrant = entrants_[e];
        const Example& x = reader.scaled.get(type_of(entrant).scaling, statistics_, config_.ranker);
        // Contributions relative to their mean over the labels, as the scores are centred.
        mean.assign(x.size(), 0.0);
        double rest = 0;
        for (std::size_t k = 0; k < labels_; ++k) {
            rest -= entrant.learner->contributions(x, static_cast<int>(k), reader.scratch, own);
            for (std::size_t i = 0; i < x.size(); ++i) mean[i] += own[i];
        }
        rest /= static_cast<double>(labels_);
        rest += entrant.learner->contributions(x, label, reader.scratch, own);
        std::size_t at = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double part = own[i] - mean[i] / static_cast<double>(labels_);
            while (at < raw.size() && raw.feature[at] < x.feature[i]) ++at;
            const bool in_example = at < raw.size() && raw.feature[at] == x.feature[i];
            out[in_example ? at : 0] += factor_[e] * part;
        }
        out[0] += factor_[e] * rest;
    }
    for (double& part : out) part *= scale;
}

template <class T>
void Race<T>::weights(std::size_t row, std::vector<double>& out) const {
    out.assign(labels_, 0.0);
    std::vector<double> own(labels_);
    const bool constant = row + 1 == rows();
    for (std::size_t e = 0; e < entrants_.size(); ++e) {
        const Entrant& entrant = entrants_[e];
        const Scaling scaling = type_of(entrant).scaling;
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
            add(statistics_.features()[row], factor_[e] * ratio * value.slope);
            continue;
        }
        add(kConstantFeature, factor_[e] * config_.ranker.constant);
        if (scaling != Scaling::standard) continue;
        for (std::size_t place = 0; place + 1 < rows(); ++place)
            add(statistics_.features()[place],
                factor_[e] * ratio * scaled_value(statistics_, place, scaling).offset);
    }
}

template <class T>
const typename Race<T>::Entrant& Race<T>::leading_ranker_entrant() const {
    std::size_t best = entrants_.size();
    for (std::size_t e = 0; e < entrants_.size(); ++e)
        if (entrants_[e].learner->ranker() &&
            (best == entrants_.size() ||
             standings_.discounted_gain(e) > standings_.discounted_gain(best)))
            best = e;
    return entrants_[best];
}

template <class T>
void Race<T>::restart_certificate() {
    for (Entrant& entrant : entrants_) entrant.learner->restart_certificate();
}

template <class T>
std::int64_t Race<T>::unsolved() const {
    std::int64_t sum = unsolved_of_departed_;
    for (const Entrant& entrant : entrants_)
        if (const auto* ranker = entrant.learner->ranker()) sum += ranker->unsolved();
    return sum;
}

template <class T>
std::size_t Race<T>::bytes() const {
    std::size_t sum = 0;
    for (const Entrant& entrant : entrants_) sum += entrant.learner->bytes();
    return sum;
}

template <class T>
void Race<T>::rebuild(const Selection& selection) {
    if (selection.keeps_all_rows()) {
        confidence_.select(selection, labels_);
        drift_.select(selection, labels_);
        for (Entrant& entrant : entrants_) entrant.learner->select_labels(selection);
        labels_ = selection.labels();
    } else {
        std::vector<char> kept(rows() - 1);
        for (std::size_t row = 0; row < kept.size(); ++row) kept[row] = selection.keeps(row);
        const bool constant = selection.keeps(rows() - 1);
        statistics_.select(kept);
        const auto keeps = [&](std::int32_t feature) {
            return feature == kConstantFeature ? constant : statistics_.knows(feature);
        };
        for (Entrant& entrant : entrants_) entrant.learner->select_features(keeps);
    }
    restart_certificate();
}

template <class T>
std::vector<double> Race<T>::state() const {
    std::vector<double> out = {static_cast<double>(rounds_),
                               static_cast<double>(unsolved_of_departed_),
                               static_cast<double>(dense_), static_cast<double>(entrants_.size())};
    for (const RecentMean& ratio : length_ratio_) ratio.write(out);
    for (const Entrant& entrant : entrants_) {
        out.push_back(static_cast<double>(entrant.type));
        out.push_back(static_cast<double>(entrant.started));
        entrant.variance.write(out);
    }
    for (const Departure& departure : departures_)
        out.insert(out.end(),
                   {static_cast<double>(departure.happened), static_cast<double>(departure.reason),
                    static_cast<double>(departure.round), static_cast<double>(departure.winner),
                    departure.lead});
    standings_.write(out);
    return out;
}

template <class T>
bool Race<T>::restore(std::span<const double> numbers, std::size_t labels) {
    StateReader state(numbers);
    const auto whole = [&](double least, double most) {
        const double value = state.number(least, most);
        if (value != std::floor(value)) state.refuse();
        return static_cast<std::int64_t>(value);
    };
    const auto types = static_cast<double>(config_.types.size());
    rounds_ = whole(0, 1e15);
    unsolved_of_departed_ = whole(0, 1e15);
    dense_ = whole(0, 1) == 1;
    const auto count = static_cast<std::size_t>(whole(1, kMostOfType * types));
    for (RecentMean& ratio : length_ratio_) ratio.read(state);
    if (!state.sound()) return false;
    entrants_.clear();
    labels_ = labels;
    for (std::size_t e = 0; e < count; ++e) {
        const auto type = static_cast<std::size_t>(whole(0, types - 1));
        const std::int64_t started = whole(0, static_cast<double>(rounds_));
        Entrant entrant{
            type, started, make_contestant<T>(*config_.types[type], config_.ranker), {}};
        entrant.variance.read(state);
        entrants_.push_back(std::move(entrant));
    }
    for (Departure& departure : departures_) {
        departure.happened = whole(0, 1) == 1;
        departure.reason = static_cast<Reason>(whole(0, static_cast<double>(Reason::not_finite)));
        departure.round = whole(0, static_cast<double>(rounds_));
        departure.winner = static_cast<std::int32_t>(whole(-1, types - 1));
        departure.lead = state.number(0, 1e300);
    }
    standings_.read(state, count);
    const bool any_ranker = std::any_of(entrants_.begin(), entrants_.end(),
                                        [](const Entrant& e) { return e.learner->ranker(); });
    return state.sound() && state.rest().empty() && any_ranker;
}

template <class T>
void Race<T>::finish_restoring() {
    keep_order_for_standard();
    weigh();
}

template class Race<float>;
template class Race<double>;

}  // namespace tagalong
