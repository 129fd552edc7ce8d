// Ranking with partial feedback (P3): show a few labels in order, learn only from which of those were
// accepted. A label's margin is w.x; a matrix a label says how well it is known, and labels are shown
// by the largest probability that is still possible.
//
// An update uses the state as it is when feedback comes: a row's margins are projected onto [-R, R],
// then the shown labels learn. Nothing else ever changes the model.
#pragma once

#include <cstdint>
#include <limits>
#include <shared_mutex>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "partial/confidence.hpp"
#include "partial/diagonal_covariance.hpp"
#include "partial/full_covariance.hpp"
#include "partial/game.hpp"
#include "partial/kernel_covariance.hpp"
#include "partial/losses.hpp"

namespace tagalong {

enum class CovarianceKind { full, diagonal, kernel };

struct PartialConfig {
    MarginLoss loss = MarginLoss::square;
    double radius = 1;
    GameConfig game;
    ConfidenceConfig confidence;
    CovarianceKind covariance = CovarianceKind::full;
    Kernel kernel;
    bool learn_all = false;  // every label learns in a game: full information, and no widths
    bool normalize = true;
    std::size_t max_labels = 0;   // 0: as many as there are
    std::int64_t n_features = 0;  // 0: as many as were seen
    double memory_limit = HUGE_VAL;
};

template <class T>
class PartialRanker {
  public:
    using Covariance = std::variant<FullCovariance<T>, DiagonalCovariance<T>, KernelCovariance<T>>;

    explicit PartialRanker(const PartialConfig& config);

    // What a reader needs; one per thread.
    struct Reader {
        Example x;
        typename FullCovariance<T>::Scratch full;
        typename DiagonalCovariance<T>::Scratch diagonal;
        typename KernelCovariance<T>::Scratch kernel;
        std::vector<T> sums;
        std::vector<std::int32_t> best;
        std::vector<double> forms;
        Standing plain, optimistic;
        std::vector<double> width;
        std::vector<std::int32_t> plain_list, shown;
    };

    std::size_t labels() const { return information_.size(); }
    void add_labels(std::size_t count);
    void finish(Example& x) const { x.finish(config_.normalize ? Norm::euclidean : Norm::none, 0); }

    // How many features there are in the widths. Before the first round only.
    void declare_features(std::int64_t count) { config_.n_features = count; }

    std::span<const T> score(Reader& reader) const;
    std::span<const std::int32_t> rank(Reader& reader, std::size_t k) const;
    void contributions(Reader& reader, int label, std::vector<double>& out) const;
    // What to show for reader.x: reader.shown, with the numbers behind it in reader.plain, .optimistic
    // and .width. `most` = 0: as configured. With `marks`, reader.plain_list has the best list without
    // any width: other labels are shown to explore.
    void suggest(Reader& reader, std::size_t most, bool marks) const;
    // The best list without any width, reader.plain_list.
    void predict(Reader& reader, std::size_t most) const;

    // A round on full labels: the list is chosen, and only what it tells is learnt. Labels that are
    // new join after it.
    void learn(Example& x, std::span<const std::int32_t> relevant,
               std::span<const std::int32_t> unknown, double weight, T* scores = nullptr,
               std::size_t most = 0);
    // A round for a list that was shown elsewhere.
    void feedback(const Example& x, std::span<const std::int32_t> shown,
                  std::span<const std::int32_t> accepted, double weight);

    // Of the last round that was learnt from full labels.
    std::span<const std::int32_t> last_shown() const { return now_.shown; }
    bool was_relevant(std::int32_t label) const {
        return relevance_[static_cast<std::size_t>(label)] == 1;
    }
    const ListLosses& last_losses() const { return losses_; }
    // The score from which the best list without widths has a label: for a reader that has scored, and
    // of the last round. No score decides for all rows.
    double cutoff_of(Reader& reader) const;
    double round_cutoff() { return cutoff_of(now_); }
    double cutoff() const { return std::numeric_limits<double>::quiet_NaN(); }

    double probability(double margin) const { return loss_.probability(loss_.clip(margin)); }
    // How likely labels are, by what is known: no look at how often they were right.
    struct Probabilities {
        const PartialRanker& ranker;
        void probabilities(std::span<const T> scores, double* out) const {
            for (std::size_t i = 0; i < scores.size(); ++i)
                out[i] = ranker.probability(static_cast<double>(scores[i]));
        }
    };
    Probabilities calibration() const { return {*this}; }
    const PartialConfig& config() const { return config_; }
    const Game& game() const { return game_; }
    const SurrogateLoss& loss() const { return loss_; }
    std::shared_mutex& mutex() const { return mutex_; }

    // What was counted: rounds, labels shown, and the sum over the rounds of what the list can have
    // lost against the best one, if all true margins are within their widths.
    struct Account {
        std::int64_t rounds = 0, shown = 0;
        double regret = 0;
    };
    void restart_certificate() { account_.shown = 0, account_.regret = 0; }
    const Account& account() const { return account_; }
    // ln|A| of each label, and how often it was updated.
    const std::vector<double>& information() const { return information_; }
    const std::vector<std::int64_t>& updates() const { return updates_; }
    void restore(const Account& account, std::vector<double> information,
                 std::vector<std::int64_t> updates);

    Covariance& covariance() { return covariance_; }
    const Covariance& covariance() const { return covariance_; }
    const std::vector<std::int32_t>& features() const;
    std::size_t bytes() const;

  private:
    std::size_t slots(std::size_t most) const;
    double dimension(const Example& x) const;
    void plain_standing(Reader& reader) const;
    // The label, its sign, and its place in the list, from 1; 0 for labels that were not in it.
    struct Lesson {
        std::int32_t label;
        double sign;
        std::size_t place;
    };
    // The parts of a round. The example and its margins are in now_, the answer in relevance_, and what is
    // to be learnt in lessons_.
    void take_example(const Example& x);
    void take_answer(std::span<const std::int32_t> relevant, std::span<const std::int32_t> unknown);
    void lessons_from_answer();
    void find_touched();
    double regret_of(const Lesson& lesson, std::size_t size, double projected, double width) const;
    // Learns the lessons of a list of this size.
    void update(double weight, std::size_t size);

    PartialConfig config_;
    SurrogateLoss loss_;
    Confidence confidence_;
    Game game_;
    Covariance covariance_;
    std::vector<double> information_;
    std::vector<std::int64_t> updates_;
    Account account_;
    mutable std::shared_mutex mutex_;

    // Scratch of the writer.
    Reader now_;
    ListLosses losses_;
    std::vector<Lesson> lessons_;
    std::vector<std::int32_t> touched_;
    std::vector<signed char> relevance_;
    std::vector<char> taught_;
};

extern template class PartialRanker<float>;
extern template class PartialRanker<double>;

}  // namespace tagalong
