// Converts a step with one coefficient per label into a step with one coefficient per column, for
// stores in which labels share columns (LabelColumns).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/weight_store.hpp"
#include "rules/step.hpp"

namespace tagalong {

class ColumnStep {
  public:
    // The step per column. A label of the shared column whose coefficient differs from the common
    // one gets a separate column first.
    template <class T>
    const Step& of(const Step& step, WeightStore<T>& store) {
        const auto& of_label = store.columns().of_all_labels();
        const double common = common_step(step, of_label);
        for (std::size_t label = 0; label < of_label.size(); ++label)
            if (of_label[label] == LabelColumns::kShared && step.alpha[label] != common)
                store.add_column(label);
        step_.clear(store.width());
        if (store.columns().shared_labels() > 0) step_.set(LabelColumns::kShared, common);
        for (const int label : step.touched)
            if (const std::int32_t column = of_label[static_cast<std::size_t>(label)];
                column != LabelColumns::kShared)
                step_.set(column, step.alpha[label]);
        return step_;
    }

  private:
    // The coefficient of the shared column, by majority. Its labels have equal scores: irrelevant
    // ones have the same negative coefficient, labels of unknown relevance have 0, and a relevant
    // one has a positive coefficient.
    static double common_step(const Step& step, const std::vector<std::int32_t>& of_label) {
        double lowest = 0;
        std::size_t down = 0, still = 0;
        for (std::size_t label = 0; label < of_label.size(); ++label) {
            if (of_label[label] != LabelColumns::kShared) continue;
            lowest = std::min(lowest, step.alpha[label]);
            down += step.alpha[label] < 0;
            still += step.alpha[label] == 0;
        }
        return down > still ? lowest : 0.0;
    }

    Step step_;
};

}  // namespace tagalong
