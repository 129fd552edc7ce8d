// The mail experiment's class-dependent features (P1, P2): how a word of a message relates to a
// folder, by how many of the folder's earlier messages have it.
//
//     phi_j(x, r) = common  if word j is in at least `often` of the messages of folder r,
//                   rare    if it is in fewer than `seldom` of them,
//                   0       in between, if the message lacks the word, or if the folder is empty.
// Counts of a word lie together for all folders, so one pass over them gives phi for every folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/selection.hpp"
#include "core/weight_store.hpp"
#include "shared/label_block.hpp"

namespace tagalong {

struct AffinityConfig {
    double often = 0.2;
    double seldom = 0.02;
    float common = 2;
    float rare = -1;
};

class FolderAffinity {
  public:
    explicit FolderAffinity(const AffinityConfig& config) : config_(config), counts_(1) {}

    std::size_t folders() const { return counts_.labels(); }
    void add_folders(std::size_t count) {
        counts_.add_labels(count);
        messages_.resize(counts_.labels(), 0);
    }

    // Of a message's words (values do not matter), ascending.
    template <class T>
    void look(const Example& x, LabelBlock<T>& out) const {
        const std::size_t K = folders();
        out.clear(K);
        std::vector<double> least_common(K), most_rare(K);
        for (std::size_t r = 0; r < K; ++r) {
            const auto n = static_cast<double>(messages_[r]);
            least_common[r] = n > 0 ? config_.often * n : std::numeric_limits<double>::infinity();
            most_rare[r] = config_.seldom * n;  // nothing is below 0
        }
        for (const std::int32_t word : x.feature) {
            T* phi = out.add(word);
            const std::int32_t at = counts_.find(word);
            const float* count = at == FeatureIndex::kAbsent ? nullptr : counts_.row(at);
            for (std::size_t r = 0; r < K; ++r) {
                const double seen = count ? static_cast<double>(count[r]) : 0.0;
                const float value = seen >= least_common[r] ? config_.common
                                    : seen < most_rare[r]   ? config_.rare
                                                            : 0.0f;
                phi[r] = static_cast<T>(value);
            }
        }
    }

    // A message was filed: its words count for its folders.
    void learn(const Example& x, std::span<const std::int32_t> filed) {
        for (const std::int32_t folder : filed) ++messages_[folder];
        if (filed.empty()) return;
        for (const std::int32_t word : x.feature) {
            std::int32_t at = counts_.find(word);
            if (at == FeatureIndex::kAbsent) at = counts_.insert(word);
            for (const std::int32_t folder : filed) counts_.row(at)[folder] += 1;
        }
    }

    const AffinityConfig& config() const { return config_; }
    const WeightStore<float>& counts() const { return counts_; }
    const std::vector<std::int64_t>& messages() const { return messages_; }
    // The same counts for other folders: one that was merged has the messages of all its parts.
    FolderAffinity rebuilt(const Selection& selection) const {
        FolderAffinity out(config_);
        out.add_folders(selection.labels());
        for (std::size_t w = 0; w < counts_.rows(); ++w)
            selection.sum(counts_.row(static_cast<std::int32_t>(w)),
                          out.restore_row(counts_.features()[w]));
        selection.sum(messages_.data(), out.messages_.data());
        return out;
    }

    // For loading a saved one.
    float* restore_row(std::int32_t word) { return counts_.row(counts_.insert(word)); }
    void restore_messages(std::vector<std::int64_t> messages) { messages_ = std::move(messages); }

  private:
    AffinityConfig config_;
    WeightStore<float> counts_;
    std::vector<std::int64_t> messages_;
};

}  // namespace tagalong
