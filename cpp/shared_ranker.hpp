// Single-prototype label ranking with class-dependent features (P2): one weight vector for all
// labels; a label scores w.phi(x, r). A round's rows are phi(x, r) - phi(x, s), for each relevant
// label r and irrelevant label s: the block learner does the rest.
//
// The features are those of FolderAffinity, whose counts grow with what is filed. The class offers
// what the label ranker offers, so that everything around a ranker works with either.
#pragma once

#include <cstdint>
#include <shared_mutex>
#include <span>
#include <vector>

#include "block_learner.hpp"
#include "calibration.hpp"
#include "cutoff.hpp"
#include "folder_affinity.hpp"
#include "ranking.hpp"

namespace tagalong {

struct SharedConfig {
    BlockConfig block;
    AffinityConfig affinity;
};

template <class T>
class SharedRanker {
  public:
    explicit SharedRanker(const SharedConfig& config) : block_(config.block), affinity_(config.affinity) {}

    std::size_t labels() const { return affinity_.folders(); }
    void add_labels(std::size_t count) { affinity_.add_folders(count); }
    // Words count by being there: nothing to scale or to add.
    void finish(Example& x) const { x.merge(); }

    // One round, as LabelRanker::learn.
    void learn(Example& x, std::span<const std::int32_t> relevant, std::span<const std::int32_t> unknown,
               double weight, T* scores = nullptr);

    // What a reader needs to score; one per thread.
    struct Reader {
        Example x;
        LabelBlock phi;
        std::vector<T> sums;
        std::vector<std::int32_t> best;
    };
    std::span<const T> score(Reader& reader) const;
    std::span<const std::int32_t> rank(Reader& reader, std::size_t k) const;
    // What each feature of reader.x adds to a label's score.
    void contributions(Reader& reader, int label, std::vector<double>& out) const;

    void restart_certificate() { block_.restart_certificate(); }
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
    void make_rows();

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
