// The Python module tagalong._native.
#include <nanobind/nanobind.h>

#include "arrays.hpp"
#include "block_bind.hpp"
#include "label_ranker_bind.hpp"
#include "measures_bind.hpp"
#include "shared_bind.hpp"
#include "text_bind.hpp"

namespace nb = nanobind;
using namespace tagalong;

NB_MODULE(_native, module) {
    module.doc() = "Tagalong's native core.";
    // A model in a global variable that outlives the interpreter's clean-up is no leak to report.
    nb::set_leak_warnings(false);
    nb::exception<InputError>(module, "InputError", PyExc_ValueError);
    nb::class_<bind::MatrixView>(module, "Matrix")
        .def_static("dense", &bind::MatrixView::dense)
        .def_static("csr", &bind::MatrixView::csr)
        .def_prop_ro("shape", [](const bind::MatrixView& view) {
            return nb::make_tuple(view.matrix.rows, view.matrix.columns);
        });
    bind::add_label_ranker<float>(module, "LabelRanker32");
    bind::add_label_ranker<double>(module, "LabelRanker64");
    bind::add_block_learner<float>(module, "BlockLearner32");
    bind::add_block_learner<double>(module, "BlockLearner64");
    bind::add_shared_ranker<float>(module, "SharedRanker32");
    bind::add_shared_ranker<double>(module, "SharedRanker64");
    bind::add_measures(module);
    bind::add_text_features(module);
}
