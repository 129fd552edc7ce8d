#include "blocks/rule_table.hpp"

namespace tagalong {
namespace {

constexpr BlockRule kBlockRules[] = {
    {.name = "simperc",
     .description = "shares C among the rows on the wrong side",
     .paper = "P2 SimPerc",
     .linear = block_steps::share_budget,
     .entropic = block_steps::share_budget,
     .bound = MistakeBound::full_step},
    {.name = "conproj",
     .description = "averages the best steps on the rows on the wrong side",
     .paper = "P2 ConProj",
     .linear = block_steps::share_own_of_mistaken,
     .entropic = block_steps::share_own_of_mistaken,
     .uses_own_steps = true,
     .bound = MistakeBound::best_step},
    {.name = "simproj",
     .description = "averages the best steps on the rows with a positive loss",
     .paper = "P2 SimProj",
     .linear = block_steps::share_own_of_losing,
     .entropic = block_steps::share_own_of_losing,
     .uses_own_steps = true},
    {.name = "simopt",
     .description = "takes the best step on all rows as if they did not overlap",
     .paper = "P2 SimOpt",
     .linear = block_steps::surrogate},
    {.name = "max",
     .description = "takes the best step on the row with the largest loss",
     .paper = "P2 MaxPA",
     .linear = block_steps::step_on_worst,
     .entropic = block_steps::step_on_worst,
     .uses_own_steps = true,
     .rows = ActiveRows::worst,
     .bound = MistakeBound::best_step},
    {.name = "optimal",
     .description = "takes the best step on all rows",
     .paper = "P2 Sopopo",
     .linear = block_steps::optimum,
     .entropic = block_steps::optimum,
     .rows = ActiveRows::all,
     .bound = MistakeBound::best_step},
};

}  // namespace

std::span<const BlockRule> block_rules() { return kBlockRules; }

const BlockRule& block_rule(std::string_view name) { return find_rule(block_rules(), name); }

}  // namespace tagalong
