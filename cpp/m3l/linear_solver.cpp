#include "m3l/linear_solver.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <variant>

#include "m3l/block.hpp"
#include "m3l/label.hpp"
#include "m3l/label_turns.hpp"
#include "m3l/threads.hpp"

namespace tagalong::m3l {
namespace {

constexpr double kRare = 0.1;             // a label relevant for fewer rows starts from "never relevant"
constexpr std::size_t kFewest = kLanes;   // labels for which that start pays
constexpr int kRoundsOfShares = 20;
// Blocks that take turns.
constexpr double kAim = 0.8;         // of the tolerance: the last steps move what was measured before
constexpr double kShareOfAll = 0.3;  // of the violation that is left when all variables are looked at again
constexpr int kPassesATurn = 3;      // solving a block further would be for nothing, as the others move too
constexpr int kSweeps = 100;         // before all variables are looked at again
constexpr std::uint64_t kAStep = 0xD1342543DE82EF95u;  // between the seeds of blocks

template <class T>
class LinearSolver {
  public:
    LinearSolver(const Rows<T>& rows, const Problem& problem, const LinearSettings& settings, SolverProgress& watch,
                 LinearSolution<T>& solution)
        : rows_(rows), problem_(problem), settings_(settings), watch_(watch), out_(solution),
          numbers_(rows, problem) {
        out_.place = block_places(problem);
        ordered_.resize(problem.labels);
        for (std::size_t l = 0; l < problem.labels; ++l) ordered_[out_.place[l]] = static_cast<std::int32_t>(l);
        blocks_ = (problem.labels + kLanes - 1) / kLanes;
        if (!settings.resume) out_.dual.assign(blocks_ * rows.size() * kLanes, T{0});
        out_.features = rows.feature();
        std::sort(out_.features.begin(), out_.features.end());
        out_.weights.assign(rows.features() * problem.labels, T{0});
        row_of_.resize(rows.features());
        for (std::size_t j = 0; j < row_of_.size(); ++j) {
            const auto at = std::lower_bound(out_.features.begin(), out_.features.end(), rows.feature()[j]);
            row_of_[j] = static_cast<std::size_t>(at - out_.features.begin());
        }
    }

    void solve() {
        if (problem_.coupled()) solve_coupled();
        else solve_apart();
        out_.converged = out_.standing.violation < settings_.tolerance;
    }

  private:
    std::span<const std::int32_t> labels_of(std::size_t block) const {
        return std::span(ordered_).subspan(block * kLanes, std::min(kLanes, problem_.labels - block * kLanes));
    }
    T* dual_of(std::size_t block) { return out_.dual.data() + block * rows_.size() * kLanes; }
    Shuffle shuffle_of(std::size_t block) const { return Shuffle(settings_.seed * kAStep + block); }
    Block<T> make_block(std::size_t block, BlockSpace<T>& space) {
        return {rows_, numbers_, problem_, labels_of(block), dual_of(block), space};
    }

    void hand_out(const Block<T>& block, const AlignedVector<T>& weights) {
        const auto labels = block.labels();
        for (std::size_t j = 0; j < rows_.features(); ++j)
            for (std::size_t k = 0; k < labels.size(); ++k)
                out_.weights[row_of_[j] * problem_.labels + labels[k]] = weights[j * kLanes + k];
    }

    void solve_apart() {
        if (const auto* rows = std::get_if<DenseRows<T>>(&rows_.any())) {
            solve_labels(*rows);
            return;
        }
        if (!settings_.resume) start_rare_labels();
        solve_blocks();
    }

    void solve_blocks() {
        std::vector<Standing> standings(blocks_);
        std::vector<int> passes(blocks_, 0);
        for_each_of(blocks_, settings_.threads, [&](std::size_t b) {
            BlockSpace<T> space(rows_.features());
            Block<T> block = make_block(b, space);
            Shuffle shuffle = shuffle_of(b);
            block.weigh();
            passes[b] = block.solve(settings_.tolerance, settings_.most_passes, shuffle, watch_, standings[b]);
            hand_out(block, space.weights);
            watch_.labels_done += static_cast<std::int64_t>(block.labels().size());
            watch_.violation = standings[b].violation;
        });
        add_up(standings, passes);
    }

    void solve_labels(const DenseRows<T>& rows) {
        const std::size_t labels = problem_.labels;
        const RowsOfLabels relevant(problem_.relevant, problem_.rows, labels);
        const RowsOfLabels unknown(problem_.unknown, problem_.rows, labels);
        std::vector<Standing> standings(labels);
        std::vector<int> passes(labels, 0);
        for_each_of(labels, settings_.threads, [&](std::size_t at) {
            const auto l = static_cast<std::size_t>(ordered_[at]);
            T* const dual = dual_of(at / kLanes) + at % kLanes;
            Label<T> label(rows, numbers_, problem_, l, relevant.of(l), unknown.of(l), dual, kLanes);
            Shuffle shuffle = shuffle_of(at);
            passes[at] = label.solve(settings_.tolerance, settings_.most_passes, shuffle, watch_, standings[at]);
            label.put(dual, kLanes);
            for (std::size_t j = 0; j < rows_.features(); ++j)
                out_.weights[row_of_[j] * labels + l] = label.weights()[j];
            watch_.labels_done += 1;
            watch_.violation = standings[at].violation;
        });
        add_up(standings, passes);
    }

    void solve_coupled() {
        if (const auto* rows = std::get_if<DenseRows<T>>(&rows_.any())) {
            solve_labels_in_turn(*rows);
            return;
        }
        if (!settings_.resume) start_rare_labels();
        solve_in_turn();
    }

    void solve_labels_in_turn(const DenseRows<T>& rows) {
        const RowsOfLabels relevant(problem_.relevant, problem_.rows, problem_.labels);
        const RowsOfLabels unknown(problem_.unknown, problem_.rows, problem_.labels);
        LabelTurns<T> turns(problem_, ordered_, rows.stride, settings_.threads);
        for (std::size_t at = 0; at < ordered_.size(); ++at) {
            const auto l = static_cast<std::size_t>(ordered_[at]);
            T* const dual = dual_of(at / kLanes) + at % kLanes;
            turns.add({rows, numbers_, problem_, l, relevant.of(l), unknown.of(l), dual, kLanes}, shuffle_of(at));
        }
        out_.passes = turns.solve(settings_.tolerance, settings_.most_passes, watch_, out_.standing);
        for (std::size_t at = 0; at < ordered_.size(); ++at) {
            const Label<T>& label = turns.labels()[at];
            label.put(dual_of(at / kLanes) + at % kLanes, kLanes);
            for (std::size_t j = 0; j < rows_.features(); ++j)
                out_.weights[row_of_[j] * problem_.labels + ordered_[at]] = label.weights()[j];
        }
        watch_.labels_done = static_cast<std::int64_t>(problem_.labels);
    }

    void add_up(const std::vector<Standing>& standings, const std::vector<int>& passes) {
        for (const Standing& each : standings) {
            out_.standing.dual += each.dual;
            out_.standing.gap += each.gap;
            out_.standing.violation = std::max(out_.standing.violation, each.violation);
        }
        for (const int each : passes) out_.passes = std::max<std::int64_t>(out_.passes, each);
    }

    // Rare labels are nearly the label that is never relevant, solved once for all of them; their
    // few relevant rows start at zero. That needs labels which differ in nothing else.
    void start_rare_labels() {
        if (problem_.tied) return;
        const std::size_t n = rows_.size();
        std::vector<std::size_t> relevant(problem_.labels, 0);
        std::vector<char> fits(problem_.labels, 1);
        for (const std::int32_t label : problem_.relevant.label) ++relevant[label];
        for (const std::int32_t label : problem_.unknown.label) fits[label] = 0;
        std::int32_t model = -1;
        std::size_t count = 0;
        const auto is_like = [&](std::size_t l, std::size_t k) {
            return problem_.margin_no[l] == problem_.margin_no[k] && problem_.bound_no[l] == problem_.bound_no[k] &&
                   problem_.r(l, l) == problem_.r(k, k);
        };
        for (const std::int32_t label : ordered_) {
            const auto l = static_cast<std::size_t>(label);
            fits[l] &= static_cast<double>(relevant[l]) < kRare * static_cast<double>(n);
            if (fits[l] && model < 0) model = label;
            if (fits[l]) fits[l] = is_like(l, static_cast<std::size_t>(model));
            count += fits[l];
        }
        if (count < kFewest) return;
        const std::vector<T> never = solve_never(model);
        const std::vector<double> share = shares_of(never, static_cast<std::size_t>(model), fits);
        for (std::size_t at = 0; at < ordered_.size(); ++at) {
            if (!fits[ordered_[at]]) continue;
            T* dual = dual_of(at / kLanes) + at % kLanes;
            const auto part = static_cast<T>(share[ordered_[at]]);
            for (std::size_t i = 0; i < n; ++i) dual[i * kLanes] = part * never[i];
        }
        for (std::size_t i = 0; i < n; ++i)
            for (const std::int32_t label : problem_.relevant.row(i)) {
                const auto at = static_cast<std::size_t>(out_.place[label]);
                if (fits[label]) dual_of(at / kLanes)[i * kLanes + at % kLanes] = 0;
            }
    }

    // Labels that the prior couples would together have too much of it: how much each takes, from none to
    // all. If label l has s_l of the variables b, the dual objective is a sum_l s_l - c s'R s / 2 with
    // a = t'b and c = 4 |v|^2, of which coordinate steps find nearly the maximum.
    std::vector<double> shares_of(const std::vector<T>& never, std::size_t model, const std::vector<char>& fits) {
        std::vector<double> share(fits.begin(), fits.end());
        if (!problem_.coupled()) return share;
        double sum = 0;
        AlignedVector<double> v(rows_.features(), 0.0);
        for (std::size_t i = 0; i < never.size(); ++i) {
            sum -= problem_.margin_no[model] * static_cast<double>(never[i]);
            std::visit([&](const auto& rows) { rows.add_to(i, static_cast<double>(never[i]), v.data()); }, rows_.any());
        }
        double curvature = 0;
        for (const double each : v) curvature += 4 * each * each;
        for (int round = 0; round < kRoundsOfShares; ++round)
            for (std::size_t l = 0; l < share.size(); ++l) {
                if (!fits[l]) continue;
                double pulled = 0;
                for (std::size_t k = 0; k < share.size(); ++k) pulled += problem_.r(l, k) * share[k];
                const double steep = curvature * problem_.r(l, l);
                if (steep > 0) share[l] = std::clamp(share[l] + (sum - curvature * pulled) / steep, 0.0, 1.0);
            }
        return share;
    }

    // The dual variables of a label if it were never relevant. The memory of a block that has not begun
    // is where they are found.
    std::vector<T> solve_never(std::int32_t label) {
        T* const dual = dual_of(blocks_ - 1);
        BlockSpace<T> space(rows_.features());
        Block<T> block(rows_, numbers_, problem_, std::span(&label, 1), dual, space);
        block.forget_relevant();
        Shuffle shuffle = shuffle_of(blocks_);
        Standing standing;
        block.solve(settings_.tolerance, settings_.most_passes, shuffle, watch_, standing);
        std::vector<T> out(rows_.size());
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = dual[i * kLanes];
        std::fill_n(dual, rows_.size() * kLanes, T{0});
        return out;
    }

    // 2 R_kl for the labels l of block b and k of block c, kLanes numbers for each k.
    struct Bonds {
        AlignedVector<T> r;
        Mask bound = 0;  // the labels k for which they are not all 0
    };
    Bonds bonds(std::size_t b, std::size_t c) const {
        Bonds out{AlignedVector<T>(kLanes * kLanes, T{0})};
        const auto mine = labels_of(b), others = labels_of(c);
        for (std::size_t k = 0; k < others.size(); ++k)
            for (std::size_t l = 0; l < mine.size(); ++l) {
                out.r[k * kLanes + l] = static_cast<T>(2 * problem_.r(others[k], mine[l]));
                if (out.r[k * kLanes + l] != 0) out.bound |= static_cast<Mask>(1u << k);
            }
        return out;
    }

    void solve_in_turn() {
        const std::size_t n = rows_.features();
        std::vector<Bonds> bonds_of;
        for (std::size_t b = 0; b < blocks_; ++b)
            for (std::size_t c = 0; c < blocks_; ++c) bonds_of.push_back(bonds(b, c));
        std::vector<AlignedVector<T>> z(blocks_, AlignedVector<T>(n * kLanes, T{0}));
        BlockSpace<T> space(n);
        AlignedVector<T>& v = space.weights;  // which blocks do not need, as they have theirs: zeros between turns
        // What each block has changed in its last turn: every other one pulls that once, before the next.
        std::vector<Changes<T>> changes(blocks_);
        std::vector<Block<T>> all;
        std::vector<Shuffle> shuffles;
        for (std::size_t b = 0; b < blocks_; ++b) {
            all.push_back(make_block(b, space));
            all.back().work_on(z[b].data());
            shuffles.push_back(shuffle_of(b));
        }
        const auto pull_for = [&](std::size_t b, bool itself) {
            for_each_of((n + Changes<T>::kPart - 1) / Changes<T>::kPart, settings_.threads, [&](std::size_t part) {
                for (std::size_t c = 0; c < blocks_; ++c)
                    if (const Bonds& each = bonds_of[b * blocks_ + c];
                        each.bound != 0 && (itself || c != b) && !changes[c].feature.empty())
                        pull(changes[c], part, each.r.data(), each.bound, z[b].data());
            });
        };
        // Where all variables stand, at one point; rounding errors of z are forgotten.
        const auto stand = [&] {
            Standing out;
            for (std::size_t b = 0; b < blocks_; ++b) {
                all[b].collect_sums();
                std::copy(space.sums.begin(), space.sums.end(), v.begin());
                take_changes(v, changes[b]);
            }
            for (std::size_t b = 0; b < blocks_; ++b) {
                std::fill(z[b].begin(), z[b].end(), T{0});
                pull_for(b, true);
                const Standing found = all[b].check(settings_.tolerance);
                out.dual += found.dual;
                out.gap += found.gap;
                out.violation = std::max(out.violation, found.violation);
            }
            for (Changes<T>& each : changes) each.clear();
            return out;
        };
        const auto blocks = static_cast<std::int64_t>(blocks_);
        const std::int64_t begun = watch_.passes, most = settings_.most_passes * blocks;
        const auto ended = [&] { return watch_.passes - begun >= most || watch_.stop.load(std::memory_order_relaxed); };
        for (;;) {
            const Standing standing = out_.standing = stand();
            watch_.violation = standing.violation;
            if (standing.violation < settings_.tolerance || ended()) break;
            const double enough = std::max(kAim * settings_.tolerance, kShareOfAll * standing.violation);
            double met = enough;
            for (int sweep = 0; sweep < kSweeps && met >= enough && !ended(); ++sweep) {
                met = 0;
                for (std::size_t b = 0; b < blocks_; ++b) {
                    pull_for(b, false);
                    met = std::max(met, all[b].take_turn(enough, kPassesATurn, shuffles[b], watch_, v.data()));
                    take_changes(v, changes[b]);
                }
            }
        }
        out_.passes = (watch_.passes - begun + blocks - 1) / blocks;
        for (std::size_t b = 0; b < blocks_; ++b) hand_out(all[b], z[b]);
        watch_.labels_done = static_cast<std::int64_t>(problem_.labels);
    }

    const Rows<T>& rows_;
    const Problem& problem_;
    const LinearSettings& settings_;
    SolverProgress& watch_;
    LinearSolution<T>& out_;
    RowNumbers<T> numbers_;
    std::vector<std::int32_t> ordered_;
    std::vector<std::size_t> row_of_;
    std::size_t blocks_ = 0;
};

// Labels that move each other most share a block: there they take turns at every row. A block
// begins with the first label left and takes the one most bound to its labels, until it is full.
void bring_together(const Problem& problem, std::vector<std::int32_t>& ordered) {
    std::vector<std::int32_t> left;
    left.swap(ordered);
    const auto r = [&](std::int32_t a, std::int32_t b) {
        return problem.r(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
    };
    while (!left.empty()) {
        std::vector<double> bond(problem.labels, 0.0);
        for (std::size_t k = 0; k < kLanes && !left.empty(); ++k) {
            const auto next = k == 0 ? left.begin()
                                     : std::max_element(left.begin(), left.end(), [&](std::int32_t a, std::int32_t b) {
                                           return bond[a] < bond[b];
                                       });
            const std::int32_t chosen = *next;
            left.erase(next);
            ordered.push_back(chosen);
            for (const std::int32_t other : left) {
                const double both = r(chosen, chosen) * r(other, other);
                if (both > 0) bond[other] += std::abs(r(chosen, other)) / std::sqrt(both);
            }
        }
    }
}

}  // namespace

std::vector<std::int32_t> block_places(const Problem& problem) {
    std::vector<std::size_t> relevant(problem.labels, 0);
    for (const std::int32_t label : problem.relevant.label) ++relevant[label];
    std::vector<std::int32_t> ordered(problem.labels), place(problem.labels);
    std::iota(ordered.begin(), ordered.end(), 0);
    std::stable_sort(ordered.begin(), ordered.end(),
                     [&](std::int32_t a, std::int32_t b) { return relevant[a] > relevant[b]; });
    if (problem.coupled()) bring_together(problem, ordered);
    for (std::size_t at = 0; at < ordered.size(); ++at) place[ordered[at]] = static_cast<std::int32_t>(at);
    return place;
}

template <class T>
void solve_linear(const Rows<T>& rows, const Problem& problem, const LinearSettings& settings, SolverProgress& watch,
                  LinearSolution<T>& solution) {
    LinearSolver<T>(rows, problem, settings, watch, solution).solve();
}

template void solve_linear(const Rows<float>&, const Problem&, const LinearSettings&, SolverProgress&, LinearSolution<float>&);
template void solve_linear(const Rows<double>&, const Problem&, const LinearSettings&, SolverProgress&, LinearSolution<double>&);

}  // namespace tagalong::m3l
