// Weights that are sums of examples seen, for kernels: the score of label k is
// sum_i a_ik K(x_i, x) over the support examples x_i. Where there are more of them than the budget,
// the one whose part in the weights is shortest, |a_i|^2 K(x_i, x_i), is dropped; of equals the oldest.
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
        double square = 0;          // |x|^2
        std::vector<double> part;   // a_i
        std::vector<double> means;  // (rounds before) * what was added to it
    };

    KernelGeometry(const KernelConfig& config, std::size_t budget, bool averaged)
        : config_(config), budget_(budget), averaged_(averaged) {}

    std::size_t labels() const { return labels_; }
    std::size_t size() const { return support_.size(); }
    const std::vector<Support>& support() const { return support_; }
    void add_labels(std::size_t count) {
        labels_ += count;
        for (Support& one : support_) {
            one.part.resize(labels_, 0.0);
            if (averaged_) one.means.resize(labels_, 0.0);
        }
    }

    template <class T>
    void score(const Example& x, bool means, RowLookup<T>& at) const {
        std::vector<double> sums(labels_, 0.0), mean_sums(means ? labels_ : 0, 0.0);
        const double square = sum_of_squares(x.value);
        for (const Support& one : support_) {
            const double near = kernel(dot(one.x, x), one.square, square);
            for (std::size_t k = 0; k < labels_; ++k) sums[k] += one.part[k] * near;
            for (std::size_t k = 0; k < mean_sums.size(); ++k) mean_sums[k] += one.means[k] * near;
        }
        at.sums.resize(labels_);
        std::transform(sums.begin(), sums.end(), at.sums.begin(),
                       [](double sum) { return static_cast<T>(sum); });
        at.mean_sums.resize(mean_sums.size());
        std::transform(mean_sums.begin(), mean_sums.end(), at.mean_sums.begin(),
                       [](double sum) { return static_cast<T>(sum); });
    }

    void apply(const Example& x, const Step& step, double rounds_before) {
        Support one;
        one.x.feature = x.feature;
        one.x.value = x.value;
        one.square = sum_of_squares(x.value);
        one.part.assign(labels_, 0.0);
        for (const int label : step.touched) one.part[label] = step.alpha[label];
        if (averaged_)
            for (const double part : one.part) one.means.push_back(rounds_before * part);
        support_.push_back(std::move(one));
        if (budget_ == 0 || support_.size() <= budget_) return;
        std::size_t shortest = 0;
        double least = length(support_[0]);
        for (std::size_t i = 1; i < support_.size(); ++i)
            if (const double found = length(support_[i]); found < least)
                shortest = i, least = found;
        support_.erase(support_.begin() + static_cast<std::ptrdiff_t>(shortest));
    }

    // sqrt(K(x, x)): how long x is where the weights live.
    double norm(const Example& x) const {
        const double square = sum_of_squares(x.value);
        return std::sqrt(kernel(square, square, square));
    }
    void restore(Support one) {
        one.square = sum_of_squares(one.x.value);
        support_.push_back(std::move(one));
    }
    std::size_t bytes() const {
        std::size_t numbers = 0;
        for (const Support& one : support_)
            numbers += 2 * one.x.size() + one.part.size() + one.means.size();
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
    double length(const Support& one) const {
        return sum_of_squares(one.part) * kernel(one.square, one.square, one.square);
    }

    KernelConfig config_;
    std::size_t budget_;
    bool averaged_;
    std::size_t labels_ = 0;
    std::vector<Support> support_;
};

}  // namespace tagalong
