// The contestants that are in a race: who joins, who leaves and why, and how much each weighs in the
// mixture.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "race/contestant.hpp"
#include "race/standings.hpp"

namespace tagalong {

struct RaceConfig {
    std::vector<const ContestantType*> types;
    RankerConfig ranker;  // the settings of the rankers; its budget is scaled by the contestants
    // The bytes that contestants other than the leader may take together.
    std::size_t memory = std::size_t{256} << 20;
};

// Why a contestant left the race.
enum class Reason { beaten, same, unsuited, memory, not_finite };

struct Departure {
    bool happened = false;
    Reason reason = Reason::unsuited;
    std::int64_t round = 0;
    std::int32_t winner = -1;  // the type that beat it, if any
    double lead = 0;           // of the winner, in standard errors
};

// A contestant that is in the race.
template <class T>
struct Entrant {
    std::size_t type;  // in RaceConfig::types
    std::int64_t started;
    std::unique_ptr<Contestant<T>> learner;
    RecentMean variance;  // of the scores within a row
};

template <class T>
class Entrants {
  public:
    explicit Entrants(RaceConfig config)
        : config_(std::move(config)), departures_(config_.types.size()) {}

    const RaceConfig& config() const { return config_; }
    const std::vector<Entrant<T>>& all() const { return entrants_; }
    std::size_t size() const { return entrants_.size(); }
    Entrant<T>& operator[](std::size_t e) { return entrants_[e]; }
    const Entrant<T>& operator[](std::size_t e) const { return entrants_[e]; }
    const ContestantType& type_of(std::size_t e) const { return *config_.types[entrants_[e].type]; }
    const Standings& standings() const { return standings_; }
    // The last departure of each type.
    const std::vector<Departure>& departures() const { return departures_; }
    // The weight of each entrant in the mixture, and the weight divided by the deviation of its
    // scores.
    const std::vector<double>& weights() const { return weight_; }
    double factor(std::size_t e) const { return factor_[e]; }
    // The ranker with the highest discounted gain; the first of equals.
    const Entrant<T>& leading_ranker() const;
    bool any_scaled(Scaling scaling) const;
    std::int64_t unsolved() const;
    std::size_t bytes() const;

    // A heat begins when a contestant joins.
    void join(std::size_t type, std::int64_t round, std::size_t labels);
    // Whether another one of a type may join, beside one from before a change of the answers.
    bool may_join(std::size_t type) const;
    void leave(std::size_t e, std::int64_t round, Reason reason, std::int32_t winner = -1,
               double lead = 0);
    // Whether the race can go on without an entrant: a ranker stays, for its certificate.
    bool may_leave(std::size_t e) const;
    void forget_departure(std::size_t type) { departures_[type] = {}; }

    // Gains of one round, one per entrant, each from 0 to 1.
    void observe(std::span<const double> gains) { standings_.observe(gains); }
    // Whether the heat has lasted long enough for everybody to start again.
    bool have_run_long() const;
    // Entrants leave that another one beats, or that are as good as another one.
    void review_pairs(std::int64_t round);
    // The worst leave as long as those beside the leader take too much memory.
    void review_memory(std::int64_t round);
    // Computes the weights from the standings.
    void weigh();

    // For files, without the weights of the contestants. read() makes the entrants.
    void write(std::vector<double>& out) const;
    void read(StateReader& state, std::size_t count, std::int64_t rounds);
    std::size_t most() const;
    std::int64_t unsolved_of_departed() const { return unsolved_of_departed_; }
    void restore_unsolved_of_departed(std::int64_t rounds) { unsolved_of_departed_ = rounds; }

  private:
    struct Loss {
        std::size_t winner, loser;
        double lead;
        Reason reason;
    };
    std::optional<Loss> clearest_loss() const;

    RaceConfig config_;
    std::int64_t unsolved_of_departed_ = 0;
    std::vector<Entrant<T>> entrants_;
    std::vector<Departure> departures_;
    Standings standings_;
    std::vector<double> weight_;
    std::vector<double> factor_;
};

extern template class Entrants<float>;
extern template class Entrants<double>;

}  // namespace tagalong
