// Attacks on the saved state of a part that learns from rounds: some of its numbers are replaced,
// and then it is refused, or it can be used like any other.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "fuzz/input.hpp"

namespace tagalong::fuzz {

inline constexpr std::size_t kMostLabels = 12;

struct Round {
    std::vector<float> scores;
    std::vector<int> relevant, unknown;
};

inline Round read_round(Input& input, std::size_t labels) {
    Round out;
    for (std::size_t label = 0; label < labels; ++label) {
        out.scores.push_back(input.score());
        const std::uint8_t kind = input.byte() % 4;
        if (kind == 1) out.relevant.push_back(static_cast<int>(label));
        if (kind == 2) out.unknown.push_back(static_cast<int>(label));
    }
    return out;
}

// Changes the length of a state, and some of its numbers.
inline void damage(Input& input, std::vector<double>& state) {
    if (input.byte() == 1) state.resize(input.below_or_equal(2000));
    const std::size_t changes = input.below_or_equal(8);
    for (std::size_t i = 0; i < changes && !state.empty(); ++i)
        state[input.below_or_equal(static_cast<std::uint32_t>(state.size() - 1))] = input.number();
}

// `use` asks the part about a round, and aborts if the answer is wrong.
template <class Part, class Observe, class Restore, class Use>
void attack(Input& input, Part& part, Observe&& observe, Restore&& restore, Use&& use) {
    const std::size_t labels = 1 + input.below_or_equal(kMostLabels - 1);
    const std::size_t rounds = input.below_or_equal(20);
    for (std::size_t i = 0; i < rounds; ++i) observe(part, read_round(input, labels));
    std::vector<double> state = part.state();
    damage(input, state);
    Part restored;
    if (!restore(restored, state, labels)) return;
    // A state that was accepted can be saved and accepted again.
    Part again;
    if (!restore(again, restored.state(), labels)) std::abort();
    for (std::size_t i = 0; i < 10; ++i) {
        const Round round = read_round(input, labels);
        use(restored, round);
        observe(restored, round);
    }
}

}  // namespace tagalong::fuzz
