// Weights in the feature space of a kernel, as linear combinations of support examples: the score
// of label k is sum_i a_ik K(x_i, x) over the support examples x_i. If they exceed the budget, the
// example with the smallest squared norm |a_i|^2 K(x_i, x_i) in the weights is dropped; the oldest
// on ties.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "geometry/row_lookup.hpp"
#include "rules/step.hpp"

namespace tagalong {

enum class KernelKind { linear, rbf, poly };

struct KernelConfig {
    KernelKind kind = KernelKind::linear;
    double gamma = 1;
    double degree = 3;
    double offset = 1;
};

inline double dot(const Example& a, const Example& b) {
    double sum = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a.feature[i] == b.feature[j]) sum += a.value[i++] * b.value[j++];
        else if (a.feature[i] < b.feature[j]) ++i;
        else ++j;
    }
    return sum;
}

class KernelGeometry {
  public:
    struct Support {
        Example x;
        double square = 0;                 // |x|^2
        std::vector<double> coefficients;  // a_i, one per label
        // For averaging: (number of earlier rounds) * a_i.
        std::vector<double> means;
    };

    KernelGeometry(const KernelConfig& config, std::size_t budget, bool averaged)
        : config_(config), budget_(budget), averaged_(averaged) {}

    std::size_t labels() const { return labels_; }
    std::size_t size() const { return support_.size(); }
    const std::vector<Support>& support() const { return support_; }
    void add_labels(std::size_t count) {
        labels_ += count;
        for (Support& support : support_) {
            support.coefficients.resize(labels_, 0.0);
            if (averaged_) support.means.resize(labels_, 0.0);
        }
    }

    template <class T>
    void score(const Example& x, bool means, RowLookup<T>& at) const {
        std::vector<double> sums(labels_, 0.0), mean_sums(means ? labels_ : 0, 0.0);
        const double square = sum_of_squares(x.value);
        for (const Support& support : support_) {
            const double similarity = kernel(dot(support.x, x), support.square, square);
            for (std::size_t k = 0; k < labels_; ++k)
                sums[k] += support.coefficients[k] * similarity;
            for (std::size_t k = 0; k < mean_sums.size(); ++k)
                mean_sums[k] += support.means[k] * similarity;
        }
        at.sums.resize(labels_);
        std::transform(sums.begin(), sums.end(), at.sums.begin(),
                       [](double sum) { return static_cast<T>(sum); });
        at.mean_sums.resize(mean_sums.size());
        std::transform(mean_sums.begin(), mean_sums.end(), at.mean_sums.begin(),
                       [](double sum) { return static_cast<T>(sum); });
    }

    void apply(const Example& x, const Step& step, double rounds_before) {
        Support support;
        support.x.feature = x.feature;
        support.x.value = x.value;
        support.square = sum_of_squares(x.value);
        support.coefficients.assign(labels_, 0.0);
        for (const int label : step.touched) support.coefficients[label] = step.alpha[label];
        if (averaged_)
            for (const double coefficient : support.coefficients)
                support.means.push_back(rounds_before * coefficient);
        support_.push_back(std::move(support));
        if (budget_ == 0 || support_.size() <= budget_) return;
        std::size_t weakest = 0;
        double least_norm = squared_norm(support_[0]);
        for (std::size_t i = 1; i < support_.size(); ++i)
            if (const double norm = squared_norm(support_[i]); norm < least_norm)
                weakest = i, least_norm = norm;
        support_.erase(support_.begin() + static_cast<std::ptrdiff_t>(weakest));
    }

    // The norm of x in the feature space: sqrt(K(x, x)).
    double norm(const Example& x) const {
        const double square = sum_of_squares(x.value);
        return std::sqrt(kernel(square, square, square));
    }
    void restore(Support support) {
        support.square = sum_of_squares(support.x.value);
        support_.push_back(std::move(support));
    }
    std::size_t bytes() const {
        std::size_t numbers = 0;
        for (const Support& support : support_)
            numbers += 2 * support.x.size() + support.coefficients.size() + support.means.size();
        return numbers * sizeof(double);
    }

  private:
    double kernel(double product, double a, double b) const {
        switch (config_.kind) {
            case KernelKind::rbf:
                return std::exp(-config_.gamma * std::max(0.0, a + b - 2 * product));
            case KernelKind::poly:
                return std::pow(config_.gamma * product + config_.offset, config_.degree);
            default:
                return product;
        }
    }
    double squared_norm(const Support& support) const {
        return sum_of_squares(support.coefficients) *
               kernel(support.square, support.square, support.square);
    }

    KernelConfig config_;
    std::size_t budget_;
    bool averaged_;
    std::size_t labels_ = 0;
    std::vector<Support> support_;
};

}  // namespace tagalong
