// The Python module tagalong._native.
#include <nanobind/nanobind.h>

#include "bind/arrays.hpp"
#include "bind/module.hpp"
#include "core/vector_width.hpp"

namespace nb = nanobind;
using namespace tagalong;

NB_MODULE(_native, module) {
    module.doc() = "Tagalong's native core.";
    // A model in a global variable that outlives the interpreter's clean-up is no leak to report.
    nb::set_leak_warnings(false);
    nb::exception<InputError>(module, "InputError", PyExc_ValueError);
    module.def("vector_width", &vector_width);
    nb::class_<bind::MatrixView>(module, "Matrix")
        .def_static("dense", &bind::MatrixView::dense)
        .def_static("csr", &bind::MatrixView::csr)
        .def_prop_ro("shape", [](const bind::MatrixView& view) {
            return nb::make_tuple(view.matrix.rows, view.matrix.columns);
        });
    nb::class_<bind::LabelRows>(module, "LabelRows")
        .def(nb::init<bind::VectorOf<std::int64_t>, bind::VectorOf<std::int32_t>>(), nb::arg("indptr"), nb::arg("indices"))
        .def_prop_ro("indptr", &bind::LabelRows::indptr)
        .def_prop_ro("indices", &bind::LabelRows::indices);
    bind::add_update_rules(module);
    bind::add_label_rankers(module);
    bind::add_block_learners(module);
    bind::add_shared_rankers(module);
    bind::add_partial_rankers(module);
    bind::add_predtrons(module);
    bind::add_m3l(module);
    bind::add_measures(module);
    bind::add_text_features(module);
}
