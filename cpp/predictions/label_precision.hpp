// The precision of each label among its sure suggestions. An overall precision of 95 % may hide a
// label at 60 %: a label that falls clearly below a target is not sure at it until it recovers.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/selection.hpp"
#include "predictions/state_reader.hpp"

namespace tagalong {

class LabelPrecision {
  public:
    static constexpr std::array<double, 3> kTargets = {0.9, 0.95, 0.99};
    struct Count {
        double sure = 0, right = 0;  // recent suggestions that were sure, and right ones of them
    };

    // Lowers what a suggestion of a label is assured at, as far as the label fell short. A label
    // that is precise enough among its suggestions of a high level stays sure there, whatever those
    // of lower levels are worth.
    double limited(std::int32_t label, double assured) const {
        if (static_cast<std::size_t>(label) >= counts_.size()) return assured;
        for (std::size_t i = kTargets.size(); i-- > 0;) {
            if (assured < kTargets[i]) continue;
            if (!falls_short(counts_[label][i], kTargets[i])) return assured;
            assured = std::nextafter(kTargets[i], 0.0);
        }
        return assured;
    }
    // Counts the outcome of a suggestion with this assurance, limited or not.
    void observe(std::int32_t label, double assured, bool right, double weight = 1) {
        if (assured < kTargets.front()) return;
        grow(label);
        const double fade = 1 - weight * (1 - kFade);
        for (std::size_t i = 0; i < kTargets.size() && assured >= kTargets[i]; ++i) {
            Count& count = counts_[label][i];
            count.sure = fade * count.sure + weight;
            count.right = fade * count.right + (right ? weight : 0);
        }
    }
    // The counts of a label at one of kTargets.
    Count count(std::size_t label, std::size_t target) const {
        return label < counts_.size() ? counts_[label][target] : Count{};
    }

    void select(const Selection& selection, std::size_t labels_before) {
        counts_.resize(labels_before);
        std::vector<Counts> after(selection.labels());
        const auto targets = selection.targets(labels_before);
        for (std::size_t label = 0; label < labels_before; ++label) {
            if (targets[label] < 0) continue;
            for (std::size_t i = 0; i < kTargets.size(); ++i) {
                after[targets[label]][i].sure += counts_[label][i].sure;
                after[targets[label]][i].right += counts_[label][i].right;
            }
        }
        counts_ = std::move(after);
    }
    void write(std::vector<double>& out) const {
        out.push_back(static_cast<double>(counts_.size()));
        for (const Counts& counts : counts_)
            for (const Count& count : counts) out.insert(out.end(), {count.sure, count.right});
    }
    void read(StateReader& state, std::size_t labels) {
        counts_.assign(static_cast<std::size_t>(state.number(0, static_cast<double>(labels))), {});
        for (Counts& counts : counts_)
            for (Count& count : counts) {
                count.sure = state.number(0, kMost);
                count.right = state.number(0, count.sure);
            }
    }

  private:
    using Counts = std::array<Count, kTargets.size()>;
    static constexpr double kFade = 0.99;
    static constexpr double kMost = 1e9;  // merged labels add up

    // Whether there are more wrong suggestions than chance explains. Two standard deviations would
    // block too many labels by chance: benchmarks/filing_acceptance.py.
    static bool falls_short(const Count& count, double target) {
        const double missing = count.sure * target - count.right;
        return missing > 0.5 + 3 * std::sqrt(count.sure * target * (1 - target));
    }
    void grow(std::int32_t label) {
        if (static_cast<std::size_t>(label) >= counts_.size()) counts_.resize(label + 1);
    }

    std::vector<Counts> counts_;
};

}  // namespace tagalong
