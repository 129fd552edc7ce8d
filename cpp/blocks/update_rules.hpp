// P2's rules for a block of rows: how far each row's constraint w.x_j >= gamma moves w.
//
// All rules but two take each row's own best step, as if it were alone, and share it out:
//     simperc  the whole budget, over the mistaken rows        M = {j: w.x_j <= 0}
//     conproj  the rows' own steps, over the mistaken rows
//     simproj  the rows' own steps, over all that lose         {j: w.x_j < gamma}
//     max      the own step of the row that loses most
// simopt (linear geometry only) maximises a surrogate that ignores the products of different rows;
// it promises nothing: with three equal rows the dual falls. optimal is solved elsewhere.
// A row without any feature cannot move anything: its coefficient is 0, but it counts among the
// mistaken. Only `optimal` gives it a coefficient, which is what it proves.
#pragma once

#include <functional>
#include <vector>

namespace tagalong {

// A row as the rules see it; its sign is part of its values.
struct BlockRow {
    double value = 0;   // w.x_j
    double weight = 1;  // v_j > 0: a coefficient takes v_j times as much of the budget
    double q = 0;       // |x_j|^2 in the norm of the geometry; 0 for a row without features
    double own = 0;     // the best step of the row alone, for rules that ask for it
};

// What a rule knows of a set of rows.
struct BlockSet {
    const std::vector<BlockRow>& rows;
    double margin;
    double budget;
    // Writes the optimum over all rows, which depends on the geometry.
    const std::function<void(std::vector<double>&)>& optimum;
};

// max sum_j (lambda_j l_j - 1/2 lambda_j^2 q_j), lambda >= 0, sum_j v_j lambda_j <= budget.
void surrogate_optimum(const std::vector<BlockRow>& rows, double margin, double budget,
                       std::vector<double>& lambda);

// Each of these writes lambda, one coefficient per row.
namespace block_steps {

// The whole budget, over the mistaken rows.
void share_budget(const BlockSet& set, std::vector<double>& lambda);
// The rows' own steps, over the mistaken rows or over those that lose.
void share_own_of_mistaken(const BlockSet& set, std::vector<double>& lambda);
void share_own_of_losing(const BlockSet& set, std::vector<double>& lambda);
// The own step of the row that loses most, the first one of equals.
void step_on_worst(const BlockSet& set, std::vector<double>& lambda);
// The optima of the surrogate and of the problem itself.
void surrogate(const BlockSet& set, std::vector<double>& lambda);
void optimum(const BlockSet& set, std::vector<double>& lambda);

}  // namespace block_steps

}  // namespace tagalong
