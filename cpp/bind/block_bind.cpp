// The Python class of BlockLearner. A block is a matrix with one sign per row.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/block_state.hpp"
#include "bind/interruptible.hpp"
#include "bind/module.hpp"

namespace tagalong::bind {

// Renumbers the sets of one block as 0, 1, 2, ..., in the order of the given numbers.
static void number_sets(std::span<const std::int32_t> given, std::vector<std::int32_t>& out) {
    std::vector<std::int32_t> found(given.begin(), given.end());
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    out.clear();
    for (const std::int32_t set : given)
        out.push_back(static_cast<std::int32_t>(std::lower_bound(found.begin(), found.end(), set) -
                                                found.begin()));
}

template <class T>
static void add_block_learner(nb::module_& module, const char* name) {
    using Learner = Bound<BlockLearner<T>>;
    constexpr double longest = std::numeric_limits<T>::max();
    nb::class_<Learner, AnyLearner> type(module, name);
    type.def(
            "__init__",
            [](Learner* self, const std::string& update, const std::string& geometry, double C,
               double margin, std::int64_t n_features) {
                new (self) Learner(make_block_config(update, geometry, C, margin, n_features));
            },
            nb::kw_only(), nb::arg("update"), nb::arg("geometry"), nb::arg("C"), nb::arg("margin"),
            nb::arg("n_features"))
        .def(
            "check",
            [](const Learner&, const MatrixView& x) {
                nb::gil_scoped_release release;
                x.matrix.check(longest);
            },
            nb::arg("x"))
        // Learns block after block; `sizes` has the number of rows per block. Signs are +1 or -1,
        // weights positive. Returns the loss of each block before its step.
        .def(
            "learn",
            [](Learner& self, const MatrixView& x, VectorOf<double> signs,
               VectorOf<std::int64_t> sizes, std::optional<VectorOf<std::int32_t>> sets,
               std::optional<VectorOf<double>> weights) {
                Owned<double> losses({sizes.shape(0)});
                RowBlock block;
                std::vector<std::int32_t> set;
                std::int64_t row = 0;
                for_rows(static_cast<std::int64_t>(sizes.shape(0)), [&](std::int64_t b) {
                    const auto size = static_cast<std::size_t>(sizes.data()[b]);
                    if (sets) number_sets({sets->data() + row, size}, set);
                    std::span<const double> weight;
                    if (weights) weight = {weights->data() + row, size};
                    block.clear();
                    const std::int64_t end = row + sizes.data()[b];
                    block.append_references(x.matrix, row, end, signs.data() + row);
                    row = end;
                    std::unique_lock lock(self.mutex());
                    losses.data[b] = self.learn(block, set, weight);
                });
                return losses.array;
            },
            nb::arg("x"), nb::arg("signs"), nb::arg("sizes"), nb::arg("sets") = nb::none(),
            nb::arg("weights") = nb::none())
        .def(
            "score",
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
                return out.array;
            },
            nb::arg("x"))
        .def("recompute_dual", [](const Learner& self) {
            std::shared_lock lock(self.mutex());
            return self.recompute_dual();
        });
    add_certificate(type);
}

void add_block_learners(nb::module_& module) {
    add_facts<BlockFacts>(module, "BlockCertificate").def_ro("dual", &BlockFacts::dual);
    add_block_learner<float>(module, "BlockLearner32");
    add_block_learner<double>(module, "BlockLearner64");
}

}  // namespace tagalong::bind
