// Python functions of the M3L solvers. A solver runs in its own thread. Every tenth of a second the
// calling thread checks for Ctrl-C and reports the progress.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>

#include "bind/arrays.hpp"
#include "bind/module.hpp"
#include "m3l/coordinate_ascent.hpp"
#include "m3l/joint_smo.hpp"
#include "m3l/kernel_solver.hpp"
#include "m3l/linear_solver.hpp"
#include "m3l/rbf_products.hpp"

namespace tagalong::bind {
namespace {

using m3l::SolverProgress;
using Numbers = VectorOf<double>;
template <class T>
using Grid = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Called regularly with the labels done, the passes, and the largest recent projected derivative.
using ProgressCallback =
    std::optional<nb::typed<nb::callable, void(std::int64_t, std::int64_t, double)>>;
// Returns the kernel products of rows, given by number, with other rows (None: all rows).
using KernelCallback = nb::typed<nb::callable, Grid<float>(VectorOf<std::int32_t>,
                                                           std::optional<VectorOf<std::int32_t>>)>;

std::span<const double> span_of(const Numbers& numbers) {
    return {numbers.data(), numbers.shape(0)};
}

// Runs work in another thread. Returns true if a signal handler or the callback raised an
// exception: the work then ended early.
bool run_with_progress(SolverProgress& progress, const ProgressCallback& callback,
                       const std::function<void()>& work) {
    using namespace std::chrono_literals;
    std::mutex mutex;
    std::condition_variable ended;
    bool done = false, stopped = false;
    std::exception_ptr failure;
    std::thread worker([&] {
        try {
            work();
        } catch (...) {
            failure = std::current_exception();
        }
        const std::lock_guard lock(mutex);
        done = true;
        ended.notify_one();
    });
    for (;;) {
        {
            nb::gil_scoped_release release;
            std::unique_lock lock(mutex);
            ended.wait_for(lock, 100ms, [&] { return done; });
            if (done) break;
        }
        if (stopped) continue;
        stopped = PyErr_CheckSignals() != 0;
        if (!stopped && callback) {
            try {
                (*callback)(progress.labels_done.load(), progress.passes.load(),
                            progress.violation.load());
            } catch (nb::python_error& error) {
                error.restore();
                stopped = true;
            }
        }
        if (stopped) progress.stop = true;
    }
    {
        nb::gil_scoped_release release;
        worker.join();
    }
    // The interruption is reported in the result, not as an exception, so that the solution so far
    // is kept.
    if (stopped) PyErr_Clear();
    if (failure) std::rethrow_exception(failure);
    return stopped;
}

// A problem together with the arrays that own its numbers.
class Problem {
  public:
    Problem(LabelRows relevant, LabelRows unknown, Numbers margin_yes, Numbers margin_no,
            Numbers bound_yes, Numbers bound_no, std::optional<Numbers> row_weight,
            std::optional<Numbers> prior, bool tied, std::optional<Grid<double>> cost)
        : relevant_(std::move(relevant)),
          unknown_(std::move(unknown)),
          margin_yes_(std::move(margin_yes)),
          margin_no_(std::move(margin_no)),
          bound_yes_(std::move(bound_yes)),
          bound_no_(std::move(bound_no)),
          row_weight_(std::move(row_weight)),
          prior_(std::move(prior)),
          tied_(tied),
          cost_(std::move(cost)) {
        const std::size_t rows = relevant_.rows();
        const auto wrong = [&](const Numbers& numbers) { return numbers.shape(0) != labels(); };
        if (wrong(margin_no_) || wrong(bound_yes_) || wrong(bound_no_) || unknown_.rows() != rows ||
            (row_weight_ && row_weight_->shape(0) != rows) ||
            (prior_ && prior_->shape(0) != labels() * labels()) ||
            (cost_ && (cost_->shape(0) != rows || cost_->shape(1) != labels())))
            throw InputError("the arrays of the problem have different numbers of rows or labels");
    }

    std::size_t labels() const { return margin_yes_.shape(0); }
    const std::optional<Numbers>& prior() const { return prior_; }

    // The view that the solvers take. Throws InputError if the problem has another number of rows.
    m3l::Problem view(std::size_t rows) const {
        check_row_count(static_cast<std::int64_t>(rows), relevant_.rows(), "the problem");
        m3l::Problem problem;
        problem.rows = rows;
        problem.labels = labels();
        problem.relevant = sets_of(relevant_);
        problem.unknown = sets_of(unknown_);
        problem.margin_relevant = span_of(margin_yes_);
        problem.margin_irrelevant = span_of(margin_no_);
        problem.bound_relevant = span_of(bound_yes_);
        problem.bound_irrelevant = span_of(bound_no_);
        if (row_weight_) problem.row_weight = span_of(*row_weight_);
        if (prior_) problem.prior = span_of(*prior_);
        problem.tied = tied_;
        if (cost_) problem.cost = {cost_->data(), rows * labels()};
        return problem;
    }

  private:
    static m3l::LabelSets sets_of(const LabelRows& rows) {
        return {{rows.indptr().data(), rows.indptr().shape(0)},
                {rows.indices().data(), rows.indices().shape(0)}};
    }

    LabelRows relevant_, unknown_;
    Numbers margin_yes_, margin_no_, bound_yes_, bound_no_;
    std::optional<Numbers> row_weight_, prior_;
    bool tied_;
    std::optional<Grid<double>> cost_;
};

struct Settings {
    double tolerance;
    int most_passes;
    int threads;
    std::uint64_t seed;
    std::size_t cache_bytes;
    double constant;  // value of the constant feature of the linear solver, 0 for none
    bool smo;         // whether to use the algorithms as the paper has them
    m3l::CgSchedule schedule;
};

// The results that both solvers return.
struct Solution {
    double dual_objective = 0, duality_gap = 0, violation = 0;
    bool converged = false, stopped = false;
    std::int64_t passes = 0;

    template <class Found>
    Solution(const Found& found, std::int64_t passes, bool stopped)
        : dual_objective(found.status.dual),
          duality_gap(found.status.gap),
          violation(found.status.violation),
          converged(found.converged),
          stopped(stopped),
          passes(passes) {}
};
struct LinearSolution : Solution {
    using Solution::Solution;
    NumPy<> dual, weights;  // by blocks of labels; (features, labels)
    NumPy<double> parts;    // dual value, gap and violation of each independent part
    NumPy<std::int32_t> place, features;
};
struct KernelSolution : Solution {
    using Solution::Solution;
    NumPy<double> dual;  // (rows, labels)
    std::size_t cached_rows = 0;
};

std::size_t block_count(std::size_t labels) { return (labels + m3l::kLanes - 1) / m3l::kLanes; }

// Copies dual variables, (rows, labels), into blocks of labels, those from `first` to `last`.
template <class T>
void copy_to_blocks(const Grid<T>& from, const std::vector<std::int32_t>& place, std::size_t first,
                    std::size_t last, AlignedVector<T>& to) {
    const std::size_t n = from.shape(0), labels = from.shape(1);
    to.assign((last - first) * n * m3l::kLanes, T{0});
    for (std::size_t l = 0; l < labels; ++l) {
        const auto at = static_cast<std::size_t>(place[l]), block = at / m3l::kLanes;
        if (block < first || last <= block) continue;
        for (std::size_t i = 0; i < n; ++i)
            to[((block - first) * n + i) * m3l::kLanes + at % m3l::kLanes] =
                from.data()[i * labels + l];
    }
}

void check_start(std::size_t rows, std::size_t columns, const m3l::Problem& problem) {
    if (rows != problem.rows || columns != problem.labels)
        throw InputError("start must have one row per row and one column per label of the problem");
}

// The numbers of fixed weights. Throws InputError unless there is one row per column of the matrix
// and one for the constant feature, if any.
template <class T>
m3l::FixedWeights<T> fixed_weights(const Grid<T>& weights, const MatrixView& x,
                                   const m3l::Problem& problem, double constant) {
    const auto columns = static_cast<std::size_t>(x.matrix.columns) + (constant != 0 ? 1 : 0);
    if (weights.shape(0) != columns || weights.shape(1) != problem.labels)
        throw InputError(
            "fixed weights must have one row per feature, the constant one included, and one "
            "column per label");
    return {weights.data(), columns * problem.labels};
}

using BlockRange = std::tuple<std::size_t, std::size_t>;

template <class T>
LinearSolution solve_linear(const MatrixView& x, const Problem& parts, const Settings& given,
                            std::optional<Grid<T>> start, const ProgressCallback& callback,
                            std::optional<Grid<T>> anchor, std::optional<BlockRange> range) {
    const m3l::Problem problem = parts.view(static_cast<std::size_t>(x.matrix.rows));
    const std::size_t blocks = block_count(problem.labels);
    const auto [first, last] = range.value_or(BlockRange{0, blocks});
    if (first >= last || last > blocks)
        throw InputError("the range of blocks must be within 0 and " + std::to_string(blocks));
    if (range && problem.coupled())
        throw InputError("labels that the prior couples cannot be solved in parts");
    m3l::LinearSettings settings;
    settings.first_block = first;
    settings.last_block = last;
    settings.tolerance = given.tolerance;
    settings.max_passes = given.most_passes;
    settings.threads = given.threads;
    settings.seed = given.seed;
    settings.schedule = given.schedule;
    settings.warm_start = start.has_value();
    m3l::LinearSolution<T> solution;
    if (start) {
        check_start(start->shape(0), start->shape(1), problem);
        copy_to_blocks<T>(*start, m3l::block_positions(problem), first, last, solution.dual);
    }
    m3l::FixedWeights<T> fixed;
    if (anchor) fixed = fixed_weights<T>(*anchor, x, problem, given.constant);
    SolverProgress progress;
    const bool stopped = run_with_progress(progress, callback, [&] {
        const m3l::Rows<T> rows(x.matrix, given.constant);
        if (given.smo) m3l::solve_coordinate_ascent(rows, problem, settings, progress, solution);
        else m3l::solve_linear(rows, problem, settings, progress, solution, fixed);
    });
    LinearSolution out(solution, solution.passes, stopped);
    const std::size_t labels = problem.labels, features = solution.features.size();
    std::vector<double> status;
    for (const m3l::SolutionStatus& each : solution.part_status)
        status.insert(status.end(), {each.dual, each.gap, each.violation});
    out.parts = adopted_as<double>(std::move(status), {solution.part_status.size(), 3});
    out.place = adopted_as<std::int32_t>(std::move(solution.position), {labels});
    out.dual =
        NumPy<>(adopted_as<T>(std::move(solution.dual), {last - first, problem.rows, m3l::kLanes}));
    out.features = adopted_as<std::int32_t>(std::move(solution.features), {features});
    out.weights = NumPy<>(adopted_as<T>(std::move(solution.weights), {features, labels}));
    return out;
}

// Dual value, gap and violation of dual variables, (rows, labels), at the given weights.
template <class T>
std::tuple<double, double, double> evaluate_linear(const MatrixView& x, const Problem& parts,
                                                   const Settings& given, const Grid<T>& dual,
                                                   const Grid<T>& weights) {
    const m3l::Problem problem = parts.view(static_cast<std::size_t>(x.matrix.rows));
    m3l::LinearSettings settings;
    settings.tolerance = given.tolerance;
    settings.threads = given.threads;
    settings.warm_start = true;
    m3l::LinearSolution<T> solution;
    check_start(dual.shape(0), dual.shape(1), problem);
    copy_to_blocks<T>(dual, m3l::block_positions(problem), 0, block_count(problem.labels),
                      solution.dual);
    const auto fixed = fixed_weights<T>(weights, x, problem, given.constant);
    nb::gil_scoped_release release;
    const m3l::Rows<T> rows(x.matrix, given.constant);
    const auto status = m3l::evaluate_linear(rows, problem, settings, fixed, solution);
    return {status.dual, status.gap, status.violation};
}

// Wraps the Python function as the products that the kernel cache takes.
m3l::Products python_products(const KernelCallback& kernel, std::size_t n) {
    const auto ask = [&kernel](std::span<const std::int32_t> which, bool all, std::size_t columns,
                               auto&& take) {
        nb::gil_scoped_acquire acquire;
        Owned<std::int32_t> wanted({which.size()});
        std::copy(which.begin(), which.end(), wanted.data);
        const nb::object numbers = nb::cast(wanted.array);
        const auto found = nb::cast<Grid<float>>(kernel(numbers, all ? nb::none() : numbers));
        if (found.shape(0) != which.size() || found.shape(1) != columns)
            throw InputError("the kernel must return one number per pair of rows");
        for (std::size_t i = 0; i < which.size() * columns; ++i)
            if (!std::isfinite(found.data()[i])) {
                const std::size_t other =
                    all ? i % columns : static_cast<std::size_t>(which[i % columns]);
                throw InputError("kernel: the product of rows " +
                                 std::to_string(which[i / columns]) + " and " +
                                 std::to_string(other) + " is " +
                                 format_number(static_cast<double>(found.data()[i])) +
                                 "; products must be finite");
            }
        for (std::size_t k = 0; k < which.size(); ++k) take(k, found.data() + k * columns);
    };
    m3l::Products out;
    out.rows = [ask, n](std::span<const std::int32_t> which, std::span<float* const> to) {
        ask(which, true, n, [&](std::size_t k, const float* row) { std::copy_n(row, n, to[k]); });
    };
    out.among = [ask](std::span<const std::int32_t> which, float* to) {
        const std::size_t n = which.size();
        ask(which, false, n,
            [&](std::size_t k, const float* row) { std::copy_n(row, n, to + k * n); });
    };
    return out;
}

template <class T>
m3l::Products rbf_products(const Matrix& x, double gamma) {
    const auto made = std::make_shared<const m3l::RbfProducts<T>>(x, gamma);
    m3l::Products out;
    out.rows = [made](std::span<const std::int32_t> which, std::span<float* const> to) {
        made->rows(which, to);
    };
    out.among = [made](std::span<const std::int32_t> which, float* to) { made->among(which, to); };
    out.concurrent = true;
    return out;
}

KernelSolution solve_products(std::span<const double> diagonal, m3l::Products products,
                              const Problem& parts, const Settings& given,
                              std::optional<Grid<double>> start, const ProgressCallback& callback) {
    const m3l::Problem problem = parts.view(diagonal.size());
    m3l::KernelSettings settings;
    settings.tolerance = given.tolerance;
    settings.max_steps = given.most_passes;
    settings.threads = given.threads;
    m3l::KernelSolution solution;
    if (start) {
        check_start(start->shape(0), start->shape(1), problem);
        solution.dual.assign(start->data(), start->data() + problem.rows * problem.labels);
    }
    m3l::KernelCache cache(problem.rows, given.cache_bytes, std::move(products));
    SolverProgress progress;
    const bool stopped = run_with_progress(progress, callback, [&] {
        const auto solve = given.smo ? m3l::solve_joint_smo : m3l::solve_kernel;
        solve(problem, diagonal, cache, settings, progress, solution);
    });
    KernelSolution out(solution, solution.steps, stopped);
    out.cached_rows = cache.slots();
    out.dual = adopted_as<double>(std::move(solution.dual), {problem.rows, problem.labels});
    return out;
}

KernelSolution solve_kernel(const Numbers& diagonal, const Problem& parts, const Settings& settings,
                            const KernelCallback& kernel, std::optional<Grid<double>> start,
                            const ProgressCallback& callback) {
    auto products = python_products(kernel, diagonal.shape(0));
    return solve_products(span_of(diagonal), std::move(products), parts, settings, std::move(start),
                          callback);
}

KernelSolution solve_rbf(const MatrixView& x, double gamma, const Problem& parts,
                         const Settings& settings, std::optional<Grid<double>> start,
                         const ProgressCallback& callback) {
    const std::vector<double> diagonal(static_cast<std::size_t>(x.matrix.rows), 1.0);
    auto products = x.matrix.value_type == Number::float32 ? rbf_products<float>(x.matrix, gamma)
                                                           : rbf_products<double>(x.matrix, gamma);
    return solve_products(diagonal, std::move(products), parts, settings, std::move(start),
                          callback);
}

template <class Found>
nb::class_<Found> add_solution(nb::module_& module, const char* name) {
    return nb::class_<Found>(module, name)
        .def_ro("dual_objective", &Found::dual_objective)
        .def_ro("duality_gap", &Found::duality_gap)
        .def_ro("violation", &Found::violation)
        .def_ro("converged", &Found::converged)
        .def_ro("stopped", &Found::stopped)
        .def_ro("passes", &Found::passes)
        .def_ro("dual", &Found::dual, kArray);
}

}  // namespace

void add_m3l(nb::module_& module) {
    nb::class_<Problem>(module, "M3LProblem")
        .def(nb::init<LabelRows, LabelRows, Numbers, Numbers, Numbers, Numbers,
                      std::optional<Numbers>, std::optional<Numbers>, bool,
                      std::optional<Grid<double>>>(),
             nb::kw_only(), nb::arg("relevant"), nb::arg("unknown"), nb::arg("margin_yes"),
             nb::arg("margin_no"), nb::arg("bound_yes"), nb::arg("bound_no"),
             nb::arg("row_weight") = nb::none(), nb::arg("prior") = nb::none(),
             nb::arg("tied") = false, nb::arg("cost") = nb::none())
        .def_prop_ro("labels", &Problem::labels)
        .def_prop_ro("prior", &Problem::prior);
    nb::class_<Settings>(module, "M3LSettings")
        .def(
            "__init__",
            [](Settings* self, double tolerance, int most_passes, int threads, std::uint64_t seed,
               std::size_t cache_bytes, double constant, bool smo, int coordinate_passes,
               int cg_steps) {
                if (coordinate_passes < 1 || cg_steps < 0)
                    throw InputError("coordinate_passes must be at least 1, cg_steps at least 0");
                new (self)
                    Settings{tolerance,   most_passes, threads, seed,
                             cache_bytes, constant,    smo,     {coordinate_passes, cg_steps}};
            },
            nb::kw_only(), nb::arg("tolerance"), nb::arg("most_passes"), nb::arg("threads"),
            nb::arg("seed"), nb::arg("cache_bytes"), nb::arg("constant") = 0.0,
            nb::arg("smo") = false,
            nb::arg("coordinate_passes") = m3l::CgSchedule{}.coordinate_passes,
            nb::arg("cg_steps") = m3l::CgSchedule{}.steps)
        .def("__getstate__",
             [](const Settings& self) {
                 return std::tuple(self.tolerance, self.most_passes, self.threads, self.seed,
                                   self.cache_bytes, self.constant, self.smo,
                                   self.schedule.coordinate_passes, self.schedule.steps);
             })
        .def(
            "__setstate__",
            [](Settings& self, const std::tuple<double, int, int, std::uint64_t, std::size_t,
                                                double, bool, int, int>& state) {
                const auto& [tolerance, passes, threads, seed, cache_bytes, constant, smo,
                             coordinate_passes, cg_steps] = state;
                new (&self) Settings{tolerance,   passes,   threads, seed,
                                     cache_bytes, constant, smo,     {coordinate_passes, cg_steps}};
            },
            nb::arg("state"))
        .def_ro("tolerance", &Settings::tolerance)
        .def_ro("most_passes", &Settings::most_passes)
        .def_ro("threads", &Settings::threads)
        .def_ro("seed", &Settings::seed)
        .def_ro("cache_bytes", &Settings::cache_bytes)
        .def_ro("constant", &Settings::constant);
    add_solution<LinearSolution>(module, "M3LLinearSolution")
        .def_ro("weights", &LinearSolution::weights, kArray)
        .def_ro("parts", &LinearSolution::parts, kArray)
        .def_ro("place", &LinearSolution::place, kArray)
        .def_ro("features", &LinearSolution::features, kArray);
    add_solution<KernelSolution>(module, "M3LKernelSolution")
        .def_ro("cached_rows", &KernelSolution::cached_rows);
    module.def("m3l_linear32", &solve_linear<float>, nb::arg("x"), nb::arg("problem"),
               nb::arg("settings"), nb::arg("start") = nb::none(), nb::arg("progress") = nb::none(),
               nb::arg("anchor") = nb::none(), nb::arg("blocks") = nb::none());
    module.def("m3l_linear64", &solve_linear<double>, nb::arg("x"), nb::arg("problem"),
               nb::arg("settings"), nb::arg("start") = nb::none(), nb::arg("progress") = nb::none(),
               nb::arg("anchor") = nb::none(), nb::arg("blocks") = nb::none());
    module.def("m3l_evaluate32", &evaluate_linear<float>, nb::arg("x"), nb::arg("problem"),
               nb::arg("settings"), nb::arg("dual"), nb::arg("weights"));
    module.def("m3l_evaluate64", &evaluate_linear<double>, nb::arg("x"), nb::arg("problem"),
               nb::arg("settings"), nb::arg("dual"), nb::arg("weights"));
    module.attr("M3L_LANES") = m3l::kLanes;
    module.def("m3l_kernel", &solve_kernel, nb::arg("diagonal"), nb::arg("problem"),
               nb::arg("settings"), nb::arg("between"), nb::arg("start") = nb::none(),
               nb::arg("progress") = nb::none());
    module.def("m3l_rbf", &solve_rbf, nb::arg("x"), nb::arg("gamma"), nb::arg("problem"),
               nb::arg("settings"), nb::arg("start") = nb::none(),
               nb::arg("progress") = nb::none());
    // Throws InputError unless all rows are finite and short enough for single precision.
    module.def(
        "m3l_check",
        [](const MatrixView& x) {
            nb::gil_scoped_release release;
            x.matrix.check(static_cast<double>(std::numeric_limits<float>::max()));
        },
        nb::arg("x"));
}

}  // namespace tagalong::bind
