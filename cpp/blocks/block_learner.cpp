#include "blocks/block_learner.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "blocks/simplex_step.hpp"

namespace tagalong {

template <class T>
BlockLearner<T>::BlockLearner(const BlockConfig& config)
    : config_(config),
      geometry_(config.entropic ? VectorGeometry<T>(EntropicGeometry<T>(config.n_features, false))
                                : VectorGeometry<T>(LinearVector<T>(config.n_features))) {
    if (auto* entropic = std::get_if<EntropicGeometry<T>>(&geometry_)) entropic->add_labels(1);
}

template <class T>
const std::vector<std::int32_t>& BlockLearner<T>::features() const {
    if (const auto* linear = std::get_if<LinearVector<T>>(&geometry_)) return linear->features();
    return std::get<EntropicGeometry<T>>(geometry_).store().features();
}

template <class T>
std::size_t BlockLearner<T>::bytes() const {
    if (const auto* linear = std::get_if<LinearVector<T>>(&geometry_)) return linear->bytes();
    return std::get<EntropicGeometry<T>>(geometry_).store().bytes();
}

template <class T>
double BlockLearner<T>::dual() const {
    return certificate_.gain -
           std::visit([](const auto& geometry) { return geometry.complexity(); }, geometry_);
}

template <class T>
double BlockLearner<T>::recompute_dual() const {
    const auto* entropic = std::get_if<EntropicGeometry<T>>(&geometry_);
    return entropic ? certificate_.gain - entropic->recompute_complexity() : dual();
}

template <class T>
void BlockLearner<T>::restart_certificate() {
    std::visit([](auto& geometry) { geometry.restart(); }, geometry_);
    certificate_ = {};
    certificate_.restarted = true;
}

template <class T>
void BlockLearner<T>::select(const Selection& selection) {
    if (selection.keeps_all_rows()) return;
    geometry_ = std::visit(
        [&](const auto& geometry) -> VectorGeometry<T> { return geometry.rebuilt(selection); },
        geometry_);
}

template <class T>
double BlockLearner<T>::weight(std::int32_t row) const {
    if (const auto* linear = std::get_if<LinearVector<T>>(&geometry_)) return linear->weight(row);
    return std::get<EntropicGeometry<T>>(geometry_).weight(row, 0);
}

template <class T>
double BlockLearner<T>::feature_weight(std::int32_t feature) const {
    if (const auto* linear = std::get_if<LinearVector<T>>(&geometry_))
        return linear->feature_weight(feature);
    const auto& entropic = std::get<EntropicGeometry<T>>(geometry_);
    const std::int32_t row = entropic.store().find(feature);
    // Features outside the simplex have no weight.
    if (row == FeatureIndex::kAbsent && feature >= entropic.declared()) return 0;
    return entropic.weight(row, 0);
}

template <class T>
double BlockLearner<T>::score(Reader& reader) const {
    if (const auto* linear = std::get_if<LinearVector<T>>(&geometry_))
        return linear->score(reader.x).value;
    std::get<EntropicGeometry<T>>(geometry_).score(reader.x, reader.lookup);
    return static_cast<double>(reader.lookup.sums[0]);
}

// Computes the input of the update rules for each row: its value, its squared norm, and the best
// step on this row alone.
template <class T>
void BlockLearner<T>::evaluate_rows(const LinearVector<T>& linear, const RowBlock& rows,
                                    double budget) {
    double longest = 0;
    for (std::size_t j = 0; j < rows.rows(); ++j) {
        const auto score = linear.score(rows.row(j));
        rows_[j].value = rows.sign(j) * score.value;
        rows_[j].q = score.squared;
        longest = std::max(longest, score.squared);
    }
    certificate_.curvature = std::max(certificate_.curvature, longest / 2);
    if (!config_.update->uses_own_steps) return;
    for (BlockRow& row : rows_) {
        const double step = (config_.margin - row.value) / row.q;
        row.own_step = row.q > 0 ? std::clamp(step, 0.0, budget / row.weight) : 0.0;
    }
}

template <class T>
void BlockLearner<T>::evaluate_rows(EntropicGeometry<T>& entropic, const RowBlock& rows,
                                    double budget) {
    for (std::size_t j = 0; j < rows.rows(); ++j) entropic.enter(rows.row(j));
    for (std::size_t j = 0; j < rows.rows(); ++j) {
        const RowView x = rows.row(j);
        BlockRow& row = rows_[j];
        entropic.score(x, lookup_);
        row.value = static_cast<double>(lookup_.sums[0]);
        row.q = entropic.curvature(x);
        certificate_.curvature = std::max(certificate_.curvature, row.q / 2);
        row.own_step = 0;
        if (!config_.update->uses_own_steps || !(row.q > 0 && row.value < config_.margin)) continue;
        entropic.prepare(x);
        row.own_step =
            simplex_step(entropic.curve(x, lookup_, 0, true), config_.margin, budget / row.weight);
    }
}

// The optimal coefficients of all rows of a set (rule `optimal`). A row without features is
// included: its loss is constant, so reducing other losses below it does not reduce the maximum.
template <class T>
void BlockLearner<T>::best_step(const RowBlock& rows, const std::vector<BlockRow>& evaluated,
                                double budget, std::vector<double>& lambda) {
    lambda.assign(evaluated.size(), 0.0);
    const bool loses = std::any_of(evaluated.begin(), evaluated.end(),
                                   [&](const BlockRow& row) { return row.value < config_.margin; });
    if (!loses) return;
    losses_.clear();
    weights_.clear();
    for (const BlockRow& row : evaluated) {
        losses_.push_back(config_.margin - row.value);
        weights_.push_back(row.weight);
    }
    matrix_.load(rows, members_);
    const int iterations = solve_with_working_set(budget);
    for (std::size_t i = 0; i < working_set_.size(); ++i)
        lambda[working_set_[i]] = working_lambda_[i];
    ++certificate_.solver_rounds;
    certificate_.unsolved += !(config_.entropic ? simplex_.solved() : qp_.solved());
    certificate_.solver_iterations += iterations;
    certificate_.solver_most_iterations =
        std::max<std::int64_t>(certificate_.solver_most_iterations, iterations);
}

// Solves large blocks by a working-set method, because most rows have the coefficient 0 at the
// optimum: finds the optimum over the working set and adds up to kRowsPerExtension rows with a
// larger loss than all rows of the working set, until there are none: at most m extensions. Returns
// the number of solver iterations.
template <class T>
int BlockLearner<T>::solve_with_working_set(double budget) {
    const std::size_t m = matrix_.rows();
    const auto by_decreasing_loss = [&](const std::vector<double>& losses) {
        return [&](std::size_t a, std::size_t b) {
            return losses[a] != losses[b] ? losses[a] > losses[b] : a < b;
        };
    };
    std::vector<double> losses(m);
    for (std::size_t j = 0; j < m; ++j) losses[j] = losses_[j] / weights_[j];
    std::vector<std::size_t> candidates(m);
    std::iota(candidates.begin(), candidates.end(), std::size_t{0});
    working_set_.clear();
    working_lambda_.clear();
    if (m <= kRowsPerExtension) {
        working_set_ = std::move(candidates);
        working_lambda_.assign(m, 0.0);
        return solve_working_set(matrix_, budget);
    }
    std::sort(candidates.begin(), candidates.end(), by_decreasing_loss(losses));
    candidates.resize(kRowsPerExtension);
    std::vector<char> inside(m, 0);
    int iterations = 0;
    while (!candidates.empty()) {
        for (const std::size_t j : candidates) {
            working_set_.push_back(j);
            working_lambda_.push_back(0);
            inside[j] = 1;
        }
        selected_.select(matrix_, working_set_);
        iterations += solve_working_set(selected_, budget);
        moved_.assign(matrix_.features().size(), 0.0);
        for (std::size_t i = 0; i < working_set_.size(); ++i)
            matrix_.add(working_set_[i], working_lambda_[i], moved_);
        double level = 0;
        for (std::size_t j = 0; j < m; ++j) {
            losses[j] = (config_.margin - value_after(j)) / weights_[j];
            if (inside[j]) level = std::max(level, losses[j]);
        }
        candidates.clear();
        for (std::size_t j = 0; j < m; ++j)
            if (!inside[j] && losses[j] > level + 1e-10 * config_.margin) candidates.push_back(j);
        std::sort(candidates.begin(), candidates.end(), by_decreasing_loss(losses));
        candidates.resize(std::min(candidates.size(), kRowsPerExtension));
    }
    return iterations;
}

template <class T>
int BlockLearner<T>::solve_working_set(BlockMatrix& rows, double budget) {
    std::vector<double> losses, weights;
    for (const std::size_t j : working_set_) {
        losses.push_back(losses_[j]);
        weights.push_back(weights_[j]);
    }
    if (config_.entropic) {
        const auto& entropic = std::get<EntropicGeometry<T>>(geometry_);
        inside_.clear();
        double outside = 1;
        for (const std::int32_t feature : matrix_.features()) {
            inside_.push_back(entropic.weight(entropic.store().find(feature), 0));
            outside -= inside_.back();
        }
        // If the rows have all features, the outside weight is exactly 0, without rounding errors.
        if (static_cast<std::int64_t>(inside_.size()) == entropic.dimension()) outside = 0;
        return simplex_.solve(rows, inside_, std::max(0.0, outside), weights, config_.margin,
                              budget, working_lambda_);
    }
    rows.products(products_);
    return qp_.solve(products_, losses, weights, budget, working_lambda_);
}

// The value of a row after the step on the working set.
template <class T>
double BlockLearner<T>::value_after(std::size_t j) const {
    if (config_.entropic) return matrix_.product(j, simplex_.tilted());
    return config_.margin - losses_[j] + matrix_.product(j, moved_);
}

template <class T>
void BlockLearner<T>::solve_set(const RowBlock& rows, const std::vector<BlockRow>& evaluated,
                                double budget) {
    const auto best = [&](std::vector<double>& lambda) {
        best_step(rows, evaluated, budget, lambda);
    };
    const std::function<void(std::vector<double>&)> optimum = std::ref(best);
    const BlockRule& rule = *config_.update;
    (config_.entropic ? rule.entropic : rule.linear)({evaluated, config_.margin, budget, optimum},
                                                     set_lambda_);
}

template <class T>
double BlockLearner<T>::learn(const RowBlock& given, std::span<const std::int32_t> set,
                              std::span<const double> weights, double scale) {
    const bool copied = config_.entropic && given.has_separate_signs();
    if (copied) {
        signed_.clear();
        for (std::size_t j = 0; j < given.rows(); ++j) signed_.append(given.row(j), given.sign(j));
    }
    const RowBlock& rows = copied ? signed_ : given;
    std::int32_t sets = rows.rows() == 0 ? 0 : 1;
    for (const std::int32_t number : set) sets = std::max(sets, number + 1);
    BlockCertificate& c = certificate_;
    const bool first = c.rounds++ == 0;
    if (sets == 0) return 0;
    c.most_sets = std::max<std::int64_t>(c.most_sets, sets);
    c.uneven |= std::any_of(weights.begin(), weights.end(),
                            [&](double weight) { return weight != weights[0]; });
    const double budget = scale * config_.C / sets;
    double heaviest = 1, lightest = 1;
    if (!weights.empty()) {
        const auto [least, most] = std::minmax_element(weights.begin(), weights.end());
        heaviest = *most;
        lightest = *least;
    }
    c.least_weight = first ? scale / heaviest : std::min(c.least_weight, scale / heaviest);
    c.most_weight = first ? scale / lightest : std::max(c.most_weight, scale / lightest);
    rows_.resize(rows.rows());
    for (std::size_t j = 0; j < rows.rows(); ++j)
        rows_[j].weight = weights.empty() ? 1 : weights[j];
    std::visit([&](auto& geometry) { evaluate_rows(geometry, rows, budget); }, geometry_);
    lambda_.assign(rows.rows(), 0.0);
    double loss = 0, mistaken = 0;
    for (std::int32_t number = 0; number < sets; ++number) {
        members_.clear();
        set_rows_.clear();
        for (std::size_t j = 0; j < rows.rows(); ++j) {
            if (!set.empty() && set[j] != number) continue;
            members_.push_back(j);
            if (!set.empty()) set_rows_.push_back(rows_[j]);
        }
        const std::vector<BlockRow>& evaluated = set.empty() ? rows_ : set_rows_;
        double worst = 0;
        bool mistake = false;
        for (const BlockRow& row : evaluated) {
            const double missing = config_.margin - row.value;
            worst = std::max(worst, weights.empty() ? missing : missing / row.weight);
            mistake |= row.value <= 0;
        }
        loss += worst / sets;
        mistaken += mistake ? 1.0 / sets : 0.0;
        solve_set(rows, evaluated, budget);
        for (std::size_t i = 0; i < members_.size(); ++i) lambda_[members_[i]] = set_lambda_[i];
    }
    c.loss += scale * loss;
    c.mistakes += mistaken;
    apply(rows);
    return loss;
}

template <class T>
void BlockLearner<T>::apply(const RowBlock& rows) {
    chosen_.clear();
    double mass = 0;
    for (std::size_t j = 0; j < rows.rows(); ++j) {
        if (lambda_[j] == 0) continue;
        mass += lambda_[j];
        chosen_.push_back(j);
    }
    certificate_.gain += config_.margin * mass;
    if (auto* linear = std::get_if<LinearVector<T>>(&geometry_)) {
        for (const std::size_t j : chosen_) linear->add(rows.row(j), rows.sign(j) * lambda_[j]);
        return;
    }
    if (chosen_.empty()) return;
    // Sum the rows first, so that each feature needs one exponential.
    matrix_.load(rows, chosen_);
    moved_.assign(matrix_.features().size(), 0.0);
    for (std::size_t i = 0; i < chosen_.size(); ++i) matrix_.add(i, lambda_[chosen_[i]], moved_);
    sum_.clear();
    for (std::size_t i = 0; i < moved_.size(); ++i)
        if (moved_[i] != 0) sum_.add(matrix_.features()[i], moved_[i]);
    auto& entropic = std::get<EntropicGeometry<T>>(geometry_);
    lookup_.find(entropic.store(), sum_);
    step_.clear(1);
    step_.set(0, 1.0);
    entropic.apply(sum_, step_, lookup_);
}

template class BlockLearner<float>;
template class BlockLearner<double>;

}  // namespace tagalong
