// The table of Predtron's updates, which the binding, the checks in Python and the command line
// use.
#pragma once

#include <array>
#include <string_view>

#include "rules/find_rule.hpp"

namespace tagalong {

struct PredtronUpdate {
    std::string_view name;
    std::string_view description;  // one line, for help texts
    // Whether the step goes away from the prediction, in proportion to its loss, instead of away
    // from the loss-augmented prediction.
    bool by_loss = false;
};

inline constexpr std::array kPredtronUpdates = {
    PredtronUpdate{.name = "mistake",
                   .description = "steps away from the loss-augmented prediction"},
    PredtronUpdate{.name = "loss",
                   .description = "steps away from the prediction, in proportion to its loss",
                   .by_loss = true},
};

}  // namespace tagalong
