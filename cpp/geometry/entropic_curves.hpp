// Builds the curves of the entropic geometry: the score of a label as a function of the step along
// an example x.
//
// After the step theta + a x, the score is the mean of the values of x under weights proportional
// to exp(theta_j + a x_j). It depends only on the total mass at each distinct value of x, and on
// the mass outside the support of x, where the value is 0. A SimplexCurve holds these masses.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/weight_store.hpp"
#include "geometry/row_lookup.hpp"
#include "rules/curves.hpp"

namespace tagalong {

// The state of a label in the entropic geometry, apart from theta.
struct EntropicLabel {
    double Z = 0;
    double shift = 0;
    std::int64_t updates = 0;  // since Z was last recomputed
};

class EntropicCurves {
  public:
    // Groups the features of x by value. Call before curve().
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

    // The curve of a label with the given state; n = dimension. Its masses are valid until the next
    // prepare(). Call at most once per label and prepare().
    template <class T>
    SimplexCurve curve(const WeightStore<T>& store, const EntropicLabel& state,
                       std::int64_t dimension, const RowView& x, const RowLookup<T>& lookup,
                       int label, bool relevant) {
        const std::size_t first = masses_.size();
        masses_.resize(first + atoms_.size(), 0.0);
        double inside = 0;
        const double unseen = std::exp(-state.shift);
        for (std::size_t i = 0; i < x.size(); ++i) {
            double mass = unseen;
            if (lookup.row[i] != FeatureIndex::kAbsent) {
                mass = static_cast<double>(store.row(lookup.row[i], 1)[label]);
                // The stored number may be rounded to 0, but its mass matters after a large step.
                if (mass < 1e-30)
                    mass = std::exp(static_cast<double>(store.row(lookup.row[i])[label]) -
                                    state.shift);
            }
            masses_[first + atom_of_[i]] += mass;
            inside += mass;
        }
        double outside = state.Z - inside;
        // Nearly all mass is inside, so the difference has lost its precision: sum the mass outside
        // directly.
        if (outside < 1e-9 * state.Z)
            outside = mass_outside(store, state, dimension, x, lookup, label);
        return {relevant ? 1.0 : -1.0, atoms_, masses_.data() + first, outside};
    }

  private:
    template <class T>
    double mass_outside(const WeightStore<T>& store, const EntropicLabel& state,
                        std::int64_t dimension, const RowView& x, const RowLookup<T>& lookup,
                        int label) {
        inside_.assign(store.rows(), 0);
        std::int64_t unseen = dimension - static_cast<std::int64_t>(store.rows());
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (lookup.row[i] == FeatureIndex::kAbsent) --unseen;
            else inside_[lookup.row[i]] = 1;
        }
        double mass = unseen > 0 ? static_cast<double>(unseen) * std::exp(-state.shift) : 0;
        for (std::size_t r = 0; r < store.rows(); ++r)
            if (!inside_[r])
                mass += static_cast<double>(store.row(static_cast<std::int32_t>(r), 1)[label]);
        return mass;
    }

    std::vector<double> atoms_;         // distinct values of x, ascending
    std::vector<std::size_t> atom_of_;  // per feature of x
    std::vector<double> masses_;        // per curve and atom
    std::vector<char> inside_;          // per row, whether x has its feature
};

}  // namespace tagalong
