// The class-dependent features of the mail experiment (P1, P2): the relation of a word of a message
// to a folder, measured by the fraction of the folder's earlier messages that contain the word.
//
//     phi_j(x, r) = common  if at least the fraction `often` of folder r's messages has word j,
//                   rare    if less than the fraction `seldom` of these messages has it,
//                   0       otherwise, if message x lacks the word, or if the folder is empty.
// With `seldom_of_all`, `seldom` is a fraction of all earlier messages, whatever their folders: a
// word that is not common in a folder is rare there if few messages have it, also if the folder is
// empty.
//
// The counts of a word are contiguous for all folders, so one pass over them gives phi for all
// folders.
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
    bool seldom_of_all = false;
};

class FolderAffinity {
  public:
    explicit FolderAffinity(const AffinityConfig& config) : config_(config), counts_(1) {}

    std::size_t folders() const { return counts_.labels(); }
    void add_folders(std::size_t count) {
        counts_.add_labels(count);
        messages_.resize(counts_.labels(), 0);
    }

    // Computes phi for the words of a message, in ascending order; their values are ignored.
    template <class T>
    void compute(const Example& x, LabelBlock<T>& out) const {
        const std::size_t K = folders();
        out.clear(K);
        std::vector<double> least_common(K), most_rare(K);
        for (std::size_t r = 0; r < K; ++r) {
            const auto n = static_cast<double>(messages_[r]);
            least_common[r] = n > 0 ? config_.often * n : std::numeric_limits<double>::infinity();
            most_rare[r] = config_.seldom * n;  // 0 for an empty folder: no count is below 0
        }
        const double most_rare_of_all = config_.seldom * static_cast<double>(all_messages_);
        for (const std::int32_t word : x.feature) {
            T* phi = out.add(word);
            const std::int32_t at = counts_.find(word);
            const float* count = at == FeatureIndex::kAbsent ? nullptr : counts_.row(at);
            if (config_.seldom_of_all) {
                const double total = count ? totals_[static_cast<std::size_t>(at)] : 0.0;
                const float otherwise = total < most_rare_of_all ? config_.rare : 0.0f;
                for (std::size_t r = 0; r < K; ++r) {
                    const double seen = count ? static_cast<double>(count[r]) : 0.0;
                    phi[r] = static_cast<T>(seen >= least_common[r] ? config_.common : otherwise);
                }
                continue;
            }
            for (std::size_t r = 0; r < K; ++r) {
                const double seen = count ? static_cast<double>(count[r]) : 0.0;
                const float value = seen >= least_common[r] ? config_.common
                                    : seen < most_rare[r]   ? config_.rare
                                                            : 0.0f;
                phi[r] = static_cast<T>(value);
            }
        }
    }

    // Counts the words of a message for the folders in which it was filed.
    void learn(const Example& x, std::span<const std::int32_t> filed) {
        for (const std::int32_t folder : filed) ++messages_[folder];
        if (filed.empty()) return;
        ++all_messages_;
        for (const std::int32_t word : x.feature) {
            std::int32_t at = counts_.find(word);
            if (at == FeatureIndex::kAbsent) {
                at = counts_.insert(word);
                totals_.resize(counts_.rows(), 0);
            }
            ++totals_[static_cast<std::size_t>(at)];
            for (const std::int32_t folder : filed) counts_.row(at)[folder] += 1;
        }
    }

    const AffinityConfig& config() const { return config_; }
    const WeightStore<float>& counts() const { return counts_; }
    const std::vector<std::int64_t>& messages() const { return messages_; }
    // The number of messages that were filed, and how many of them have each word.
    std::int64_t all_messages() const { return all_messages_; }
    const std::vector<double>& totals() const { return totals_; }
    // A copy with merged or fewer folders. The counts of a merged folder are the sums over its
    // parts. The messages of a dropped folder still count as earlier messages.
    FolderAffinity rebuilt(const Selection& selection) const {
        FolderAffinity out(config_);
        out.add_folders(selection.labels());
        for (std::size_t w = 0; w < counts_.rows(); ++w)
            selection.sum(counts_.row(static_cast<std::int32_t>(w)),
                          out.restore_row(counts_.features()[w]));
        selection.sum(messages_.data(), out.messages_.data());
        out.restore_totals(all_messages_, totals_);
        return out;
    }

    // For loading a saved model.
    float* restore_row(std::int32_t word) {
        const std::int32_t at = counts_.insert(word);
        totals_.resize(counts_.rows(), 0);
        return counts_.row(at);
    }
    void restore_messages(std::vector<std::int64_t> messages) { messages_ = std::move(messages); }
    void restore_totals(std::int64_t messages, std::vector<double> totals) {
        all_messages_ = messages;
        totals_ = std::move(totals);
    }

  private:
    AffinityConfig config_;
    WeightStore<float> counts_;
    std::vector<std::int64_t> messages_;
    std::int64_t all_messages_ = 0;
    std::vector<double> totals_;
};

}  // namespace tagalong
