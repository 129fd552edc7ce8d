// Predtron's updates, one row each: what the binding, Python's checks and the command line know of them.
#pragma once

#include <array>
#include <string_view>

#include "rules/find_rule.hpp"

namespace tagalong {

struct PredtronUpdate {
    std::string_view name;
    std::string_view description;  // one line, for help texts
    bool by_loss = false;  // steps away from the prediction itself, in proportion to its loss
};

inline constexpr std::array kPredtronUpdates = {
    PredtronUpdate{.name = "mistake",
                   .description = "steps away from the loss-augmented prediction"},
    PredtronUpdate{.name = "loss",
                   .description = "steps away from the prediction, in proportion to its loss",
                   .by_loss = true},
};

}  // namespace tagalong
