// The dual variables of all labels of a kernel problem, with their derivatives: what the solvers of
// m3l/kernel_solver.hpp and m3l/joint_smo.hpp have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "m3l/kernel_cache.hpp"
#include "m3l/kernel_label.hpp"
#include "m3l/problem.hpp"

namespace tagalong::m3l {

class KernelDual {
  public:
    KernelDual(const Problem& problem, std::span<const double> diagonal, KernelCache& cache,
               int threads);

    const Problem& problem() const { return problem_; }
    KernelCache& cache() { return cache_; }
    std::vector<KernelLabel>& labels() { return labels_; }
    // The diagonal of K.
    const std::vector<float>& diagonal() const { return diagonal_; }

    // Starts from given dual variables, (rows, labels), clipped to their bounds.
    void start_from(std::span<const double> dual);
    // The dual variables, (rows, labels).
    std::vector<double> values() const;

    // The first row of K in the list; the cache may compute the following ones along with it.
    const float* row_of(std::span<const std::int32_t> list) {
        const auto i = static_cast<std::size_t>(list[0]);
        return cache_.fits_all_rows() ? cache_.cached_row(i) : cache_.row(i, list);
    }

    // h = t - 4 K B R, summed in double precision.
    void recompute_derivatives();
    // h = t, the derivatives at b = 0.
    void reset_derivatives();
    // Adds the change of K b_l to the derivatives of all other labels (P4's Eq. 35), and measures
    // their violation.
    void propagate(std::size_t l, const float* change);
    // The label with the largest violation, as last measured.
    std::size_t worst_label() const;
    SolutionStatus status();

  private:
    std::vector<std::vector<double>> kernel_sums();
    std::vector<std::int32_t> rows_with_dual() const;

    const Problem& problem_;
    KernelCache& cache_;
    int threads_;
    std::vector<float> diagonal_;
    std::vector<KernelLabel> labels_;
};

}  // namespace tagalong::m3l
