// How the score of a label in the entropic geometry changes along an example x.
//
// With theta + a x in the place of theta the score is the mean of the values of x under the weights
// exp(theta_j + a x_j): it depends on how much mass lies at each value of x, and on how much lies
// outside of x, where the value is 0. A SimplexCurve holds just that.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/weight_store.hpp"
#include "geometry/row_lookup.hpp"
#include "rules/curves.hpp"

namespace tagalong {

// What the entropic geometry keeps per label beside theta.
struct EntropicLabel {
    double Z = 0;
    double shift = 0;
    std::int64_t updates = 0;  // since Z was last computed afresh
};

class EntropicCurves {
  public:
    // Groups the features of x by value, ahead of curve().
    void prepare(const RowView& x, std::size_t labels) {
        atoms_.assign(x.value.begin(), x.value.end());
        std::sort(atoms_.begin(), atoms_.end());
        atoms_.erase(std::unique(atoms_.begin(), atoms_.end()), atoms_.end());
        atom_of_.resize(x.size());
        for (std::size_t i = 0; i < x.size(); ++i)
            atom_of_[i] = static_cast<std::size_t>(
                std::lower_bound(atoms_.begin(), atoms_.end(), x.value[i]) - atoms_.begin());
        masses_.clear();
        masses_.reserve(atoms_.size() * labels);
    }

    // The curve of one label, which has this state, among `dimension` features; its masses live until
    // the next prepare(). At most once per label.
    template <class T>
    SimplexCurve curve(const WeightStore<T>& store, const EntropicLabel& state,
                       std::int64_t dimension, const RowView& x, const RowLookup<T>& at, int label,
                       bool relevant) {
        const std::size_t first = masses_.size();
        masses_.resize(first + atoms_.size(), 0.0);
        double inside = 0;
        const double unseen = std::exp(-state.shift);
        for (std::size_t i = 0; i < x.size(); ++i) {
            double mass = unseen;
            if (at.row[i] != FeatureIndex::kAbsent) {
                mass = static_cast<double>(store.row(at.row[i], 1)[label]);
                // Too small for the storage type, but a large step may bring it back.
                if (mass < 1e-30)
                    mass = std::exp(static_cast<double>(store.row(at.row[i])[label]) - state.shift);
            }
            masses_[first + atom_of_[i]] += mass;
            inside += mass;
        }
        double outside = state.Z - inside;
        // Nearly all mass inside: the difference has lost its digits, so sum what is outside.
        if (outside < 1e-9 * state.Z) outside = mass_outside(store, state, dimension, x, at, label);
        return {relevant ? 1.0 : -1.0, atoms_, masses_.data() + first, outside};
    }

  private:
    template <class T>
    double mass_outside(const WeightStore<T>& store, const EntropicLabel& state,
                        std::int64_t dimension, const RowView& x, const RowLookup<T>& at,
                        int label) {
        inside_.assign(store.rows(), 0);
        std::int64_t unseen = dimension - static_cast<std::int64_t>(store.rows());
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (at.row[i] == FeatureIndex::kAbsent) --unseen;
            else inside_[at.row[i]] = 1;
        }
        double mass = unseen > 0 ? static_cast<double>(unseen) * std::exp(-state.shift) : 0;
        for (std::size_t r = 0; r < store.rows(); ++r)
            if (!inside_[r])
                mass += static_cast<double>(store.row(static_cast<std::int32_t>(r), 1)[label]);
        return mass;
    }

    std::vector<double> atoms_;         // the values of x, ascending
    std::vector<std::size_t> atom_of_;  // per feature of x
    std::vector<double> masses_;        // per curve and atom
    std::vector<char> inside_;          // per row, whether x has its feature
};

}  // namespace tagalong
