// The Python class of AnswerCounts.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/module.hpp"
#include "predictions/answer_counts.hpp"

namespace tagalong::bind {

template <class V>
using Table = nb::ndarray<nb::numpy, const V, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// An object with the arrays of tagalong.learning.places.Places.
using Places = nb::typed<nb::object, nb::any>;

// The arrays of such an object that are counted.
struct PlaceViews {
    Table<std::int32_t> labels;
    Table<double> probabilities, assured;
    Table<bool> chosen;
    VectorOf<double> whole;
    VectorOf<bool> in_runs;
    bool has_confidence;

    std::size_t rows() const { return labels.shape(0); }

    void check() const {
        const auto same = [&](const auto& table) {
            return table.shape(0) == rows() && table.shape(1) == labels.shape(1);
        };
        if (!same(probabilities) || !same(assured) || !same(chosen) || whole.shape(0) != rows() ||
            in_runs.shape(0) != rows())
            throw InputError("the arrays of places must have the same number of rows and places");
    }

    RowPlaces row(std::size_t i) const {
        const std::size_t k = labels.shape(1), at = i * k;
        return {{labels.data() + at, k}, probabilities.data() + at, assured.data() + at,
                chosen.data() + at,      whole.data()[i],           in_runs.data()[i],
                has_confidence};
    }
};

static PlaceViews place_views(const Places& places, bool has_confidence) {
    PlaceViews out{nb::cast<Table<std::int32_t>>(places.attr("labels")),
                   nb::cast<Table<double>>(places.attr("probabilities")),
                   nb::cast<Table<double>>(places.attr("assured")),
                   nb::cast<Table<bool>>(places.attr("chosen")),
                   nb::cast<VectorOf<double>>(places.attr("whole")),
                   nb::cast<VectorOf<bool>>(places.attr("in_runs")),
                   has_confidence};
    out.check();
    return out;
}

using CountTable = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

static void check_table(const CountTable& out, std::size_t rows) {
    if (out.shape(0) != rows || out.shape(1) != AnswerCounts::kColumns)
        throw InputError("the table must have one row per row of places");
}

// Counts rows, of which the first is item number `item`, and writes their columns to `out`.
static void count_rows(AnswerCounts& self, const Places& places, bool has_confidence,
                       const LabelRows& relevant, const LabelRows& unknown, std::int64_t item,
                       const CountTable& out) {
    const PlaceViews views = place_views(places, has_confidence);
    const std::size_t rows = views.rows();
    if (relevant.rows() != rows || unknown.rows() != rows)
        throw InputError("places and labels must have the same number of rows");
    check_table(out, rows);
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i < rows; ++i) {
        const auto row = static_cast<std::int64_t>(i);
        self.count(views.row(i), relevant.row(row), unknown.row(row), item + row,
                   out.data() + i * AnswerCounts::kColumns);
    }
}

static void count_one(AnswerCounts& self, const Places& places, bool has_confidence,
                      const std::vector<std::int32_t>& relevant,
                      const std::vector<std::int32_t>& unknown, std::int64_t item,
                      const CountTable& out) {
    const PlaceViews views = place_views(places, has_confidence);
    if (views.rows() != 1) throw InputError("the places must have one row");
    check_table(out, 1);
    self.count(views.row(0), relevant, unknown, item, out.data());
}

static NumPy<std::int64_t> calibration_array(const AnswerCounts& self) {
    Owned<std::int64_t> out({AnswerCounts::kKinds, 2, self.bins(), 3});
    std::copy(self.calibration().begin(), self.calibration().end(), out.data);
    return out.array;
}

static NumPy<std::int64_t> label_array(const AnswerCounts& self) {
    constexpr std::size_t columns = AnswerCounts::kLabelColumns;
    Owned<std::int64_t> out({self.labels().size(), columns});
    for (std::size_t i = 0; i < self.labels().size(); ++i)
        std::copy(self.labels()[i].begin(), self.labels()[i].end(), out.data + i * columns);
    return out.array;
}

static void restore_counts(
    AnswerCounts& self,
    const nb::ndarray<const std::int64_t, nb::ndim<4>, nb::c_contig, nb::device::cpu>& calibration,
    const Table<std::int64_t>& labels) {
    constexpr std::size_t columns = AnswerCounts::kLabelColumns;
    if (calibration.size() != self.calibration().size() || labels.shape(1) != columns)
        throw InputError("the counts of answers have the wrong shape");
    std::vector<AnswerCounts::LabelRow> rows(labels.shape(0));
    for (std::size_t i = 0; i < rows.size(); ++i)
        std::copy_n(labels.data() + i * columns, columns, rows[i].begin());
    self.restore({calibration.data(), calibration.data() + calibration.size()}, std::move(rows));
}

void add_answer_counts(nb::module_& module) {
    nb::class_<AnswerCounts>(module, "AnswerCounts")
        .def(nb::init<std::array<double, AnswerCounts::kTargets>, std::size_t, std::int64_t>(),
             nb::arg("targets"), nb::arg("bins"), nb::arg("settled"))
        .def("count", &count_rows, nb::arg("places"), nb::arg("has_confidence"),
             nb::arg("relevant"), nb::arg("unknown"), nb::arg("item"), nb::arg("out"))
        .def("count_one", &count_one, nb::arg("places"), nb::arg("has_confidence"),
             nb::arg("relevant"), nb::arg("unknown"), nb::arg("item"), nb::arg("out"))
        .def("calibration", &calibration_array)
        .def("labels", &label_array)
        .def("restore", &restore_counts, nb::arg("calibration"), nb::arg("labels"));
}

}  // namespace tagalong::bind
