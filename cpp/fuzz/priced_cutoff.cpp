// Damaged states of the cut-off by the price of a wrong label.
#include "predictions/priced_cutoff.hpp"

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
    PricedCutoff cutoff;
    const auto observe = [](PricedCutoff& part, const Round& round) {
        part.observe<float>(round.scores, round.relevant, round.unknown);
    };
    const auto restore = [](PricedCutoff& part, std::span<const double> state, std::size_t) {
        return part.restore(state);
    };
    fuzz::attack(input, cutoff, observe, restore, [](PricedCutoff& part, const Round&) {
        if (std::isnan(part.value())) std::abort();
        if (!(part.price() >= 0 && part.price() <= 0.5)) std::abort();
    });
    return 0;
}
