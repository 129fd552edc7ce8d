// The Python class of Measures.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bind/arrays.hpp"
#include "bind/learner_bind.hpp"
#include "bind/module.hpp"
#include "predictions/measures.hpp"

namespace tagalong::bind {

static nb::typed<nb::dict, nb::str, double> named(const Measures::Row& sums) {
    static constexpr const char* names[] = {"ranked",         "any_mistake", "one_error",
                                            "ranking_loss",   "coverage",    "average_precision",
                                            "precision_at_k", "ndcg_at_k",   "rows",
                                            "hits",           "chosen",      "relevant",
                                            "wrong",          "exact"};
    static_assert(std::size(names) == Measures::kValues);
    nb::typed<nb::dict, nb::str, double> out;
    for (std::size_t i = 0; i < Measures::kValues; ++i) out[names[i]] = sums[i];
    return out;
}

template <class T>
static void observe_rows(
    Measures& self, const nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>& scores,
    const LabelRows& relevant, const LabelRows& unknown, const VectorOf<double>& cutoffs) {
    const std::size_t rows = scores.shape(0), K = scores.shape(1);
    if (relevant.rows() != rows || unknown.rows() != rows || cutoffs.shape(0) != rows)
        throw InputError("scores, labels and cut-offs must have the same number of rows");
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i < rows; ++i) {
        const auto row = static_cast<std::int64_t>(i);
        self.observe(std::span<const T>(scores.data() + i * K, K), relevant.row(row),
                     unknown.row(row), cutoffs.data()[i]);
    }
}

template <class T>
static void observe_one(Measures& self, const VectorOf<T>& scores,
                        const std::vector<std::int32_t>& relevant,
                        const std::vector<std::int32_t>& unknown, double cutoff) {
    self.observe(std::span<const T>(scores.data(), scores.shape(0)), relevant, unknown, cutoff);
}

static NumPy<std::int64_t> counts_array(const std::vector<Measures::PerLabel>& counts,
                                        std::size_t labels) {
    Owned<std::int64_t> out({labels, 3});
    std::fill_n(out.data, 3 * labels, 0);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        out.data[3 * i] = counts[i].hits;
        out.data[3 * i + 1] = counts[i].chosen;
        out.data[3 * i + 2] = counts[i].relevant;
    }
    return out.array;
}

// The totals, the rows of the window and their marks. A mark is four times its label, plus 1 if
// chosen, plus 2 if relevant.
static State measures_state(const Measures& self) {
    Owned<double> totals({Measures::kValues});
    std::copy(self.totals().begin(), self.totals().end(), totals.data);
    Owned<double> recent({self.recent().size(), Measures::kValues});
    for (std::size_t i = 0; i < self.recent().size(); ++i)
        std::copy(self.recent()[i].begin(), self.recent()[i].end(),
                  recent.data + i * Measures::kValues);
    std::size_t count = 0;
    for (const auto& row : self.recent_marks()) count += row.size();
    Owned<std::int64_t> marks({count}), ends({self.recent_marks().size()});
    std::size_t at = 0;
    for (std::size_t i = 0; i < self.recent_marks().size(); ++i) {
        for (const Measures::Mark& mark : self.recent_marks()[i])
            marks.data[at++] = 4 * static_cast<std::int64_t>(mark.label) + (mark.chosen ? 1 : 0) +
                               (mark.relevant ? 2 : 0);
        ends.data[i] = static_cast<std::int64_t>(at);
    }
    nb::dict arrays, numbers;
    State out;
    arrays["totals"] = totals.array;
    arrays["recent"] = recent.array;
    arrays["recent_marks"] = marks.array;
    arrays["recent_mark_ends"] = ends.array;
    arrays["per_label"] = counts_array(self.per_label(), self.per_label().size());
    numbers["next"] = self.next();
    out["arrays"] = arrays;
    out["numbers"] = numbers;
    return out;
}

static void restore_measures(Measures& self, const State& state) {
    using Counts = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    const auto arrays = nb::cast<nb::dict>(state["arrays"]);
    const auto totals = nb::cast<VectorOf<double>>(arrays["totals"]);
    const auto recent = nb::cast<Rows>(arrays["recent"]);
    const auto marks = nb::cast<VectorOf<std::int64_t>>(arrays["recent_marks"]);
    const auto ends = nb::cast<VectorOf<std::int64_t>>(arrays["recent_mark_ends"]);
    const auto labels = nb::cast<Counts>(arrays["per_label"]);
    const auto next = nb::cast<std::size_t>(nb::cast<nb::dict>(state["numbers"])["next"]);
    const std::size_t kept = recent.shape(0);
    if (totals.shape(0) != Measures::kValues || recent.shape(1) != Measures::kValues ||
        labels.shape(1) != 3 || kept > self.window() ||
        next >= std::max<std::size_t>(1, self.window()) || ends.shape(0) != kept ||
        (kept < self.window() && next != kept))
        throw InputError("the state of the measures has the wrong shape");
    Measures::Row sums;
    std::copy_n(totals.data(), Measures::kValues, sums.begin());
    std::vector<Measures::Row> rows(kept);
    std::vector<std::vector<Measures::Mark>> row_marks(kept);
    std::int64_t at = 0;
    for (std::size_t i = 0; i < kept; ++i) {
        std::copy_n(recent.data() + i * Measures::kValues, Measures::kValues, rows[i].begin());
        for (const std::int64_t end = ends.data()[i]; at < end; ++at) {
            const std::int64_t mark =
                at < static_cast<std::int64_t>(marks.shape(0)) ? marks.data()[at] : -1;
            if (mark < 0 || mark / 4 >= static_cast<std::int64_t>(labels.shape(0)))
                throw InputError("the state of the measures marks a label that does not exist");
            row_marks[i].push_back(
                {static_cast<std::int32_t>(mark / 4), (mark & 1) != 0, (mark & 2) != 0});
        }
    }
    std::vector<Measures::PerLabel> counts(labels.shape(0));
    for (std::size_t i = 0; i < counts.size(); ++i)
        counts[i] = {labels.data()[3 * i], labels.data()[3 * i + 1], labels.data()[3 * i + 2]};
    self.restore(sums, std::move(counts), std::move(rows), std::move(row_marks), next);
}

void add_measures(nb::module_& module) {
    nb::class_<Measures>(module, "Measures")
        .def(nb::init<std::size_t, std::size_t>(), nb::arg("k"), nb::arg("window"))
        .def_prop_ro("k", &Measures::k)
        .def_prop_ro("window", &Measures::window)
        .def("observe", &observe_rows<float>, nb::arg("scores"), nb::arg("relevant"),
             nb::arg("unknown"), nb::arg("cutoffs"))
        .def("observe", &observe_rows<double>, nb::arg("scores"), nb::arg("relevant"),
             nb::arg("unknown"), nb::arg("cutoffs"))
        .def("observe_one", &observe_one<float>,
             nb::sig(
                 "def observe_one(self, scores: numpy.typing.NDArray[numpy.float32], "
                 "relevant: collections.abc.Sequence[int], unknown: collections.abc.Sequence[int], "
                 "cutoff: float, /) -> None"))
        .def("observe_one", &observe_one<double>,
             nb::sig(
                 "def observe_one(self, scores: numpy.typing.NDArray[numpy.float64], "
                 "relevant: collections.abc.Sequence[int], unknown: collections.abc.Sequence[int], "
                 "cutoff: float, /) -> None"))
        .def("totals", [](const Measures& self) { return named(self.totals()); })
        .def("recent", [](const Measures& self) { return named(self.recent_sums()); })
        // Hits, predictions and relevant rows per label, (K, 3): over all rows, and over the
        // window.
        .def("per_label",
             [](const Measures& self) {
                 return counts_array(self.per_label(), self.per_label().size());
             })
        .def("recent_per_label",
             [](const Measures& self) {
                 return counts_array(self.recent_per_label(), self.per_label().size());
             })
        .def("macro_f1", [](const Measures& self) { return Measures::macro_f1(self.per_label()); })
        .def("recent_macro_f1",
             [](const Measures& self) { return Measures::macro_f1(self.recent_per_label()); })
        .def("state", &measures_state)
        .def("restore", &restore_measures, nb::arg("state"));
}

}  // namespace tagalong::bind
