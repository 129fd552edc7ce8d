// Detects streams whose labels come in runs, such as a file sorted by label. Progressive figures
// and confidence learnt from such a stream would be far too good.
//
// o is 1 if an answer has a label in common with the answer before. In a random order this happens
// as often as with any earlier answer: e is that share in a reservoir of 64 earlier answers. Over
// recent answers, O = sum of o, E = sum of e, N = their number and V = sum of e (1 - e) give the
// standardised excess z = (O - E) / sqrt(V + 1) and the odds ratio of E to O.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/selection.hpp"

namespace tagalong {

class LabelRuns {
  public:
    // Whether labels came in runs far beyond chance lately. It lasts for some answers after the
    // last alarm, until the evidence of a random order outweighs that of the runs.
    bool in_runs() const { return quiet_ < kQuiet; }

    // Counts an answer, whose labels are sorted. Returns its weight as evidence: less than 1 for an
    // answer that continues a run during an alarm.
    double observe(std::span<const int> labels);

    void select(const Selection& selection, std::size_t labels_before);

    void write(std::vector<double>& out) const;
    // Reads what write() appended and removes it from `state`; false if it is invalid.
    bool read(std::span<const double>& state, std::size_t labels);

  private:
    static constexpr std::size_t kSampled = 64;
    static constexpr double kFade = 0.99;
    static constexpr double kExcess = 8;
    static constexpr double kOdds = 0.2;
    static constexpr std::int64_t kQuiet = 100;

    bool alarm() const { return excess() > kExcess && odds() < kOdds; }
    double excess() const { return (observed_ - expected_) / std::sqrt(variance_ + 1); }
    double odds() const {
        return std::min(1.0, (expected_ + 0.5) / (total_ - expected_ + 0.5) *
                                 ((total_ - observed_ + 0.5) / (observed_ + 0.5)));
    }
    void sample(std::span<const int> labels);
    void mark(std::size_t slot);

    std::int64_t answers_ = 0;
    std::int64_t quiet_ = kQuiet;  // answers since the last alarm, at most kQuiet
    double observed_ = 0, expected_ = 0, total_ = 0, variance_ = 0;
    std::vector<int> previous_;
    std::array<std::vector<int>, kSampled> sampled_;
    std::vector<std::uint64_t> slots_with_;  // per label: the sampled answers that have it, as bits
};

}  // namespace tagalong
