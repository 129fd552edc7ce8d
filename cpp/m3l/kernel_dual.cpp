#include "m3l/kernel_dual.hpp"

#include <algorithm>

#include "m3l/kernel_loops.hpp"
#include "m3l/threads.hpp"

namespace tagalong::m3l {

KernelDual::KernelDual(const Problem& problem, std::span<const double> diagonal, KernelCache& cache,
                       int threads)
    : problem_(problem),
      cache_(cache),
      threads_(threads),
      diagonal_(diagonal.begin(), diagonal.end()) {
    const std::size_t n = problem.rows;
    std::vector<Relevance> relevance(n * problem.labels, Relevance::irrelevant);
    for (std::size_t i = 0; i < n; ++i) {
        for (const std::int32_t l : problem.relevant.row(i))
            relevance[static_cast<std::size_t>(l) * n + i] = Relevance::relevant;
        for (const std::int32_t l : problem.unknown.row(i))
            relevance[static_cast<std::size_t>(l) * n + i] = Relevance::unknown;
    }
    for (std::size_t l = 0; l < problem.labels; ++l)
        labels_.emplace_back(problem, l, std::span(relevance).subspan(l * n, n));
}

void KernelDual::start_from(std::span<const double> dual) {
    for (std::size_t l = 0; l < labels_.size(); ++l)
        for (std::size_t i = 0; i < problem_.rows; ++i) {
            KernelLabel& label = labels_[l];
            const auto value = static_cast<float>(dual[i * labels_.size() + l]);
            label.b[i] = std::clamp(value, label.low[i], label.high[i]);
        }
}

std::vector<double> KernelDual::values() const {
    std::vector<double> out(problem_.rows * labels_.size());
    for (std::size_t l = 0; l < labels_.size(); ++l)
        for (std::size_t i = 0; i < problem_.rows; ++i)
            out[i * labels_.size() + l] = static_cast<double>(labels_[l].b[i]);
    return out;
}

void KernelDual::recompute_derivatives() {
    const std::vector<std::vector<double>> sums = kernel_sums();
    for_each_of(labels_.size(), threads_, [&](std::size_t l) {
        std::vector<double> h = labels_[l].target;
        for (std::size_t k = 0; k < labels_.size(); ++k) {
            const double factor = 4 * problem_.r(l, k);
            if (factor == 0 || sums[k].empty()) continue;
            for (std::size_t i = 0; i < h.size(); ++i) h[i] -= factor * sums[k][i];
        }
        std::copy(h.begin(), h.end(), labels_[l].h.begin());
    });
}

void KernelDual::reset_derivatives() {
    for (KernelLabel& label : labels_)
        std::copy(label.target.begin(), label.target.end(), label.h.begin());
}

void KernelDual::propagate(std::size_t l, const float* change) {
    for_each_of(labels_.size(), threads_, [&](std::size_t k) {
        const auto factor = static_cast<float>(4 * problem_.r(k, l));
        if (k == l || factor == 0) return;
        subtract_row(labels_[k].h.data(), change, factor, problem_.rows);
        labels_[k].measure_violation();
    });
}

std::size_t KernelDual::worst_label() const {
    std::size_t worst = 0;
    for (std::size_t l = 1; l < labels_.size(); ++l)
        if (labels_[l].violation > labels_[worst].violation) worst = l;
    return worst;
}

SolutionStatus KernelDual::status() {
    SolutionStatus status;
    for (KernelLabel& label : labels_) label.add_status(status);
    return status;
}

// K b of each label; empty if b = 0.
std::vector<std::vector<double>> KernelDual::kernel_sums() {
    constexpr std::size_t kRowsAtOnce = 4;  // of add_four_rows()
    std::vector<std::vector<double>> sums(labels_.size());
    const std::vector<std::int32_t> used = rows_with_dual();
    for (std::size_t at = 0; at < used.size(); at += kRowsAtOnce) {
        const std::size_t count = std::min(kRowsAtOnce, used.size() - at);
        const float* rows[kRowsAtOnce];
        for (std::size_t k = 0; k < kRowsAtOnce; ++k)
            rows[k] = row_of(std::span(used).subspan(at + std::min(k, count - 1)));
        for_each_of(labels_.size(), threads_, [&](std::size_t l) {
            double b[kRowsAtOnce] = {};
            for (std::size_t k = 0; k < count; ++k)
                b[k] = static_cast<double>(labels_[l].b[static_cast<std::size_t>(used[at + k])]);
            if (b[0] == 0 && b[1] == 0 && b[2] == 0 && b[3] == 0) return;
            if (sums[l].empty()) sums[l].assign(problem_.rows, 0.0);
            add_four_rows(sums[l].data(), rows, b, problem_.rows);
        });
    }
    return sums;
}

// The rows where any label has a nonzero variable. Cached rows come first, before the computation
// of the others evicts them.
std::vector<std::int32_t> KernelDual::rows_with_dual() const {
    std::vector<std::int32_t> used;
    for (std::size_t i = 0; i < problem_.rows; ++i)
        if (std::any_of(labels_.begin(), labels_.end(),
                        [&](const KernelLabel& label) { return label.b[i] != 0; }))
            used.push_back(static_cast<std::int32_t>(i));
    std::stable_partition(used.begin(), used.end(),
                          [&](std::int32_t i) { return cache_.has(static_cast<std::size_t>(i)); });
    return used;
}

}  // namespace tagalong::m3l
