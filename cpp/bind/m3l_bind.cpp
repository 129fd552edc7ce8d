// The solvers of M3L for Python. They work in a thread of their own; the calling one looks every
// tenth of a second whether the user wants to stop, and says how far they are.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "bind/arrays.hpp"
#include "m3l/kernel_solver.hpp"
#include "m3l/linear_solver.hpp"
#include "m3l/rbf_products.hpp"
#include "bind/module.hpp"

namespace tagalong::bind {
namespace {

using m3l::SolverProgress;
using Numbers = VectorOf<double>;
template <class T>
using Grid = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<const double> span_of(const Numbers& numbers) { return {numbers.data(), numbers.shape(0)}; }

// Runs work in another thread. True if the user has stopped it: then it has come to its end early,
// and the exception that a signal handler or the callback has raised waits to be thrown.
template <class Work>
bool run_with_progress(SolverProgress& watch, const nb::object& progress, Work&& work) {
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
        if (!stopped && !progress.is_none()) {
            try {
                progress(watch.labels_done.load(), watch.passes.load(), watch.violation.load());
            } catch (nb::python_error& error) {
                error.restore();
                stopped = true;
            }
        }
        if (stopped) watch.stop = true;
    }
    {
        nb::gil_scoped_release release;
        worker.join();
    }
    // An interruption is told by the result, so that what was reached is not lost.
    if (stopped) PyErr_Clear();
    if (failure) std::rethrow_exception(failure);
    return stopped;
}

m3l::Problem make_problem(std::size_t rows, const nb::dict& parts) {
    m3l::Problem problem;
    const auto sets = [&](const char* start, const char* label) {
        const auto starts = nb::cast<VectorOf<std::int64_t>>(parts[start]);
        const auto labels = nb::cast<VectorOf<std::int32_t>>(parts[label]);
        return m3l::LabelSets{{starts.data(), starts.shape(0)}, {labels.data(), labels.shape(0)}};
    };
    problem.rows = rows;
    problem.relevant = sets("relevant_start", "relevant");
    problem.unknown = sets("unknown_start", "unknown");
    problem.margin_yes = span_of(nb::cast<Numbers>(parts["margin_yes"]));
    problem.margin_no = span_of(nb::cast<Numbers>(parts["margin_no"]));
    problem.bound_yes = span_of(nb::cast<Numbers>(parts["bound_yes"]));
    problem.bound_no = span_of(nb::cast<Numbers>(parts["bound_no"]));
    problem.labels = problem.margin_yes.size();
    problem.tied = nb::cast<bool>(parts["tied"]);
    if (!parts["row_weight"].is_none()) problem.row_weight = span_of(nb::cast<Numbers>(parts["row_weight"]));
    if (!parts["prior"].is_none()) problem.prior = span_of(nb::cast<Numbers>(parts["prior"]));
    const auto wrong = [&](std::span<const double> numbers) { return numbers.size() != problem.labels; };
    if (wrong(problem.margin_no) || wrong(problem.bound_yes) || wrong(problem.bound_no) ||
        problem.relevant.start.size() != rows + 1 || problem.unknown.start.size() != rows + 1 ||
        (!problem.row_weight.empty() && problem.row_weight.size() != rows) ||
        (!problem.prior.empty() && problem.prior.size() != problem.labels * problem.labels))
        throw InputError("the parts of the problem do not fit together");
    return problem;
}

void add_standing(nb::dict& out, const m3l::Standing& standing) {
    out["dual_objective"] = standing.dual;
    out["duality_gap"] = standing.gap;
    out["violation"] = standing.violation;
}

// Memory that a native vector has made, as an array.
template <class V, class Vector>
nb::object handed_over(Vector&& from, std::vector<std::size_t> shape) {
    auto* owned = new std::decay_t<Vector>(std::move(from));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::decay_t<Vector>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, V>(owned->data(), shape.size(), shape.data(), owner));
}

// Dual variables a label, (rows, labels), into blocks.
template <class T>
void spread(const Grid<T>& from, const std::vector<std::int32_t>& place, AlignedVector<T>& to) {
    const std::size_t n = from.shape(0), labels = from.shape(1);
    to.assign((labels + m3l::kLanes - 1) / m3l::kLanes * n * m3l::kLanes, T{0});
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t l = 0; l < labels; ++l) {
            const auto at = static_cast<std::size_t>(place[l]);
            to[(at / m3l::kLanes * n + i) * m3l::kLanes + at % m3l::kLanes] = from.data()[i * labels + l];
        }
}

template <class T>
nb::dict solve_linear(const MatrixView& x, const nb::dict& parts, const nb::dict& config,
                      std::optional<Grid<T>> start, const nb::object& progress) {
    const m3l::Problem problem = make_problem(static_cast<std::size_t>(x.matrix.rows), parts);
    m3l::LinearSettings settings;
    settings.tolerance = nb::cast<double>(config["tolerance"]);
    settings.most_passes = nb::cast<int>(config["most_passes"]);
    settings.threads = nb::cast<int>(config["threads"]);
    settings.seed = nb::cast<std::uint64_t>(config["seed"]);
    settings.resume = start.has_value();
    m3l::LinearSolution<T> solution;
    if (start) {
        if (start->shape(0) != problem.rows || start->shape(1) != problem.labels)
            throw InputError("the start does not fit the problem");
        spread<T>(*start, m3l::block_places(problem), solution.dual);
    }
    SolverProgress watch;
    const bool stopped = run_with_progress(watch, progress, [&] {
        const m3l::Rows<T> rows(x.matrix);
        m3l::solve_linear(rows, problem, settings, watch, solution);
    });
    nb::dict out;
    add_standing(out, solution.standing);
    out["converged"] = solution.converged;
    out["stopped"] = stopped;
    out["passes"] = solution.passes;
    const std::size_t labels = problem.labels, features = solution.features.size();
    const std::size_t blocks = (labels + m3l::kLanes - 1) / m3l::kLanes;
    out["place"] = handed_over<std::int32_t>(std::move(solution.place), {labels});
    out["dual"] = handed_over<T>(std::move(solution.dual), {blocks, problem.rows, m3l::kLanes});
    out["features"] = handed_over<std::int32_t>(std::move(solution.features), {features});
    out["weights"] = handed_over<T>(std::move(solution.weights), {features, labels});
    return out;
}

// Python's function for products of rows with rows, as the cache wants it. It is given the numbers of
// both; None for all rows.
m3l::Products python_products(const nb::object& between, std::size_t n) {
    const auto ask = [&between](std::span<const std::int32_t> which, bool all, std::size_t columns, auto&& take) {
        nb::gil_scoped_acquire acquire;
        Owned<std::int32_t> wanted({which.size()});
        std::copy(which.begin(), which.end(), wanted.data);
        const nb::object numbers = wanted.object();
        const auto found = nb::cast<Grid<float>>(between(numbers, all ? nb::none() : numbers));
        if (found.shape(0) != which.size() || found.shape(1) != columns)
            throw InputError("the kernel must have a number for each pair of rows");
        for (std::size_t i = 0; i < which.size() * columns; ++i)
            if (!std::isfinite(found.data()[i])) {
                const std::size_t other = all ? i % columns : static_cast<std::size_t>(which[i % columns]);
                throw InputError("kernel: the product of rows " + std::to_string(which[i / columns]) + " and " +
                                 std::to_string(other) + " is " + in_words(static_cast<double>(found.data()[i])) +
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
        ask(which, false, n, [&](std::size_t k, const float* row) { std::copy_n(row, n, to + k * n); });
    };
    return out;
}

template <class T>
m3l::Products rbf_products(const Matrix& x, double gamma) {
    const auto made = std::make_shared<const m3l::RbfProducts<T>>(x, gamma);
    m3l::Products out;
    out.rows = [made](std::span<const std::int32_t> which, std::span<float* const> to) { made->rows(which, to); };
    out.among = [made](std::span<const std::int32_t> which, float* to) { made->among(which, to); };
    out.concurrent = true;
    return out;
}

nb::dict solve_products(std::span<const double> diagonal, m3l::Products products, const nb::dict& parts,
                        const nb::dict& config, std::optional<Grid<double>> start, const nb::object& progress) {
    const m3l::Problem problem = make_problem(diagonal.size(), parts);
    m3l::KernelSettings settings;
    settings.tolerance = nb::cast<double>(config["tolerance"]);
    settings.most_steps = nb::cast<std::int64_t>(config["most_passes"]);
    settings.threads = nb::cast<int>(config["threads"]);
    m3l::KernelSolution solution;
    if (start) {
        if (start->shape(0) != problem.rows || start->shape(1) != problem.labels)
            throw InputError("the start does not fit the problem");
        solution.dual.assign(start->data(), start->data() + problem.rows * problem.labels);
    }
    m3l::KernelCache cache(problem.rows, nb::cast<std::size_t>(config["cache_bytes"]), std::move(products));
    SolverProgress watch;
    const bool stopped = run_with_progress(watch, progress, [&] {
        m3l::solve_kernel(problem, diagonal, cache, settings, watch, solution);
    });
    nb::dict out;
    add_standing(out, solution.standing);
    out["converged"] = solution.converged;
    out["stopped"] = stopped;
    out["passes"] = solution.steps;
    out["cached_rows"] = cache.slots();
    out["dual"] = handed_over<double>(std::move(solution.dual), {problem.rows, problem.labels});
    return out;
}

nb::dict solve_kernel(const Numbers& diagonal, const nb::dict& parts, const nb::dict& config,
                      const nb::object& between, std::optional<Grid<double>> start, const nb::object& progress) {
    auto products = python_products(between, diagonal.shape(0));
    return solve_products(span_of(diagonal), std::move(products), parts, config, std::move(start), progress);
}

nb::dict solve_rbf(const MatrixView& x, double gamma, const nb::dict& parts, const nb::dict& config,
                   std::optional<Grid<double>> start, const nb::object& progress) {
    const std::vector<double> diagonal(static_cast<std::size_t>(x.matrix.rows), 1.0);
    auto products = x.matrix.value_type == Number::float32 ? rbf_products<float>(x.matrix, gamma)
                                                           : rbf_products<double>(x.matrix, gamma);
    return solve_products(diagonal, std::move(products), parts, config, std::move(start), progress);
}

}  // namespace

void add_m3l(nb::module_& module) {
    module.def("m3l_linear32", &solve_linear<float>, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
               nb::arg().none());
    module.def("m3l_kernel", &solve_kernel, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
               nb::arg().none());
    module.def("m3l_rbf", &solve_rbf, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
    // Whether the rows can be used: finite, and short enough for single precision.
    module.def("m3l_check", [](const MatrixView& x) {
        nb::gil_scoped_release release;
        x.matrix.check(static_cast<double>(std::numeric_limits<float>::max()));
    });
    module.def("m3l_linear64", &solve_linear<double>, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
               nb::arg().none());
}

}  // namespace tagalong::bind
