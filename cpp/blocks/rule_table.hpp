// The update rules over blocks of rows, one row each. The block learner, the shared ranker, the
// binding, Python's checks, the certificate and the command line take names and properties from
// here and from nowhere else.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "blocks/update_rules.hpp"
#include "rules/find_rule.hpp"

namespace tagalong {

// Which rows can get a coefficient.
enum class RowsInPlay {
    losing,  // those short of the margin
    worst,   // the one that loses most
    all,     // even those that lose nothing: moving one row can make another lose
};

using BlockStep = void (*)(const BlockSet& set, std::vector<double>& lambda);

struct BlockRule {
    std::string_view name;
    std::string_view description;  // one line, for help texts
    std::string_view paper = "";   // the paper and its name for the rule; empty if new
    BlockStep linear = nullptr;
    BlockStep entropic = nullptr;  // null if the rule has no step in the entropic geometry
    bool own_steps = false;        // whether it asks for the rows' own best steps
    RowsInPlay rows = RowsInPlay::losing;
    MistakeBound bound = MistakeBound::none;
};

// In the order in which they are listed to users.
std::span<const BlockRule> block_rules();
// InputError if there is none of that name.
const BlockRule& block_rule(std::string_view name);

}  // namespace tagalong
