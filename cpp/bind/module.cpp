// The Python module tagalong._native.
#include "bind/module.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include "bind/arrays.hpp"
#include "bind/learner_bind.hpp"
#include "core/vector_width.hpp"

namespace nb = nanobind;
using namespace tagalong;

NB_MODULE(_native, module) {
    module.doc() = "Tagalong's native core.";
    // A model in a global variable may outlive the clean-up of the interpreter without being a
    // leak.
    nb::set_leak_warnings(false);
    // The constructor registers the type.
    // NOLINTNEXTLINE(bugprone-unused-raii, bugprone-throw-keyword-missing)
    nb::exception<InputError>(module, "InputError", PyExc_ValueError);
    module.def("vector_width", &vector_width);
    nb::class_<bind::MatrixView>(module, "Matrix")
        .def_static("dense", &bind::MatrixView::dense, nb::arg("array"))
        .def_static("csr", &bind::MatrixView::csr, nb::arg("data"), nb::arg("indices"),
                    nb::arg("indptr"), nb::arg("columns"))
        .def_prop_ro("shape", [](const bind::MatrixView& view) {
            return std::make_pair(view.matrix.rows, view.matrix.columns);
        });
    nb::class_<bind::FeatureRows>(module, "FeatureRows")
        .def("matrix", &bind::FeatureRows::matrix, nb::rv_policy::copy)
        .def_prop_ro("indptr", &bind::FeatureRows::indptr, bind::kArray)
        .def_prop_ro("indices", &bind::FeatureRows::indices, bind::kArray)
        .def_prop_ro("values", &bind::FeatureRows::values, bind::kArray);
    nb::class_<bind::LabelRows>(module, "LabelRows")
        .def(nb::init<bind::VectorOf<std::int64_t>, bind::VectorOf<std::int32_t>>(),
             nb::arg("indptr"), nb::arg("indices"))
        .def_prop_ro("indptr", &bind::LabelRows::indptr, bind::kArray)
        .def_prop_ro("indices", &bind::LabelRows::indices, bind::kArray);
    nb::class_<bind::FeatureWeights>(module, "FeatureWeights")
        .def(nb::init<bind::NumPy<std::int32_t>, bind::NumPy<>, std::optional<bind::NumPy<>>>(),
             nb::arg("features"), nb::arg("weights"), nb::arg("unseen") = nb::none())
        .def_ro("features", &bind::FeatureWeights::features, bind::kArray)
        .def_ro("weights", &bind::FeatureWeights::weights, bind::kArray)
        .def_ro("unseen", &bind::FeatureWeights::unseen, bind::kArray);
    bind::add_update_rules(module);
    bind::add_packed_weights(module);
    bind::add_learner(module);  // base classes first
    bind::add_rankers(module);
    bind::add_label_rankers(module);
    bind::add_races(module);
    bind::add_compact_rankers(module);
    bind::add_block_learners(module);
    bind::add_shared_rankers(module);
    bind::add_grade_rankers(module);
    bind::add_partial_rankers(module);
    bind::add_predtrons(module);
    bind::add_m3l(module);
    bind::add_answer_counts(module);
    bind::add_measures(module);
    bind::add_text_features(module);
    bind::add_names(module);
    bind::add_suggestions(module);
}
