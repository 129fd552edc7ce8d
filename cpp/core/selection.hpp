// Which labels and rows a learner has after a change that is not learning: labels forgotten or merged,
// features pruned. A new label has the sum of what the old labels have that it is made of.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/errors.hpp"

namespace tagalong {

class Selection {
  public:
    // Per new label the old labels that it is made of; all rows stay.
    static Selection of_labels(std::vector<std::vector<std::int32_t>> sources, std::size_t labels) {
        for (const auto& parts : sources)
            for (const std::int32_t label : parts)
                if (label < 0 || static_cast<std::size_t>(label) >= labels)
                    throw InputError("there is no label number " + std::to_string(label));
        Selection out;
        out.sources_ = std::move(sources);
        return out;
    }
    // Rows of `width` numbers as they are; per row whether it stays.
    static Selection of_rows(std::vector<char> kept, std::size_t rows, std::size_t width) {
        if (kept.size() != rows)
            throw InputError("kept must have one entry per feature, " + std::to_string(rows) +
                             ", got " + std::to_string(kept.size()));
        Selection out;
        for (std::size_t place = 0; place < width; ++place)
            out.sources_.push_back({static_cast<std::int32_t>(place)});
        out.kept_ = std::move(kept);
        return out;
    }

    std::size_t labels() const { return sources_.size(); }
    bool keeps_all_rows() const { return kept_.empty(); }
    bool keeps(std::size_t row) const { return kept_.empty() || kept_[row]; }

    // From one number per old label to one per new label.
    template <class V>
    void sum(const V* before, V* after) const {
        for (const auto& parts : sources_) {
            V total = 0;
            for (const std::int32_t label : parts) total += before[label];
            *after++ = total;
        }
    }

  private:
    std::vector<std::vector<std::int32_t>> sources_;
    std::vector<char> kept_;
};

}  // namespace tagalong
