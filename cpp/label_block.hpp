// The class-dependent features of one example: phi(x, r) for all labels r at once, feature by
// feature, so that what belongs to one feature lies together for all labels.
#pragma once

#include <cstdint>
#include <vector>

#include "row_block.hpp"

namespace tagalong {

struct LabelBlock {
    std::size_t labels = 0;
    std::vector<std::int32_t> features;  // ascending
    std::vector<float> values;           // (features, labels)

    void clear(std::size_t label_count) {
        labels = label_count;
        features.clear();
        values.clear();
    }
    float* add(std::int32_t feature) {
        features.push_back(feature);
        values.resize(values.size() + labels, 0.0f);
        return values.data() + values.size() - labels;
    }
    const float* row(std::size_t i) const { return values.data() + i * labels; }

    // phi(x, r) - phi(x, s) as one more row
    void difference(std::size_t r, std::size_t s, RowBlock& out) const {
        for (std::size_t i = 0; i < features.size(); ++i) {
            const double value = static_cast<double>(row(i)[r]) - static_cast<double>(row(i)[s]);
            if (value != 0) out.add(features[i], value);
        }
        out.end_row();
    }
};

}  // namespace tagalong
