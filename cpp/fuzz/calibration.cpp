// Damaged states of the calibration.
#include "predictions/calibration.hpp"

#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "fuzz/damaged_state.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tagalong;
    using fuzz::Round;
    fuzz::Input input(data, size);
    Calibration calibration;
    const auto observe = [](Calibration& part, const Round& round) {
        part.observe<float>(round.scores, round.relevant, round.unknown);
    };
    const auto restore = [](Calibration& part, std::span<const double> state, std::size_t) {
        return part.restore(state);
    };
    const auto use = [](Calibration& part, const Round& round) {
        std::vector<double> out(round.scores.size());
        part.probabilities<float>(round.scores, out.data());
        for (const double p : out)
            if (!(p >= 0 && p <= 1)) std::abort();
    };
    fuzz::attack(input, calibration, observe, restore, use);
    return 0;
}
