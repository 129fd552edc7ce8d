// Damaged states of the cut-off relative to a row.
#include "predictions/row_cutoff.hpp"

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
    RowCutoff cutoff;
    const auto observe = [](RowCutoff& part, const Round& round) {
        part.observe<float>(round.scores, round.relevant, round.unknown);
    };
    const auto restore = [](RowCutoff& part, std::span<const double> state, std::size_t) {
        return part.restore(state);
    };
    fuzz::attack(input, cutoff, observe, restore, [](RowCutoff& part, const Round& round) {
        const std::span<const float> scores(round.scores);
        if (std::isnan(part.value()) || std::isnan(part.value_for(scores))) std::abort();
        if (!(part.price() >= 0 && part.price() <= 0.5)) std::abort();
    });
    return 0;
}
