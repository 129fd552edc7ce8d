// A mixture of rankers with linear geometries that have learnt disjoint rounds, all from scratch or
// all from the same ranker, the base. With factors f_k from 0 to 1 it has
//
//     theta = theta_b + sum_k f_k (theta_k - theta_b),
//     L     = L_b     + sum_k f_k (L_k - L_b),
//     S     = S_b     + sum_k (S_k - S_b),
// where L is the linear part of the dual value, D = L - G(theta); without a base theta_b and L_b
// are 0 and S_b is 1. A round of shard k with coefficients alpha thus takes part with f_k alpha. The
// coefficients that a round allows are a convex set with 0, and the linear part is concave in them
// and 0 at 0. So D is at most the dual value of these coefficients, and a lower bound of
// F(w) + C (loss of w) over all rounds, for every w and whatever the scales are.
//
// The mean of the weights is mixed likewise. The plane u of a shard, less that of the base, is the
// sum of (t - T_b) alpha x over its rounds t = T_b, ..., T_b + n_k - 1, if T_b (theta_k - theta_b)
// is subtracted. The mean over the n_k rounds of a shard counts for N = sum of n_k rounds.
//
// Every mistake has increased the dual value of its own ranker by at least lambda, so lambda times
// all mistakes is at most A = D + penalty of a ranker, summed over the rankers (A_b counted once).
// The penalty of the mixture is what is missing in its dual value, A - D.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/errors.hpp"
#include "ranker/label_ranker.hpp"

namespace tagalong {

// A ranker to be mixed, with the numbers of its labels and features in the mixture.
template <class T>
struct MixedRanker {
    const LabelRanker<T>* ranker = nullptr;
    std::vector<std::int32_t> labels;
    std::vector<std::int32_t> features;  // empty: the numbers are the same
};

template <class T>
class Mixture {
  public:
    using Part = MixedRanker<T>;

    // `base` is null if the rankers have learnt from scratch. There is one factor per ranker. Errors
    // name a ranker by `kind` and number.
    Mixture(std::span<const Part> parts, std::span<const double> factors, const Part* base,
            std::string kind = "ranker")
        : factors_(factors.begin(), factors.end()), kind_(std::move(kind)) {
        for (const Part& part : parts) rows_.emplace_back(part);
        if (base) base_.emplace_back(*base);
        base_factor_ = base ? 1 - std::accumulate(factors.begin(), factors.end(), 0.0) : 0;
        rounds_before_ = base ? base->ranker->rounds() : 0;
        for (const Part& part : parts) rounds_ += part.ranker->rounds() - rounds_before_;
    }

    // Writes the mixture to a new ranker with the labels of the mixture.
    void write(LabelRanker<T>& out) {
        check_base();
        write_weights(std::get<LinearGeometry<T>>(out.geometry()));
        write_certificate(out);
        write_blend(out.blend_state());
    }

  private:
    using Linear = LinearGeometry<T>;

    // The rows of a ranker by the feature numbers of the mixture.
    class Rows {
      public:
        explicit Rows(const Part& part)
            : part_(&part), linear_(&std::get<Linear>(part.ranker->geometry())) {
            for (std::size_t f = 0; f < part.features.size(); ++f) {
                const auto number = static_cast<std::size_t>(part.features[f]);
                if (number >= before_.size()) before_.resize(number + 1, FeatureIndex::kAbsent);
                before_[number] = static_cast<std::int32_t>(f);
            }
        }

        const LabelRanker<T>& ranker() const { return *part_->ranker; }
        double all_gains() const { return ranker().dual() + ranker().penalty(); }
        std::size_t count() const { return linear_->store().rows(); }
        std::int32_t feature(std::size_t row) const {
            const std::int32_t feature = linear_->store().features()[row];
            return feature < 0 || part_->features.empty()
                       ? feature
                       : part_->features[static_cast<std::size_t>(feature)];
        }
        // Finds the row of a feature; reads its weights if there is one.
        void find(std::int32_t feature) {
            if (feature >= 0 && !part_->features.empty()) {
                const auto number = static_cast<std::size_t>(feature);
                row_ = number < before_.size() ? before_[number] : FeatureIndex::kAbsent;
                if (row_ == FeatureIndex::kAbsent) return;
                feature = row_;
            }
            row_ = linear_->store().find(feature);
            if (row_ == FeatureIndex::kAbsent) return;
            const WeightStore<T>& store = linear_->store();
            numbers_.assign(2 * store.labels(), T(0));
            store.read(row_, 0, numbers_.data());
            if (store.planes() > 1) store.read(row_, 1, numbers_.data() + store.labels());
        }
        bool found() const { return row_ != FeatureIndex::kAbsent; }
        typename Linear::Row state() const {
            return found() ? linear_->row_state(static_cast<std::size_t>(row_))
                           : typename Linear::Row{};
        }
        // Calls visit(label of the mixture, theta, u) for the labels of the row.
        template <class Visit>
        void visit(Visit&& visit) const {
            if (!found()) return;
            const std::size_t labels = part_->labels.size();
            for (std::size_t y = 0; y < labels; ++y)
                visit(static_cast<std::size_t>(part_->labels[y]), static_cast<double>(numbers_[y]),
                      static_cast<double>(numbers_[labels + y]));
        }

      private:
        const Part* part_;
        const Linear* linear_;
        std::vector<std::int32_t> before_;  // by number in the mixture; kAbsent if there is none
        std::int32_t row_ = FeatureIndex::kAbsent;
        std::vector<T> numbers_;  // both planes of the row
    };

    void check_base() const {
        if (base_.empty()) return;
        const Certificate before = base_[0].ranker().certificate();
        for (std::size_t k = 0; k < rows_.size(); ++k) {
            const Certificate after = rows_[k].ranker().certificate();
            if (after.rounds < before.rounds || after.mistakes < before.mistakes)
                refuse(k, "it has fewer rounds or mistakes");
        }
    }
    [[noreturn]] void refuse(std::size_t ranker, const std::string& reason) const {
        throw InputError(kind_ + " " + std::to_string(ranker) +
                         " has not started from base: " + reason);
    }

    // The features are in the order in which the base has them, then each ranker.
    void write_weights(Linear& out) {
        out.restore_columns({});
        for (auto* several : {&base_, &rows_})
            for (Rows& one : *several)
                for (std::size_t r = 0; r < one.count(); ++r)
                    if (const std::int32_t feature = one.feature(r);
                        out.store().find(feature) == FeatureIndex::kAbsent)
                        write_row(feature, out);
        const double complexity = out.recompute_complexity();
        out.restore_complexity(complexity, std::abs(complexity));
    }

    void write_row(std::int32_t feature, Linear& out) {
        const std::size_t labels = out.store().labels();
        theta_.assign(labels, 0);
        local_.assign(labels, 0);
        base_theta_.assign(labels, 0);
        base_means_.assign(labels, 0);
        typename Linear::Row before, row;
        const auto T_b = static_cast<double>(rounds_before_);
        bool in_base = false;
        for (Rows& base : base_) {
            base.find(feature);
            in_base = base.found();
            before = base.state();
            base.visit([&](std::size_t y, double theta, double means) {
                base_theta_[y] = theta;
                base_means_[y] = means;
                theta_[y] = base_factor_ * theta;
            });
        }
        for (std::size_t k = 0; k < rows_.size(); ++k) {
            rows_[k].find(feature);
            const double S = rows_[k].state().S;
            if (in_base && !rows_[k].found()) refuse(k, "it lacks a feature");
            if (S < before.S) refuse(k, "the scale of a feature is smaller");
            row.S = k == 0 ? S : row.S + (S - before.S);
            const auto n = static_cast<double>(rows_[k].ranker().rounds() - rounds_before_);
            const double share = n > 0 ? factors_[k] * (static_cast<double>(rounds_) / n) : 0;
            rows_[k].visit([&](std::size_t y, double theta, double means) {
                theta_[y] += factors_[k] * theta;
                local_[y] += share * ((means - base_means_[y]) - T_b * (theta - base_theta_[y]));
            });
        }
        stored_.resize(2 * labels);
        row.norm2 = 0;
        row.base2 = before.base2;
        for (std::size_t y = 0; y < labels; ++y) {
            stored_[y] = static_cast<T>(theta_[y]);
            stored_[labels + y] =
                static_cast<T>(base_means_[y] + T_b * (theta_[y] - base_theta_[y]) + local_[y]);
            row.norm2 += static_cast<double>(stored_[y]) * static_cast<double>(stored_[y]);
        }
        out.restore_row(feature, row, stored_.data(),
                        out.store().planes() > 1 ? stored_.data() + labels : nullptr);
    }

    void write_certificate(LabelRanker<T>& out) const {
        const Certificate before = base_.empty() ? Certificate{} : base_[0].ranker().certificate();
        Certificate total = before;
        double gains = base_.empty() ? 0 : base_[0].all_gains();
        const double gains_before = gains;
        bool any = before.rounds > before.earlier;
        std::int64_t rankers = 0;
        total.gain = base_factor_ * before.gain;
        for (std::size_t k = 0; k < rows_.size(); ++k) {
            const Certificate one = rows_[k].ranker().certificate();
            total.rounds += one.rounds - before.rounds;
            total.mistakes += one.mistakes - before.mistakes;
            total.loss += one.loss - before.loss;
            total.gain += factors_[k] * one.gain;
            total.curvature = std::max(total.curvature, one.curvature);
            total.solver_rounds += one.solver_rounds - before.solver_rounds;
            total.solver_iterations += one.solver_iterations - before.solver_iterations;
            total.solver_most_iterations =
                std::max(total.solver_most_iterations, one.solver_most_iterations);
            total.unsolved += one.unsolved - before.unsolved;
            gains += rows_[k].all_gains() - gains_before;
            rankers = one.rankers == 0 || rankers < 0 ? -1 : rankers + one.rankers;
            if (one.rounds == one.earlier) continue;
            total.least_weight =
                any ? std::min(total.least_weight, one.least_weight) : one.least_weight;
            total.most_weight =
                any ? std::max(total.most_weight, one.most_weight) : one.most_weight;
            any = true;
        }
        out.certificate_state() = total;
        const double penalty = std::max(0.0, gains - out.dual());
        std::get<Linear>(out.geometry()).restore_penalty(penalty);
        const bool known = base_.empty() && (rankers > 1 || (rankers == 1 && penalty == 0));
        out.certificate_state().rankers = known ? rankers : 0;
    }

    // The discounted precisions, as means with the factors as weights.
    void write_blend(Blend& out) const {
        const double total = std::accumulate(factors_.begin(), factors_.end(), 0.0);
        if (total == 0) return;
        for (std::size_t i = 0; i < out.precision.size(); ++i) {
            double sum = 0;
            for (std::size_t k = 0; k < rows_.size(); ++k)
                sum += factors_[k] * rows_[k].ranker().blend_state().precision[i];
            out.precision[i] = sum / total;
        }
    }

    std::vector<Rows> rows_;  // per ranker
    std::vector<Rows> base_;  // one or none
    std::vector<double> factors_;
    std::string kind_;
    double base_factor_ = 0;
    std::int64_t rounds_before_ = 0;  // of the base
    std::int64_t rounds_ = 0;         // of all rankers since the base
    // Scratch of a row, per label.
    std::vector<double> theta_, local_, base_theta_, base_means_;
    std::vector<T> stored_;
};

}  // namespace tagalong
