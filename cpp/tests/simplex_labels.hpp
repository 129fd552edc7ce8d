// Labels in the entropic geometry without a learner: the mass that the weights of each label put on
// each value of x and outside the support of x.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "rules/curves.hpp"
#include "tests/random.hpp"

namespace tagalong::test {

class SimplexLabels {
  public:
    // One atom means a binary x; `uneven` masses span many orders of magnitude.
    SimplexLabels(Random& random, int labels, int atoms, bool uneven)
        : outside_(static_cast<std::size_t>(labels)) {
        while (static_cast<int>(atoms_.size()) < atoms) {
            const double value = atoms == 1 ? 1.0 : random.between(-1, 1);
            if (value != 0) atoms_.push_back(value);
        }
        std::sort(atoms_.begin(), atoms_.end());
        const auto mass = [&] {
            return uneven ? random.magnitude(1e-12, 1e3) : random.between(0.05, 1);
        };
        masses_.resize(atoms_.size() * outside_.size());
        for (double& m : masses_) m = mass();
        for (double& m : outside_) m = mass();
    }

    // One list of masses per label: those of the atoms, then the mass outside.
    SimplexLabels(std::vector<double> atoms, const std::vector<std::vector<double>>& labels)
        : atoms_(std::move(atoms)) {
        for (const auto& label : labels) {
            masses_.insert(masses_.end(), label.begin(), label.end() - 1);
            outside_.push_back(label.back());
        }
    }

    SimplexCurve curve(int label, bool relevant) const {
        const auto at = static_cast<std::size_t>(label);
        return {relevant ? 1.0 : -1.0, atoms_, masses_.data() + at * atoms_.size(), outside_[at]};
    }
    std::vector<double> scores() const {
        std::vector<double> out;
        for (std::size_t y = 0; y < outside_.size(); ++y)
            out.push_back(curve(static_cast<int>(y), true).at(0).value);
        return out;
    }
    int labels() const { return static_cast<int>(outside_.size()); }

    // G(theta + alpha x) - G(theta) of a label: the logarithm of the mean of exp(alpha x).
    double complexity(int label, double alpha) const {
        const SimplexCurve c = curve(label, true);
        double top = 0, total = c.outside;
        for (const double x : atoms_) top = std::max(top, alpha * x);
        double tilted = c.outside * std::exp(-top);
        for (std::size_t i = 0; i < atoms_.size(); ++i) {
            total += c.masses[i];
            tilted += c.masses[i] * std::exp(alpha * atoms_[i] - top);
        }
        return top + std::log(tilted / total);
    }

  private:
    std::vector<double> atoms_;
    std::vector<double> masses_;
    std::vector<double> outside_;
};

}  // namespace tagalong::test
