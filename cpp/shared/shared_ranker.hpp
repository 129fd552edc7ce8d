// Single-prototype label ranking with class-dependent features (P2): one weight vector for all
// labels; a label scores w.phi(x, r). A round's rows are phi(x, r) - phi(x, s), for each relevant
// label r and irrelevant label s: the block learner does the rest.
//
// A round needs nothing but the block of its features. It has two sources: FolderAffinity, whose
// counts grow with what is filed, or whoever made a block elsewhere. The class offers what the label
// ranker offers, so that everything around a ranker works with either.
#pragma once

#include <cstdint>
#include <shared_mutex>
#include <span>
#include <vector>

#include "blocks/block_learner.hpp"
#include "predictions/calibration.hpp"
#include "predictions/cutoff.hpp"
#include "predictions/ranking.hpp"
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
    // Words count by being there: nothing to scale or to add.
    void finish(Example& x) const { x.merge(); }

    // One round, as LabelRanker::learn, with the features of FolderAffinity.
    void learn(Example& x, std::span<const std::int32_t> relevant,
               std::span<const std::int32_t> unknown, double weight, T* scores = nullptr);
    // One round with the features of a block, which must have a label each for those there are and those
    // that the round brings. FolderAffinity learns nothing.
    void learn(const LabelBlock<T>& phi, std::span<const std::int32_t> relevant,
               std::span<const std::int32_t> unknown, double weight, T* scores = nullptr);
    // How many labels there are once a round with these has begun.
    std::size_t labels_with(std::span<const std::int32_t> relevant,
                            std::span<const std::int32_t> unknown) const;

    // What a reader needs to score; one per thread.
    struct Reader {
        Example x;
        LabelBlock<T> phi;
        std::vector<T> sums;
        std::vector<std::int32_t> best;
    };
    std::span<const T> score(Reader& reader) const;
    void score(const LabelBlock<T>& phi, std::vector<T>& sums) const;
    std::span<const std::int32_t> rank(Reader& reader, std::size_t k) const;
    // What each feature of reader.x adds to a label's score.
    void contributions(Reader& reader, int label, std::vector<double>& out) const;
    // What each feature of a block adds to it.
    void contributions(const LabelBlock<T>& phi, int label, std::vector<double>& out) const;

    void restart_certificate() { block_.restart_certificate(); }
    std::int64_t rounds() const { return block_.certificate().rounds; }
    // How many features have weights, which is what a selection of rows chooses from.
    std::size_t rows() const { return block_.features().size(); }
    // How many counts a word has.
    std::size_t width() const { return labels(); }
    // Has other labels or fewer features from now on; the certificate begins anew.
    void rebuild(const Selection& selection) {
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
    Calibration& calibration() { return calibration_; }
    const Calibration& calibration() const { return calibration_; }
    std::shared_mutex& mutex() const { return mutex_; }

  private:
    void begin(std::span<const std::int32_t> relevant, std::span<const std::int32_t> unknown);
    bool play(const LabelBlock<T>& phi, std::size_t labels_before, double weight, T* scores);
    void make_rows(const LabelBlock<T>& phi);

    BlockLearner<T> block_;
    FolderAffinity affinity_;
    Cutoff cutoff_;
    Calibration calibration_;
    mutable std::shared_mutex mutex_;

    // Scratch of the writer.
    Reader now_;
    std::vector<int> relevant_, unknown_, irrelevant_;
    RowBlock rows_;
};

extern template class SharedRanker<float>;
extern template class SharedRanker<double>;

}  // namespace tagalong
