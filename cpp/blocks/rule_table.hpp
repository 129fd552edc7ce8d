// The table of the update rules over blocks of rows, one row per rule. It is the only source of
// their names and properties for the block learner, the shared ranker, the binding, the parameter
// checks in Python, the certificate and the command line.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "blocks/update_rules.hpp"
#include "rules/find_rule.hpp"

namespace tagalong {

// Which rows can get a non-zero coefficient.
enum class ActiveRows {
    losing,  // rows with a positive loss
    worst,   // the row with the largest loss
    all,     // all rows: a step on one row can increase the loss of another
};

using BlockStep = void (*)(const BlockSet& set, std::vector<double>& lambda);

struct BlockRule {
    std::string_view name;
    std::string_view description;  // one line, for help texts
    std::string_view paper{};      // the paper and its name for the rule
    BlockStep linear = nullptr;
    BlockStep entropic = nullptr;  // null if the rule has no entropic version
    bool uses_own_steps = false;   // whether it uses BlockRow::own_step
    ActiveRows rows = ActiveRows::losing;
    MistakeBound bound = MistakeBound::none;
};

// All rules in the order of user-visible lists.
std::span<const BlockRule> block_rules();
// The rule of that name. Throws InputError if there is none.
const BlockRule& block_rule(std::string_view name);

}  // namespace tagalong
