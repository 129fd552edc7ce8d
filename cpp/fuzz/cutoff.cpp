// Damaged states of the cut-off.
#include "predictions/cutoff.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "fuzz/damaged_state.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tagalong;
    using fuzz::Round;
    fuzz::Input input(data, size);
    Cutoff cutoff;
    const auto observe = [](Cutoff& part, const Round& round) {
        part.observe<float>(round.scores, round.relevant, round.unknown);
    };
    const auto restore = [](Cutoff& part, std::span<const double> state, std::size_t) {
        return part.restore(state);
    };
    fuzz::attack(input, cutoff, observe, restore, [](Cutoff& part, const Round&) {
        if (std::isnan(part.value())) std::abort();
    });
    return 0;
}
