#include "blocks/update_rules.hpp"

#include <algorithm>
#include <cmath>

namespace tagalong {

// lambda_j = max(0, l_j - tau v_j) / q_j; what is spent falls with tau in straight pieces, with a
// kink where a row drops out, at tau = l_j / v_j. Rows are added in that order until they fit.
void surrogate_optimum(const std::vector<BlockRow>& rows, double margin, double budget,
                       std::vector<double>& lambda) {
    lambda.assign(rows.size(), 0.0);
    struct Level {
        double level;  // at which a row drops out
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

}  // namespace tagalong
