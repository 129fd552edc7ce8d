// Measures for Python: rows of scores in, sums and counts out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.hpp"
#include "measures.hpp"

namespace tagalong::bind {

inline nb::dict named(const Measures::Row& sums) {
    static constexpr const char* names[] = {
        "ranked",         "any_mistake",  "one_error", "ranking_loss", "coverage", "average_precision",
        "precision_at_k", "ndcg_at_k",    "rows",      "hits",         "chosen",   "relevant",
        "wrong",          "exact"};
    static_assert(std::size(names) == Measures::kValues);
    nb::dict out;
    for (std::size_t i = 0; i < Measures::kValues; ++i) out[names[i]] = sums[i];
    return out;
}

template <class T>
void observe_rows(Measures& self, const nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>& scores,
                  const VectorOf<std::int64_t>& relevant_ptr, const VectorOf<std::int32_t>& relevant,
                  const VectorOf<std::int64_t>& unknown_ptr, const VectorOf<std::int32_t>& unknown,
                  const VectorOf<double>& cutoffs) {
    const LabelRows yes{relevant_ptr, relevant}, open{unknown_ptr, unknown};
    const std::size_t rows = scores.shape(0), K = scores.shape(1);
    if (relevant_ptr.shape(0) != rows + 1 || unknown_ptr.shape(0) != rows + 1 || cutoffs.shape(0) != rows)
        throw InputError("scores, labels and cut-offs must have the same number of rows");
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i < rows; ++i)
        self.observe(std::span<const T>(scores.data() + i * K, K), yes.row(i), open.row(i), cutoffs.data()[i]);
}

template <class T>
void observe_one(Measures& self, const VectorOf<T>& scores, const std::vector<std::int32_t>& relevant,
                 const std::vector<std::int32_t>& unknown, double cutoff) {
    self.observe(std::span<const T>(scores.data(), scores.shape(0)), relevant, unknown, cutoff);
}

inline nb::dict measures_state(const Measures& self) {
    Owned<double> totals({Measures::kValues});
    std::copy(self.totals().begin(), self.totals().end(), totals.data);
    Owned<double> recent({self.recent().size(), Measures::kValues});
    for (std::size_t i = 0; i < self.recent().size(); ++i)
        std::copy(self.recent()[i].begin(), self.recent()[i].end(), recent.data + i * Measures::kValues);
    Owned<std::int64_t> labels({self.per_label().size(), 3});
    for (std::size_t i = 0; i < self.per_label().size(); ++i) {
        const Measures::PerLabel& label = self.per_label()[i];
        labels.data[3 * i] = label.hits;
        labels.data[3 * i + 1] = label.chosen;
        labels.data[3 * i + 2] = label.relevant;
    }
    nb::dict arrays, numbers, out;
    arrays["totals"] = totals.object();
    arrays["recent"] = recent.object();
    arrays["per_label"] = labels.object();
    numbers["next"] = self.next();
    out["arrays"] = arrays;
    out["numbers"] = numbers;
    return out;
}

inline void restore_measures(Measures& self, const nb::dict& state) {
    using Counts = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    const auto arrays = nb::cast<nb::dict>(state["arrays"]);
    const auto totals = nb::cast<VectorOf<double>>(arrays["totals"]);
    const auto recent = nb::cast<Rows>(arrays["recent"]);
    const auto labels = nb::cast<Counts>(arrays["per_label"]);
    const auto next = nb::cast<std::size_t>(nb::cast<nb::dict>(state["numbers"])["next"]);
    if (totals.shape(0) != Measures::kValues || recent.shape(1) != Measures::kValues || labels.shape(1) != 3 ||
        recent.shape(0) > self.window() || next >= std::max<std::size_t>(1, self.window()))
        throw InputError("the state of the measures has the wrong shape");
    Measures::Row sums;
    std::copy_n(totals.data(), Measures::kValues, sums.begin());
    std::vector<Measures::Row> rows(recent.shape(0));
    for (std::size_t i = 0; i < rows.size(); ++i)
        std::copy_n(recent.data() + i * Measures::kValues, Measures::kValues, rows[i].begin());
    std::vector<Measures::PerLabel> counts(labels.shape(0));
    for (std::size_t i = 0; i < counts.size(); ++i)
        counts[i] = {labels.data()[3 * i], labels.data()[3 * i + 1], labels.data()[3 * i + 2]};
    self.restore(sums, std::move(counts), std::move(rows), next);
}

inline void add_measures(nb::module_& module) {
    nb::class_<Measures>(module, "Measures")
        .def(nb::init<std::size_t, std::size_t>(), nb::arg("k"), nb::arg("window"))
        .def_prop_ro("k", &Measures::k)
        .def_prop_ro("window", &Measures::window)
        .def("observe", &observe_rows<float>)
        .def("observe", &observe_rows<double>)
        .def("observe_one", &observe_one<float>)
        .def("observe_one", &observe_one<double>)
        .def("totals", [](const Measures& self) { return named(self.totals()); })
        .def("recent", [](const Measures& self) { return named(self.recent_sums()); })
        .def("state", &measures_state)
        .def("restore", &restore_measures);
}

}  // namespace tagalong::bind
