#include "m3l/coordinate_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "m3l/linear_task.hpp"
#include "m3l/shuffle.hpp"
#include "m3l/two_variables.hpp"

namespace tagalong::m3l {
namespace {

// Calls visit(feature, value) for the entries of row i.
template <class T, class I, class Visit>
void for_each_entry(const SparseRows<T, I>& rows, std::size_t i, Visit&& visit) {
    for (std::size_t e = rows.start[i]; e < rows.start[i + 1]; ++e)
        visit(std::size_t{rows.index.data()[e]},
              static_cast<double>(rows.constant.empty() ? rows.value.data()[e] : rows.constant[i]));
    const auto& constant = rows.constant_feature;
    if (constant.value != 0) visit(constant.number, static_cast<double>(constant.value));
}
template <class T, class Visit>
void for_each_entry(const DenseRows<T>& rows, std::size_t i, Visit&& visit) {
    for (std::size_t j = 0; j < rows.columns; ++j) visit(j, static_cast<double>(rows.row(i)[j]));
}

struct Extremes {
    double least = 0, most = 0;  // of projected derivatives; 0 is among them

    void include(double derivative) {
        least = std::min(least, derivative);
        most = std::max(most, derivative);
    }
    double largest() const { return std::max(most, -least); }
};

struct LabelState {
    std::vector<double> b, low, high, target;  // one number per row
    std::vector<double> z;                     // one weight per feature
    std::vector<std::uint32_t> active;
    Extremes seen;                // in this pass
    double lower = 0, upper = 0;  // derivatives beyond which a variable at a bound is dropped

    // The projected derivative of y a (Eq. 31), by y a like everything here.
    double projected(std::size_t i, double h) const {
        if (b[i] <= low[i]) h = std::max(h, 0.0);
        if (b[i] >= high[i]) h = std::min(h, 0.0);
        return h;
    }
    bool is_dropped(std::size_t i, double h) const {
        return (b[i] <= low[i] && h < lower) || (b[i] >= high[i] && h > upper);
    }
    void activate_all() {
        active.clear();
        for (std::uint32_t i = 0; i < b.size(); ++i)
            if (low[i] < high[i]) active.push_back(i);
        lower = -std::numeric_limits<double>::infinity();
        upper = -lower;
    }
};

// Consecutive active variables of a label, between two updates of the other labels.
struct Turn {
    std::uint32_t label, from, to;
};

template <class T, class Storage>
class CoordinateAscent {
  public:
    CoordinateAscent(const LinearTask<T>& task, const Storage& rows)
        : task_(task),
          problem_(task.problem),
          rows_(rows),
          labels_(problem_.labels),
          coupled_(problem_.coupled()),
          change_(coupled_ ? task.rows.features() : 0, 0.0),
          is_changed_(change_.size(), false) {
        for (std::size_t l = 0; l < labels_.size(); ++l) start(l);
        if (task.settings.warm_start) compute_weights();
    }

    void solve() {
        const double tolerance = task_.settings.tolerance;
        std::int64_t variables = 0;
        for (const LabelState& label : labels_)
            variables += static_cast<std::int64_t>(label.active.size());
        const std::int64_t max_visits = task_.settings.max_passes * variables;
        Shuffle shuffle = task_.shuffle(0);
        bool all_active = true;
        while (visits_ < max_visits && !stopped()) {
            const double violation = pass(shuffle);
            task_.progress.violation = violation;
            first_violation_ = std::max(first_violation_, violation);
            turn_size_ = violation < kDelayBelow * first_violation_ ? labels_.size() : 1;
            const bool is_met = violation < tolerance;
            if (is_met && all_active && status().violation < tolerance) break;
            all_active = is_met;
            if (is_met) activate_all();
            else limit_active_sets();
        }
        compute_weights();
        store();
    }

  private:
    // The other labels follow every step until the largest projected derivative has fallen to this
    // share. The paper speaks of "a pre-specified threshold".
    static constexpr double kDelayBelow = 0.1;

    bool stopped() const { return task_.progress.stop.load(std::memory_order_relaxed); }

    void start(std::size_t l) {
        LabelState& label = labels_[l];
        label.target = problem_.targets(l);
        label.low.assign(problem_.rows, 0.0);
        label.high.assign(problem_.rows, 0.0);
        label.b.assign(problem_.rows, 0.0);
        label.z.assign(task_.rows.features(), 0.0);
        for (std::size_t i = 0; i < problem_.rows; ++i)
            label.low[i] = -problem_.bound_irrelevant[l] * problem_.weight(i);
        for (std::size_t i = 0; i < problem_.rows; ++i) {
            for (const std::int32_t k : problem_.relevant.row(i))
                if (static_cast<std::size_t>(k) == l) {
                    label.low[i] = 0;
                    label.high[i] = problem_.bound_relevant[l] * problem_.weight(i);
                }
            for (const std::int32_t k : problem_.unknown.row(i))
                if (static_cast<std::size_t>(k) == l) label.low[i] = 0;
        }
        const T* const dual = dual_of(l);
        for (std::size_t i = 0; i < problem_.rows; ++i)
            label.b[i] =
                std::clamp(static_cast<double>(dual[i * kLanes]), label.low[i], label.high[i]);
        label.activate_all();
    }
    T* dual_of(std::size_t l) const {
        return task_.label_dual(static_cast<std::size_t>(task_.solution.position[l]));
    }

    // A step on every active variable, in turns of random order. Returns the largest projected
    // derivative that was seen.
    double pass(Shuffle& shuffle) {
        std::vector<Turn> turns;
        for (std::uint32_t l = 0; l < labels_.size(); ++l) {
            auto& active = labels_[l].active;
            shuffle(active.data(), active.size());
            labels_[l].seen = {};
            for (std::size_t from = 0; from < active.size(); from += turn_size_)
                turns.push_back(
                    {l, static_cast<std::uint32_t>(from),
                     static_cast<std::uint32_t>(std::min(active.size(), from + turn_size_))});
        }
        shuffle(turns.data(), turns.size());
        for (const Turn& turn : turns) {
            if (stopped()) break;
            take(turn);
        }
        double violation = 0;
        for (LabelState& label : labels_) {
            std::erase(label.active, kDropped);
            violation = std::max(violation, label.seen.largest());
        }
        return violation;
    }
    static constexpr std::uint32_t kDropped = std::numeric_limits<std::uint32_t>::max();

    void take(const Turn& turn) {
        LabelState& label = labels_[turn.label];
        for (std::uint32_t at = turn.from; at < turn.to; ++at) {
            const std::uint32_t i = label.active[at];
            ++visits_;
            const double h = derivative(label, i);
            if (label.is_dropped(i, h)) {
                label.active[at] = kDropped;
                continue;
            }
            const double projected = label.projected(i, h);
            label.seen.include(projected);
            if (projected != 0) step(turn.label, i, h);
        }
        task_.progress.passes = visits_;
        propagate(turn.label);
    }

    double derivative(const LabelState& label, std::size_t i) const {
        double score = 0;
        for_each_entry(rows_, i, [&](std::size_t j, double x) { score += label.z[j] * x; });
        return label.target[i] - 2 * score;
    }

    // Eq. 39, for y a.
    void step(std::size_t l, std::size_t i, double h) {
        LabelState& label = labels_[l];
        const double curvature = 4 * problem_.r(l, l) * task_.rows.squared_norm(i);
        const double before = label.b[i];
        const double by = best_step(h, curvature, label.low[i] - before, label.high[i] - before);
        label.b[i] = std::clamp(before + by, label.low[i], label.high[i]);
        const double moved = label.b[i] - before, own = 2 * problem_.r(l, l) * moved;
        for_each_entry(rows_, i, [&](std::size_t j, double x) {
            label.z[j] += own * x;
            if (!coupled_) return;
            if (!is_changed_[j]) changed_.push_back(j);
            is_changed_[j] = true;
            change_[j] += moved * x;
        });
    }

    // Eqs. 41 to 43: the other labels follow the changes on label l.
    void propagate(std::size_t l) {
        for (std::size_t k = 0; k < labels_.size() && !changed_.empty(); ++k) {
            const double factor = 2 * problem_.r(k, l);
            if (k == l || factor == 0) continue;
            for (const std::size_t j : changed_) labels_[k].z[j] += factor * change_[j];
        }
        for (const std::size_t j : changed_) {
            change_[j] = 0;
            is_changed_[j] = false;
        }
        changed_.clear();
    }

    // Eqs. 44 and 45. A limit of 0 would drop variables that are about to move.
    void limit_active_sets() {
        constexpr double kNone = std::numeric_limits<double>::infinity();
        for (std::size_t l = 0; l < labels_.size(); ++l) {
            double lower = 0, upper = 0;
            for (std::size_t k = 0; k < labels_.size(); ++k) {
                lower = std::min(lower, std::abs(problem_.r(k, l)) * labels_[k].seen.least);
                upper = std::max(upper, std::abs(problem_.r(k, l)) * labels_[k].seen.most);
            }
            labels_[l].lower = lower < 0 ? lower : -kNone;
            labels_[l].upper = upper > 0 ? upper : kNone;
        }
    }
    void activate_all() {
        for (LabelState& label : labels_) label.activate_all();
    }

    // z_l = 2 sum_k R_lk sum_i b_ik x_i
    void compute_weights() {
        std::vector<std::vector<double>> sums(labels_.size());
        for (std::size_t k = 0; k < labels_.size(); ++k) {
            sums[k].assign(task_.rows.features(), 0.0);
            for (std::size_t i = 0; i < problem_.rows; ++i) {
                const double b = labels_[k].b[i];
                if (b == 0) continue;
                for_each_entry(rows_, i, [&](std::size_t j, double x) { sums[k][j] += b * x; });
            }
        }
        for (std::size_t l = 0; l < labels_.size(); ++l) {
            std::fill(labels_[l].z.begin(), labels_[l].z.end(), 0.0);
            for (std::size_t k = 0; k < labels_.size(); ++k) {
                const double factor = 2 * problem_.r(l, k);
                if (factor == 0) continue;
                for (std::size_t j = 0; j < sums[k].size(); ++j)
                    labels_[l].z[j] += factor * sums[k][j];
            }
        }
    }

    SolutionStatus status() const {
        SolutionStatus out;
        for (const LabelState& label : labels_)
            for (std::size_t i = 0; i < problem_.rows; ++i) {
                if (label.low[i] == label.high[i]) continue;
                const double h = derivative(label, i), b = label.b[i];
                out.violation = std::max(out.violation, std::abs(label.projected(i, h)));
                out.gap += (h > 0 ? label.high[i] : label.low[i]) * h - b * h;
                out.dual += b * (label.target[i] + h) / 2;
            }
        return out;
    }

    void store() {
        task_.solution.status = status();
        task_.solution.passes = visits_;
        for (std::size_t l = 0; l < labels_.size(); ++l) {
            T* const dual = dual_of(l);
            for (std::size_t i = 0; i < problem_.rows; ++i)
                dual[i * kLanes] = static_cast<T>(labels_[l].b[i]);
            task_.store_weights(l, labels_[l].z);
        }
        task_.progress.labels_done = static_cast<std::int64_t>(labels_.size());
    }

    const LinearTask<T>& task_;
    const Problem& problem_;
    const Storage& rows_;
    std::vector<LabelState> labels_;
    bool coupled_;
    // The sum of the moved amounts times their rows in this turn, and the features that it has.
    std::vector<double> change_;
    std::vector<bool> is_changed_;
    std::vector<std::size_t> changed_;
    std::size_t turn_size_ = 1;
    double first_violation_ = 0;
    std::int64_t visits_ = 0;
};

}  // namespace

template <class T>
void solve_coordinate_ascent(const Rows<T>& rows, const Problem& problem,
                             const LinearSettings& settings, SolverProgress& progress,
                             LinearSolution<T>& solution) {
    const LinearTask<T> task(rows, problem, settings, progress, solution, FixedWeights<T>{});
    std::visit(
        [&](const auto& storage) {
            CoordinateAscent<T, std::decay_t<decltype(storage)>>(task, storage).solve();
        },
        rows.storage());
    solution.converged = solution.status.violation < settings.tolerance;
}

template void solve_coordinate_ascent(const Rows<float>&, const Problem&, const LinearSettings&,
                                      SolverProgress&, LinearSolution<float>&);
template void solve_coordinate_ascent(const Rows<double>&, const Problem&, const LinearSettings&,
                                      SolverProgress&, LinearSolution<double>&);

}  // namespace tagalong::m3l
