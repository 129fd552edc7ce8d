// A starting point for labels that are rarely relevant. The problem of such a label is nearly the
// problem of a label that is never relevant. If the labels differ in nothing else, that problem is
// the same for all of them and is solved once. Each rare label starts with the dual variables of
// this common solution, or with a share of them if the prior couples labels, and with zero on its
// few relevant rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "m3l/linear_task.hpp"

namespace tagalong::m3l {

template <class T>
class RareLabelStart {
  public:
    explicit RareLabelStart(const LinearTask<T>& task) : task_(task), problem_(task.problem) {}

    // Sets the dual variables of the solution, which must all be zero.
    void apply() {
        if (problem_.margins_vary_by_row()) return;  // labels have no problem in common
        find_rare();
        if (!representative_ ||
            static_cast<std::size_t>(std::count(rare_.begin(), rare_.end(), 1)) < kMinLabels ||
            !solves_a_rare_label())
            return;
        const std::vector<T> never_relevant = solve_never_relevant();
        const std::vector<double> share = shares_of(never_relevant);
        for (std::size_t position = task_.first_position(); position < task_.last_position();
             ++position) {
            const std::int32_t label = task_.labels_by_position()[position];
            if (!rare_[label]) continue;
            T* const dual = task_.label_dual(position);
            const auto factor = static_cast<T>(share[label]);
            for (std::size_t i = 0; i < never_relevant.size(); ++i)
                dual[i * kLanes] = factor * never_relevant[i];
        }
        zero_relevant_rows();
    }

  private:
    // A label that is relevant for a smaller share of the rows is rare.
    static constexpr double kRareShare = 0.1;
    static constexpr std::size_t kMinLabels = kLanes;  // with fewer, the start saves no time
    static constexpr int kShareSweeps = 20;

    bool same_irrelevant_problem(std::size_t l, std::size_t k) const {
        return problem_.margin_irrelevant[l] == problem_.margin_irrelevant[k] &&
               problem_.bound_irrelevant[l] == problem_.bound_irrelevant[k] &&
               problem_.r(l, l) == problem_.r(k, k);
    }

    // Finds the rare labels of known relevance whose problem equals that of the first, the
    // representative.
    void find_rare() {
        std::vector<std::size_t> relevant(problem_.labels, 0);
        rare_.assign(problem_.labels, 1);
        for (const std::int32_t label : problem_.relevant.label) ++relevant[label];
        for (const std::int32_t label : problem_.unknown.label) rare_[label] = 0;
        const double max_relevant = kRareShare * static_cast<double>(task_.rows.size());
        for (const std::int32_t label : task_.labels_by_position()) {
            const auto l = static_cast<std::size_t>(label);
            rare_[l] &= static_cast<double>(relevant[l]) < max_relevant;
            if (!rare_[l]) continue;
            if (!representative_) representative_ = label;
            rare_[l] = same_irrelevant_problem(l, static_cast<std::size_t>(*representative_));
        }
    }

    bool solves_a_rare_label() const {
        for (std::size_t at = task_.first_position(); at < task_.last_position(); ++at)
            if (rare_[task_.labels_by_position()[at]]) return true;
        return false;
    }

    // Solves the representative's problem as if it were never relevant. Uses the memory of a block
    // that is not in use yet.
    std::vector<T> solve_never_relevant() const {
        T* const dual = task_.block_dual(task_.last_block() - 1);
        BlockWorkspace<T> workspace(task_.rows.features());
        Block<T> block = task_.block_of(std::span(&*representative_, 1), dual, workspace);
        block.treat_as_irrelevant();
        Shuffle shuffle = task_.shuffle(task_.blocks());
        SolutionStatus status;
        block.solve(task_.settings.tolerance, task_.settings.max_passes, shuffle, task_.progress,
                    status);
        std::vector<T> out(task_.rows.size());
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = dual[i * kLanes];
        std::fill_n(dual, task_.rows.size() * kLanes, T{0});
        return out;
    }

    // The share of the common solution b, from 0 to 1, that each label starts with. If the prior
    // couples labels, full copies of b for all labels would overshoot. With share s_l for label l,
    // the dual objective is a sum_l s_l - c s'R s / 2, where a = t'b and c = 4 |v|^2. A few sweeps
    // of coordinate ascent maximise it approximately.
    std::vector<double> shares_of(const std::vector<T>& never_relevant) const {
        std::vector<double> share(rare_.begin(), rare_.end());
        if (!problem_.coupled()) return share;
        const double linear = linear_term(never_relevant),
                     curvature = curvature_term(never_relevant);
        for (int round = 0; round < kShareSweeps; ++round)
            for (std::size_t l = 0; l < share.size(); ++l) {
                if (!rare_[l]) continue;
                double coupled_sum = 0;
                for (std::size_t k = 0; k < share.size(); ++k)
                    coupled_sum += problem_.r(l, k) * share[k];
                const double step_curvature = curvature * problem_.r(l, l);
                if (step_curvature > 0)
                    share[l] = std::clamp(
                        share[l] + (linear - curvature * coupled_sum) / step_curvature, 0.0, 1.0);
            }
        return share;
    }
    // a = t'b.
    double linear_term(const std::vector<T>& dual) const {
        double sum = 0;
        for (const T each : dual)
            sum -= problem_.margin_irrelevant[static_cast<std::size_t>(*representative_)] *
                   static_cast<double>(each);
        return sum;
    }
    // c = 4 |v|^2.
    double curvature_term(const std::vector<T>& dual) const {
        AlignedVector<double> v(task_.rows.features(), 0.0);
        for (std::size_t i = 0; i < dual.size(); ++i)
            std::visit(
                [&](const auto& rows) { rows.add_to(i, static_cast<double>(dual[i]), v.data()); },
                task_.rows.storage());
        double curvature = 0;
        for (const double each : v) curvature += 4 * each * each;
        return curvature;
    }

    void zero_relevant_rows() const {
        for (std::size_t i = 0; i < task_.rows.size(); ++i)
            for (const std::int32_t label : problem_.relevant.row(i))
                if (const auto at = static_cast<std::size_t>(task_.solution.position[label]);
                    rare_[label] && task_.solves(at))
                    task_.label_dual(at)[i * kLanes] = T{0};
    }

    const LinearTask<T>& task_;
    const Problem& problem_;
    std::vector<char> rare_;                      // per label
    std::optional<std::int32_t> representative_;  // the label whose problem is solved
};

}  // namespace tagalong::m3l
