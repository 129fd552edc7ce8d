#include "race/entrants.hpp"

#include <algorithm>
#include <cmath>

namespace tagalong {

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

template <class T>
void Entrants<T>::join(std::size_t type, std::int64_t round, std::size_t labels) {
    Entrant<T> entrant{type, round, make_contestant<T>(*config_.types[type], config_.ranker), {}};
    entrant.learner->add_labels(labels);
    entrants_.push_back(std::move(entrant));
    standings_.begin_heat(entrants_.size());
    weigh();
}

template <class T>
bool Entrants<T>::may_join(std::size_t type) const {
    return std::count_if(entrants_.begin(), entrants_.end(), [&](const Entrant<T>& entrant) {
               return entrant.type == type;
           }) < kMostOfType;
}

template <class T>
void Entrants<T>::leave(std::size_t e, std::int64_t round, Reason reason, std::int32_t winner,
                        double lead) {
    if (const auto* ranker = entrants_[e].learner->ranker())
        unsolved_of_departed_ += ranker->unsolved();
    departures_[entrants_[e].type] = {true, reason, round, winner, lead};
    entrants_.erase(entrants_.begin() + static_cast<std::ptrdiff_t>(e));
    standings_.remove(e);
}

template <class T>
bool Entrants<T>::may_leave(std::size_t e) const {
    const auto rankers =
        std::count_if(entrants_.begin(), entrants_.end(),
                      [](const Entrant<T>& other) { return other.learner->ranker(); });
    return entrants_.size() > 1 && (rankers > 1 || !entrants_[e].learner->ranker());
}

// The weights of the entrants in the mixture, from the standings.
template <class T>
void Entrants<T>::weigh() {
    standings_.weights(weight_);
    factor_.resize(entrants_.size());
    for (std::size_t e = 0; e < entrants_.size(); ++e) {
        const double variance = entrants_[e].variance.value();
        factor_[e] = variance > 0 ? weight_[e] / std::sqrt(variance) : 0;
    }
}

template <class T>
void Entrants<T>::review_pairs(std::int64_t round) {
    const bool first_heat = std::all_of(entrants_.begin(), entrants_.end(),
                                        [](const Entrant<T>& e) { return e.started == 0; });
    if (standings_.rounds() < (first_heat ? kFirstComparison : kLaterFirstComparison) ||
        std::fmod(standings_.rounds(), kComparedEvery) != 0)
        return;
    while (const auto loss = clearest_loss())
        leave(loss->loser, round, loss->reason,
              static_cast<std::int32_t>(entrants_[loss->winner].type), loss->lead);
}

// The pair of entrants with the clearest difference, if one of them has to leave.
template <class T>
std::optional<typename Entrants<T>::Loss> Entrants<T>::clearest_loss() const {
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
void Entrants<T>::review_memory(std::int64_t round) {
    if (round % kMemoryReviewedEvery != 0) return;
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
        leave(worst, round, Reason::memory, static_cast<std::int32_t>(entrants_[leader].type));
    }
}

template <class T>
const Entrant<T>& Entrants<T>::leading_ranker() const {
    std::size_t best = entrants_.size();
    for (std::size_t e = 0; e < entrants_.size(); ++e)
        if (entrants_[e].learner->ranker() &&
            (best == entrants_.size() ||
             standings_.discounted_gain(e) > standings_.discounted_gain(best)))
            best = e;
    return entrants_[best];
}

template <class T>
std::int64_t Entrants<T>::unsolved() const {
    std::int64_t sum = unsolved_of_departed_;
    for (const Entrant<T>& entrant : entrants_)
        if (const auto* ranker = entrant.learner->ranker()) sum += ranker->unsolved();
    return sum;
}

template <class T>
std::size_t Entrants<T>::bytes() const {
    std::size_t sum = 0;
    for (const Entrant<T>& entrant : entrants_) sum += entrant.learner->bytes();
    return sum;
}

template <class T>
bool Entrants<T>::any_scaled(Scaling scaling) const {
    return std::any_of(entrants_.begin(), entrants_.end(), [&](const Entrant<T>& entrant) {
        return config_.types[entrant.type]->scaling == scaling;
    });
}

template <class T>
bool Entrants<T>::have_run_long() const {
    return standings_.rounds() >= kFirstComparison;
}

template <class T>
std::size_t Entrants<T>::most() const {
    return static_cast<std::size_t>(kMostOfType) * config_.types.size();
}

template <class T>
void Entrants<T>::write(std::vector<double>& out) const {
    for (const Entrant<T>& entrant : entrants_) {
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
}

template <class T>
void Entrants<T>::read(StateReader& state, std::size_t count, std::int64_t rounds) {
    const auto last_type = static_cast<double>(config_.types.size()) - 1;
    const auto last_round = static_cast<double>(rounds);
    entrants_.clear();
    for (std::size_t e = 0; e < count; ++e) {
        const auto type = static_cast<std::size_t>(state.whole(0, last_type));
        const std::int64_t started = state.whole(0, last_round);
        Entrant<T> entrant{
            type, started, make_contestant<T>(*config_.types[type], config_.ranker), {}};
        entrant.variance.read(state);
        entrants_.push_back(std::move(entrant));
    }
    for (Departure& departure : departures_) {
        departure.happened = state.whole(0, 1) == 1;
        departure.reason =
            static_cast<Reason>(state.whole(0, static_cast<double>(Reason::not_finite)));
        departure.round = state.whole(0, last_round);
        departure.winner = static_cast<std::int32_t>(state.whole(-1, last_type));
        departure.lead = state.number(0, 1e300);
    }
    standings_.read(state, count);
    if (std::none_of(entrants_.begin(), entrants_.end(),
                     [](const Entrant<T>& entrant) { return entrant.learner->ranker(); }))
        state.refuse();
}

template class Entrants<float>;
template class Entrants<double>;

}  // namespace tagalong
