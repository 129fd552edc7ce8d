// BlockLearner for Python: a block is a matrix with a sign a row.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <map>
#include <optional>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "block_learner.hpp"
#include "geometry_state.hpp"

namespace tagalong::bind {

inline BlockConfig make_block_config(const nb::dict& given) {
    static const std::map<std::string, BlockScheme> schemes = {
        {"simperc", BlockScheme::simperc}, {"conproj", BlockScheme::conproj}, {"simproj", BlockScheme::simproj},
        {"simopt", BlockScheme::simopt},   {"max", BlockScheme::max},         {"optimal", BlockScheme::optimal}};
    BlockConfig config;
    config.scheme = schemes.at(nb::cast<std::string>(given["update"]));
    config.entropic = nb::cast<std::string>(given["geometry"]) == "entropic";
    config.C = nb::cast<double>(given["C"]);
    config.margin = nb::cast<double>(given["margin"]);
    config.n_features = nb::cast<std::int64_t>(given["n_features"]);
    return config;
}

// The rows of a matrix, each times its sign.
inline std::vector<Example> signed_rows(const Matrix& matrix, const VectorOf<double>& signs) {
    std::vector<Example> rows(static_cast<std::size_t>(matrix.rows));
    for (std::size_t j = 0; j < rows.size(); ++j) {
        matrix.read(static_cast<std::int64_t>(j), rows[j]);
        rows[j].merge();
        for (double& value : rows[j].value) value *= signs.data()[j];
    }
    return rows;
}

// Without a lock: the learner may be part of another one.
template <class T>
nb::dict block_certificate(const BlockLearner<T>& self) {
    const BlockCertificate& c = self.certificate();
    nb::dict out;
    out["rounds"] = c.rounds;
    out["mistakes"] = c.mistakes;
    out["loss"] = c.loss;
    out["dual"] = self.dual();
    out["curvature"] = c.curvature;
    out["least_weight"] = c.least_weight;
    out["most_weight"] = c.most_weight;
    out["most_sets"] = c.most_sets;
    out["uneven"] = c.uneven;
    out["solver_rounds"] = c.solver_rounds;
    out["solver_iterations"] = c.solver_iterations;
    out["solver_most_iterations"] = c.solver_most_iterations;
    return out;
}

template <class T>
void write_block(const BlockLearner<T>& self, nb::dict& arrays, nb::dict& numbers) {
    const BlockCertificate& c = self.certificate();
    numbers["rounds"] = c.rounds;
    numbers["mistakes"] = c.mistakes;
    numbers["loss"] = c.loss;
    numbers["gain"] = c.gain;
    numbers["curvature"] = c.curvature;
    numbers["least_weight"] = c.least_weight;
    numbers["most_weight"] = c.most_weight;
    numbers["most_sets"] = c.most_sets;
    numbers["uneven"] = c.uneven;
    numbers["solver_rounds"] = c.solver_rounds;
    numbers["solver_iterations"] = c.solver_iterations;
    numbers["solver_most_iterations"] = c.solver_most_iterations;
    numbers["restarted"] = c.restarted;
    write_geometry<T>(self.geometry(), c.restarted, arrays, numbers);
}

template <class T>
void read_block(BlockLearner<T>& self, const nb::dict& arrays, const nb::dict& numbers) {
    const auto integer = [&](const char* key) { return nb::cast<std::int64_t>(numbers[key]); };
    const auto real = [&](const char* key) { return nb::cast<double>(numbers[key]); };
    if (self.store().rows() != 0) throw InputError("model state can only be restored into a new model");
    read_geometry<T>(self.geometry(), arrays, numbers);
    BlockCertificate& c = self.certificate_state();
    c.rounds = integer("rounds");
    c.mistakes = real("mistakes");
    c.loss = real("loss");
    c.gain = real("gain");
    c.curvature = real("curvature");
    c.least_weight = real("least_weight");
    c.most_weight = real("most_weight");
    c.most_sets = integer("most_sets");
    c.uneven = nb::cast<bool>(numbers["uneven"]);
    c.solver_rounds = integer("solver_rounds");
    c.solver_iterations = integer("solver_iterations");
    c.solver_most_iterations = integer("solver_most_iterations");
    c.restarted = nb::cast<bool>(numbers["restarted"]);
}

template <class T>
void add_block_learner(nb::module_& module, const char* name) {
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

}  // namespace tagalong::bind
