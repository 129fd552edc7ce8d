#include "blocks/update_rules.hpp"

#include <algorithm>
#include <cmath>

namespace tagalong {

// The solution is lambda_j = max(0, l_j - tau v_j) / q_j with the smallest tau >= 0 within the
// budget. The spent budget is piecewise linear and decreasing in tau. It has a kink where lambda_j
// becomes zero, at tau = l_j / v_j. Adds rows in descending order of l_j / v_j until tau is
// consistent with the rows added.
void surrogate_optimum(const std::vector<BlockRow>& rows, double margin, double budget,
                       std::vector<double>& lambda) {
    lambda.assign(rows.size(), 0.0);
    struct Level {
        double level;  // the tau at which the coefficient of the row becomes zero
        std::size_t row;
    };
    std::vector<Level> order;
    order.reserve(rows.size());
    double spent = 0;
    for (std::size_t j = 0; j < rows.size(); ++j) {
        const double loss = margin - rows[j].value;
        if (!(loss > 0) || !(rows[j].q > 0)) continue;
        lambda[j] = loss / rows[j].q;
        spent += rows[j].weight * lambda[j];
        order.push_back({loss / rows[j].weight, j});
    }
    if (!(spent > budget)) return;
    std::sort(order.begin(), order.end(), [](const Level& a, const Level& b) {
        return a.level != b.level ? a.level > b.level : a.row < b.row;
    });
    double linear = 0, quadratic = 0, tau = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const BlockRow& row = rows[order[i].row];
        linear += row.weight * (margin - row.value) / row.q;
        quadratic += row.weight * row.weight / row.q;
        tau = (linear - budget) / quadratic;
        if (i + 1 == order.size() || order[i + 1].level <= tau) break;
    }
    for (const auto& [level, j] : order)
        lambda[j] = std::max(0.0, margin - rows[j].value - tau * rows[j].weight) / rows[j].q;
}

namespace block_steps {
namespace {

// Gives each active row the coefficient step(row) / (number of active rows).
template <class IsActive, class RowStep>
void share_among_active(const std::vector<BlockRow>& rows, IsActive&& is_active, RowStep&& step,
                        std::vector<double>& lambda) {
    lambda.assign(rows.size(), 0.0);
    double count = 0;
    for (const BlockRow& row : rows) count += is_active(row);
    for (std::size_t j = 0; j < rows.size(); ++j)
        if (is_active(rows[j]) && rows[j].q > 0) lambda[j] = step(rows[j]) / count;
}

bool mistaken(const BlockRow& row) { return row.value <= 0; }

double own_step(const BlockRow& row) { return row.own_step; }

}  // namespace

void share_budget(const BlockSet& set, std::vector<double>& lambda) {
    share_among_active(
        set.rows, mistaken, [&](const BlockRow& row) { return set.budget / row.weight; }, lambda);
}

void share_own_of_mistaken(const BlockSet& set, std::vector<double>& lambda) {
    share_among_active(set.rows, mistaken, own_step, lambda);
}

void share_own_of_losing(const BlockSet& set, std::vector<double>& lambda) {
    share_among_active(
        set.rows, [&](const BlockRow& row) { return row.value < set.margin; }, own_step, lambda);
}

void step_on_worst(const BlockSet& set, std::vector<double>& lambda) {
    lambda.assign(set.rows.size(), 0.0);
    if (set.rows.empty()) return;
    const auto loss = [&](std::size_t j) {
        return (set.margin - set.rows[j].value) / set.rows[j].weight;
    };
    std::size_t worst = 0;
    double most = loss(0);
    for (std::size_t j = 1; j < set.rows.size(); ++j) {
        if (!(loss(j) > most)) continue;
        most = loss(j);
        worst = j;
    }
    const BlockRow& row = set.rows[worst];
    if (row.value < set.margin && row.q > 0) lambda[worst] = row.own_step;
}

void surrogate(const BlockSet& set, std::vector<double>& lambda) {
    surrogate_optimum(set.rows, set.margin, set.budget, lambda);
}

void optimum(const BlockSet& set, std::vector<double>& lambda) { set.optimum(lambda); }

}  // namespace block_steps
}  // namespace tagalong
