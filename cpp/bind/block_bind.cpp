// BlockLearner for Python: a block is a matrix with a sign a row.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "arrays.hpp"
#include "block_state.hpp"
#include "module.hpp"

namespace tagalong::bind {

// The rows of a matrix, each times its sign.
static std::vector<Example> signed_rows(const Matrix& matrix, const VectorOf<double>& signs) {
    std::vector<Example> rows(static_cast<std::size_t>(matrix.rows));
    for (std::size_t j = 0; j < rows.size(); ++j) {
        matrix.read(static_cast<std::int64_t>(j), rows[j]);
        rows[j].merge();
        for (double& value : rows[j].value) value *= signs.data()[j];
    }
    return rows;
}

template <class T>
static void add_learner(nb::module_& module, const char* name) {
    using Learner = BlockLearner<T>;
    constexpr double longest = std::numeric_limits<T>::max();
    nb::class_<Learner>(module, name)
        .def("__init__",
             [](Learner* self, const nb::dict& config) { new (self) Learner(make_block_config(config)); })
        .def("check",
             [](const Learner&, const MatrixView& x) {
                 nb::gil_scoped_release release;
                 x.matrix.check(longest);
             })
        // Signs +1 and -1; sets numbered from 0; weights above 0. The loss before the step.
        .def("learn",
             [](Learner& self, const MatrixView& x, VectorOf<double> signs,
                std::optional<VectorOf<std::int32_t>> sets, std::optional<VectorOf<double>> weights) {
                 nb::gil_scoped_release release;
                 const std::vector<Example> rows = signed_rows(x.matrix, signs);
                 std::span<const std::int32_t> set;
                 std::span<const double> weight;
                 if (sets) set = {sets->data(), sets->shape(0)};
                 if (weights) weight = {weights->data(), weights->shape(0)};
                 std::unique_lock lock(self.mutex());
                 return self.learn(rows, set, weight);
             },
             nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none())
        .def("score",
             [](const Learner& self, const MatrixView& x) {
                 Owned<double> out({static_cast<std::size_t>(x.matrix.rows)});
                 nb::gil_scoped_release release;
                 typename Learner::Reader reader;
                 for (std::int64_t i = 0; i < x.matrix.rows; ++i) {
                     x.matrix.read(i, reader.x);
                     reader.x.merge();
                     std::shared_lock lock(self.mutex());
                     out.data[i] = self.score(reader);
                 }
                 nb::gil_scoped_acquire acquire;
                 return out.object();
             })
        // Features, their weights, and the weight of a feature without a row.
        .def("weights",
             [](const Learner& self) {
                 std::shared_lock lock(self.mutex());
                 const auto& store = self.store();
                 return nb::make_tuple(
                     feature_array(store),
                     vector_array<T>(store.rows(),
                                     [&](std::size_t r) {
                                         return static_cast<T>(self.weight(static_cast<std::int32_t>(r)));
                                     }),
                     self.weight(FeatureIndex::kAbsent));
             })
        .def("certificate",
             [](const Learner& self) {
                 std::shared_lock lock(self.mutex());
                 return block_certificate(self);
             })
        .def("recompute_dual",
             [](const Learner& self) {
                 std::shared_lock lock(self.mutex());
                 return self.recompute_dual();
             })
        .def_prop_ro("bytes",
                     [](const Learner& self) {
                         std::shared_lock lock(self.mutex());
                         return self.store().bytes();
                     })
        .def("state",
             [](const Learner& self) {
                 nb::dict arrays, numbers, out;
                 std::shared_lock lock(self.mutex());
                 write_block(self, arrays, numbers);
                 out["arrays"] = arrays;
                 out["numbers"] = numbers;
                 return out;
             })
        .def("restore", [](Learner& self, const nb::dict& state) {
            std::unique_lock lock(self.mutex());
            read_block(self, nb::cast<nb::dict>(state["arrays"]), nb::cast<nb::dict>(state["numbers"]));
        });
}

void add_block_learners(nb::module_& module) {
    add_learner<float>(module, "BlockLearner32");
    add_learner<double>(module, "BlockLearner64");
}

}  // namespace tagalong::bind
