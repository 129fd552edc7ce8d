// Damaged states of the detector of changed answers.
#include "predictions/drift.hpp"

#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "fuzz/damaged_state.hpp"
#include "predictions/rank_precisions.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tagalong;
    using fuzz::Round;
    fuzz::Input input(data, size);
    Drift drift;
    std::vector<double> precisions;
    const auto observe = [&](Drift& part, const Round& round) {
        const double gain =
            rank_precisions<float>(round.scores, round.relevant, round.unknown, precisions);
        part.observe(gain, round.relevant, precisions);
    };
    const auto restore = [](Drift& part, std::span<const double> state, std::size_t labels) {
        return part.restore(state, labels);
    };
    const auto use = [](Drift& part, const Round& round) {
        for (const int label : part.labels())
            if (label < 0 || static_cast<std::size_t>(label) >= round.scores.size()) std::abort();
        if (part.since() < 0 || (part.alarm() && part.since() == 0)) std::abort();
    };
    fuzz::attack(input, drift, observe, restore, use);
    return 0;
}
