// Single-prototype label ranking with class-dependent features (P2): one weight vector w for all
// labels, and the score w.phi(x, r) for label r. In each round the rows phi(x, r) - phi(x, s), one
// per relevant label r and irrelevant label s, form a trial of the block learner, which updates w.
//
// The features phi of a round are a LabelBlock. It comes from FolderAffinity, whose counts grow
// with every filed message, or from the caller. The class has the same interface as LabelRanker, so
// that the code around a ranker works with both.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "blocks/block_learner.hpp"
#include "core/model_mutex.hpp"
#include "core/round_labels.hpp"
#include "predictions/confidence.hpp"
#include "predictions/cutoff.hpp"
#include "predictions/ranking.hpp"
#include "predictions/round_options.hpp"
#include "shared/folder_affinity.hpp"

namespace tagalong {

struct SharedConfig {
    BlockConfig block;
    AffinityConfig affinity;
};

template <class T>
class SharedRanker {
  public:
    explicit SharedRanker(const SharedConfig& config)
        : block_(config.block), affinity_(config.affinity) {}

    std::size_t labels() const { return affinity_.folders(); }
    void add_labels(std::size_t count) { affinity_.add_folders(count); }
    // Only the presence of words matters: no scaling and no constant feature.
    void finish(Example& x) const { x.merge(); }

    // Learns one example with the features of FolderAffinity (compare LabelRanker::learn).
    void learn(Example& x, std::span<const std::int32_t> relevant,
               std::span<const std::int32_t> unknown, double weight,
               const RoundOptions<T>& options = {});
    // Learns one example with the features of a block. The block must contain all labels of the
    // model and of the round (see labels_with). FolderAffinity does not change.
    void learn(const LabelBlock<T>& phi, std::span<const std::int32_t> relevant,
               std::span<const std::int32_t> unknown, double weight,
               const RoundOptions<T>& options = {});
    // The number of labels after a round with these labels.
    std::size_t labels_with(std::span<const std::int32_t> relevant,
                            std::span<const std::int32_t> unknown) const;

    // Working memory for predictions; one per thread.
    struct Reader {
        Example x;
        LabelBlock<T> phi;
        std::vector<T> sums;
        std::vector<std::int32_t> best;
    };
    std::span<const T> score(Reader& reader) const;
    void score(const LabelBlock<T>& phi, std::vector<T>& sums) const;
    std::span<const std::int32_t> rank(Reader& reader, std::size_t k) const;
    // Judges the first k places.
    void judge(Reader& reader, std::size_t k, const TieOrder& ties, Judgement& out) const;
    // The contribution of each feature of reader.x to the score of a label.
    void contributions(Reader& reader, int label, std::vector<double>& out) const;
    // The contribution of each feature of a block to the score of a label.
    void contributions(const LabelBlock<T>& phi, int label, std::vector<double>& out) const;

    void restart_certificate() { block_.restart_certificate(); }
    std::int64_t rounds() const { return block_.certificate().rounds; }
    std::int64_t unsolved() const { return block_.unsolved(); }
    // The number of features with stored weights; a Selection of rows refers to these.
    std::size_t rows() const { return block_.features().size(); }
    // The number of counts per word.
    std::size_t width() const { return labels(); }
    // Merges or removes labels, or removes features, and restarts the certificate.
    void rebuild(const Selection& selection) {
        if (selection.keeps_all_rows()) confidence_.select(selection, labels());
        block_.select(selection);
        affinity_ = affinity_.rebuilt(selection);
        restart_certificate();
    }
    double cutoff() const { return cutoff_.value(); }
    BlockLearner<T>& block() { return block_; }
    const BlockLearner<T>& block() const { return block_; }
    FolderAffinity& affinity() { return affinity_; }
    const FolderAffinity& affinity() const { return affinity_; }
    Cutoff& cutoff_state() { return cutoff_; }
    const Cutoff& cutoff_state() const { return cutoff_; }
    Confidence& confidence() { return confidence_; }
    const Confidence& confidence() const { return confidence_; }
    ModelMutex& mutex() const { return mutex_; }

  private:
    void take_labels(std::span<const std::int32_t> relevant, std::span<const std::int32_t> unknown);
    bool learn_block(const LabelBlock<T>& phi, std::size_t labels_before, double weight,
                     const RoundOptions<T>& options);
    void make_rows(const LabelBlock<T>& phi);

    BlockLearner<T> block_;
    FolderAffinity affinity_;
    Cutoff cutoff_;
    Confidence confidence_;
    mutable ModelMutex mutex_;

    // Scratch memory of learn().
    Reader scratch_;
    RoundLabels round_;
    std::vector<int> irrelevant_;
    RowBlock rows_;
};

extern template class SharedRanker<float>;
extern template class SharedRanker<double>;

}  // namespace tagalong
