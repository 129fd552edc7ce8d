// Damaged states of the confidence.
#include "predictions/confidence.hpp"

#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "fuzz/damaged_state.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tagalong;
    using fuzz::Round;
    fuzz::Input input(data, size);
    const double stands_for = 1 + input.below_or_equal(50);
    const double cutoff = input.score();
    const auto known = static_cast<std::int32_t>(input.below_or_equal(1000));
    Confidence confidence;
    const auto observe = [&](Confidence& part, const Round& round) {
        part.observe<float>({round.scores, cutoff, known}, round.relevant, round.unknown,
                            stands_for, nullptr);
    };
    const auto restore = [](Confidence& part, std::span<const double> state, std::size_t labels) {
        return part.restore(state, labels);
    };
    const auto use = [&](Confidence& part, const Round& round) {
        Judgement judged;
        part.judge<float>({round.scores, cutoff, known}, round.scores.size(), {}, judged);
        for (const Place& place : judged.places)
            if (!(place.probability >= 0 && place.probability <= 1)) std::abort();
        if (!(judged.whole >= 0 && judged.whole <= 1)) std::abort();
        part.covered(0.95);
        part.count_mistake(0, 1);
    };
    fuzz::attack(input, confidence, observe, restore, use);
    return 0;
}
