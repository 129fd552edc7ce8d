// P2's schemes for a block of rows: how far each row's constraint w.x_j >= gamma moves w.
//
// All schemes but two take each row's own best step, as if it were alone, and share it out:
//     simperc  the whole budget, over the mistaken rows        M = {j: w.x_j <= 0}
//     conproj  the rows' own steps, over the mistaken rows
//     simproj  the rows' own steps, over all that lose         {j: w.x_j < gamma}
//     max      the own step of the row that loses most
// simopt (linear geometry only) maximises a surrogate that ignores the products of different rows;
// it promises nothing: with three equal rows the dual falls. optimal is solved elsewhere.
// A row without any feature cannot move anything: its coefficient is 0, but it counts among the
// mistaken. Only `optimal` gives it a coefficient, which is what it proves.
#pragma once

#include <cstddef>
#include <vector>

namespace tagalong {

enum class BlockScheme { simperc, conproj, simproj, simopt, max, optimal };

// Whether a scheme asks for the rows' own best steps.
inline bool takes_own_steps(BlockScheme scheme) {
    return scheme == BlockScheme::conproj || scheme == BlockScheme::simproj || scheme == BlockScheme::max;
}

// A row as the schemes see it; its sign is part of its values.
struct BlockRow {
    double value = 0;   // w.x_j
    double weight = 1;  // v_j > 0: a coefficient takes v_j times as much of the budget
    double q = 0;       // |x_j|^2 in the norm of the geometry; 0 for a row without features
};

// own(j, cap) is the best step of row j alone, within [0, cap]. Writes lambda, one a row.
template <class OwnStep>
void share_out(BlockScheme scheme, const std::vector<BlockRow>& rows, double margin, double budget, OwnStep&& own,
               std::vector<double>& lambda);

// max sum_j (lambda_j l_j - 1/2 lambda_j^2 q_j), lambda >= 0, sum_j v_j lambda_j <= budget.
void surrogate_optimum(const std::vector<BlockRow>& rows, double margin, double budget,
                       std::vector<double>& lambda);

// ---

template <class OwnStep>
void share_out(BlockScheme scheme, const std::vector<BlockRow>& rows, double margin, double budget, OwnStep&& own,
               std::vector<double>& lambda) {
    lambda.assign(rows.size(), 0.0);
    if (rows.empty()) return;
    const bool mistakes_only = scheme == BlockScheme::simperc || scheme == BlockScheme::conproj;
    const auto in_play = [&](const BlockRow& row) { return mistakes_only ? row.value <= 0 : row.value < margin; };
    const auto step = [&](std::size_t j) {
        const double cap = budget / rows[j].weight;
        return scheme == BlockScheme::simperc ? cap : own(j, cap);
    };
    if (scheme == BlockScheme::max) {
        std::size_t worst = 0;
        double most = (margin - rows[0].value) / rows[0].weight;
        for (std::size_t j = 1; j < rows.size(); ++j) {
            const double loss = (margin - rows[j].value) / rows[j].weight;
            if (!(loss > most)) continue;
            most = loss;
            worst = j;
        }
        if (in_play(rows[worst]) && rows[worst].q > 0) lambda[worst] = step(worst);
        return;
    }
    double count = 0;
    for (const BlockRow& row : rows) count += in_play(row);
    for (std::size_t j = 0; j < rows.size(); ++j)
        if (in_play(rows[j]) && rows[j].q > 0) lambda[j] = step(j) / count;
}

}  // namespace tagalong
