// Ranking with partial feedback (P3: Gentile, Orabona, 2012): in each round, show an ordered list
// of a few labels, and learn only from which of those were accepted.
//
// The margin of a label is w.x. A matrix per label (its covariance) gives the confidence width of
// the margin. The list is chosen by optimistic probabilities, at the upper end of the confidence
// interval (P3, steps 1 to 3). An update (steps 4 and 5) uses the state at the time of the
// feedback: it projects the margins onto [-R, R], then updates w and the matrix of each shown
// label. Nothing else changes the model.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "partial/confidence_widths.hpp"
#include "partial/diagonal_covariance.hpp"
#include "partial/full_covariance.hpp"
#include "partial/kernel_covariance.hpp"
#include "partial/list_chooser.hpp"
#include "partial/list_losses.hpp"
#include "predictions/judgement.hpp"
#include "predictions/ranking.hpp"

namespace tagalong {

enum class CovarianceKind { full, diagonal, kernel };

struct PartialConfig {
    MarginLoss loss = MarginLoss::square;
    LossTable loss_table;  // if loss is MarginLoss::table
    double radius = 1;
    ListChooserConfig chooser;
    ConfidenceConfig confidence;
    CovarianceKind covariance = CovarianceKind::full;
    Kernel kernel;
    // Whether `learn` updates every label: full information, no confidence widths.
    bool learn_all = false;
    bool normalize = true;
    std::size_t max_labels = 0;   // 0: no limit
    std::int64_t n_features = 0;  // 0: the number of features seen
    double memory_limit = HUGE_VAL;
};

template <class T>
class PartialRanker {
  public:
    using Covariance = std::variant<FullCovariance<T>, DiagonalCovariance<T>, KernelCovariance<T>>;

    explicit PartialRanker(const PartialConfig& config);

    // Working memory of a reader; one per thread.
    struct Reader {
        Example x;
        typename FullCovariance<T>::Scratch full;
        typename DiagonalCovariance<T>::Scratch diagonal;
        typename KernelCovariance<T>::Scratch kernel;
        std::vector<T> margins;
        std::vector<std::int32_t> best;
        std::vector<double> variances;
        LabelEstimates plain, optimistic;
        std::vector<double> width;
        std::vector<std::int32_t> plain_list, shown;
    };

    std::size_t labels() const { return information_.size(); }
    void add_labels(std::size_t count);
    void finish(Example& x) const { x.finish(config_.normalize ? Norm::euclidean : Norm::none, 0); }

    // Sets the number of features d in the confidence widths; only before the first round.
    void declare_features(std::int64_t count) { config_.n_features = count; }

    std::span<const T> score(Reader& reader) const;
    std::span<const std::int32_t> rank(Reader& reader, std::size_t k) const;
    void contributions(Reader& reader, int label, std::vector<double>& out) const;
    // Chooses the list for reader.x: reader.shown, with the estimates in reader.plain, .optimistic
    // and .width. `max_size` = 0: as configured. If `with_plain_list`, reader.plain_list is the
    // best list without confidence widths; labels outside it are shown for exploration.
    void suggest(Reader& reader, std::size_t max_size, bool with_plain_list) const;
    // Chooses the best list without confidence widths: reader.plain_list.
    void predict(Reader& reader, std::size_t max_size) const;

    // One round with known relevance: chooses a list, and learns only the relevance of its labels.
    // New labels are added afterwards.
    void learn(Example& x, std::span<const std::int32_t> relevant,
               std::span<const std::int32_t> unknown, double weight, T* scores = nullptr,
               std::size_t max_size = 0);
    // One round for a list that the caller has shown.
    void feedback(const Example& x, std::span<const std::int32_t> shown,
                  std::span<const std::int32_t> accepted, double weight);

    // The result of the last `learn`.
    std::span<const std::int32_t> last_shown() const { return current_.shown; }
    bool was_relevant(std::int32_t label) const {
        return relevance_[static_cast<std::size_t>(label)] == 1;
    }
    const ListLosses& last_losses() const { return losses_; }
    // The lowest margin in the best list without confidence widths: of a reader after score(), and
    // of the last round. cutoff() is NaN since the threshold differs between rows.
    double cutoff_of(Reader& reader) const;
    double round_cutoff() { return cutoff_of(current_); }
    double cutoff() const { return std::numeric_limits<double>::quiet_NaN(); }

    double probability(double margin) const { return loss_.probability(loss_.clip(margin)); }
    // The first k places, with probabilities from the margins by the surrogate loss. They are not
    // calibrated on outcomes: a label is assured at its probability.
    void judge(Reader& reader, std::size_t k, const TieOrder& ties, Judgement& out) const {
        const std::span<const T> scores = score(reader);
        const double least = cutoff_of(reader);
        out = {};
        out.known = static_cast<std::int32_t>(reader.x.size());
        std::vector<std::int32_t> best;
        best_labels(scores, k, ties, best);
        for (const std::int32_t label : best) {
            const auto score = static_cast<double>(scores[label]);
            const double p = probability(score);
            out.places.push_back({label, score, p, p, score >= least});
        }
    }
    const PartialConfig& config() const { return config_; }
    const ListChooser& chooser() const { return chooser_; }
    const SurrogateLoss& loss() const { return loss_; }

    // Totals over the rounds: rounds, labels shown, and upper bounds on the regret against the
    // best lists, which hold if all true margins are within their confidence widths. `regret` is
    // for the slot loss; `ranking_regret` is for the partial rank loss, if the labels are
    // independent and every list is the best one by the optimistic probabilities (P3, Lemma 9).
    // It is NaN in a model that was saved before it was counted.
    struct Totals {
        std::int64_t rounds = 0, shown = 0;
        double regret = 0, ranking_regret = 0;
    };
    void restart_certificate() {
        totals_.shown = 0, totals_.regret = 0, totals_.ranking_regret = 0;
    }
    const Totals& totals() const { return totals_; }
    // Per label: ln|A|, and the number of updates.
    const std::vector<double>& information() const { return information_; }
    const std::vector<std::int64_t>& updates() const { return updates_; }
    void restore(const Totals& totals, std::vector<double> information,
                 std::vector<std::int64_t> updates);

    Covariance& covariance() { return covariance_; }
    const Covariance& covariance() const { return covariance_; }
    const std::vector<std::int32_t>& features() const;
    std::size_t bytes() const;

  private:
    std::size_t slots(std::size_t max_size) const;
    double dimension(const Example& x) const;
    void estimate_plain(Reader& reader) const;
    // A label to update: its sign, and its slot in the list, from 1; 0 if it was not in the list.
    struct Target {
        std::int32_t label;
        double sign;
        std::size_t slot;
    };
    // The steps of a round. The example and its margins are in current_, the relevance of all
    // labels in relevance_, and the labels to update in targets_.
    void copy_example(const Example& x);
    void set_relevance(std::span<const std::int32_t> relevant,
                       std::span<const std::int32_t> unknown);
    void collect_targets();
    void find_changed_labels();
    double hit_gain(const Target& target, std::size_t size) const;
    // Updates the model with targets_, for a list of this size in a round with so many slots.
    void update(double weight, std::size_t size, std::size_t slots);

    PartialConfig config_;
    SurrogateLoss loss_;
    ConfidenceWidths widths_;
    ListChooser chooser_;
    Covariance covariance_;
    std::vector<double> information_;
    std::vector<std::int64_t> updates_;
    Totals totals_;

    // Working memory of the writer.
    Reader current_;
    ListLosses losses_;
    std::vector<Target> targets_;
    std::vector<std::int32_t> changed_labels_;
    std::vector<signed char> relevance_;
    std::vector<char> is_target_;
};

extern template class PartialRanker<float>;
extern template class PartialRanker<double>;

}  // namespace tagalong
