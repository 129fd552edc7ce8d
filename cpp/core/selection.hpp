// A change of a learner's labels or features apart from learning: labels forgotten or merged,
// features pruned. The weights of a merged label are the sum of the weights of its parts.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/errors.hpp"

namespace tagalong {

class Selection {
  public:
    // Keeps all rows. sources[i] lists the old labels that are merged into new label i.
    static Selection of_labels(std::vector<std::vector<std::int32_t>> sources, std::size_t labels) {
        for (const auto& parts : sources)
            for (const std::int32_t label : parts)
                if (label < 0 || static_cast<std::size_t>(label) >= labels)
                    throw InputError("there is no label number " + std::to_string(label));
        Selection out;
        out.sources_ = std::move(sources);
        return out;
    }
    // Keeps all labels. kept[r] says whether row r, which has `width` numbers, stays.
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

    // The old labels that are merged into a new one.
    const std::vector<std::int32_t>& sources(std::size_t label) const { return sources_[label]; }

    // Turns one number per old label into one number per new label.
    template <class V>
    void sum(const V* before, V* after) const {
        for (const auto& parts : sources_) {
            V total = 0;
            for (const std::int32_t label : parts) total += before[label];
            *after++ = total;
        }
    }

    // The new number of each old label; -1 if it is forgotten.
    std::vector<std::int32_t> targets(std::size_t labels_before) const {
        std::vector<std::int32_t> out(labels_before, -1);
        for (std::size_t i = 0; i < sources_.size(); ++i)
            for (const std::int32_t label : sources_[i]) out[label] = static_cast<std::int32_t>(i);
        return out;
    }

  private:
    std::vector<std::vector<std::int32_t>> sources_;
    std::vector<char> kept_;
};

}  // namespace tagalong
