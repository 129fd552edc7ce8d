// What every ranker of labels offers to Python. Calls on whole matrices release the GIL; every row is
// learnt and scored under the model's lock, so readers in other threads see whole updates only.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <tuple>
#include <utility>

#include "bind/arrays.hpp"
#include "bind/geometry_state.hpp"
#include "bind/interruptible.hpp"
#include "core/selection.hpp"
#include "predictions/ranking.hpp"

namespace tagalong::bind {

template <class T>
constexpr double longest_row() {
    return static_cast<double>(std::numeric_limits<T>::max());
}

template <class Ranker>
typename Ranker::Reader& thread_reader() {
    static thread_local typename Ranker::Reader reader;
    return reader;
}

inline void check_labels(const MatrixView& x, const LabelRows& relevant, const LabelRows& unknown) {
    check_row_count(x.matrix.rows, relevant.rows(), "relevant");
    check_row_count(x.matrix.rows, unknown.rows(), "unknown");
}

// Most rankers have one cut-off for all rows; where each row has its own, it follows from the scores.
template <class Ranker>
double cutoff_for(const Ranker& self, [[maybe_unused]] typename Ranker::Reader& reader) {
    if constexpr (requires { self.cutoff_of(reader); }) return self.cutoff_of(reader);
    else return self.cutoff();
}
template <class Ranker>
double cutoff_of_round([[maybe_unused]] Ranker& self, double before) {
    if constexpr (requires { self.round_cutoff(); }) return self.round_cutoff();
    else return before;
}

// T is the type of weights and scores. Calls for one example have a signature instead of named arguments:
// looking for names would take the shortest of them five percent longer.
template <class Ranker, class T>
void add_ranker_methods(nb::class_<Ranker>& type) {
    type.def_prop_ro("labels", &Ranker::labels)
        .def(
            "add_labels",
            [](Ranker& self, std::size_t count) {
                std::unique_lock lock(self.mutex());
                self.add_labels(count);
            },
            nb::arg("count"))
        .def(
            "check",
            [](const Ranker&, const MatrixView& x) {
                nb::gil_scoped_release release;
                x.matrix.check(longest_row<T>());
            },
            nb::arg("x"))
        .def(
            "learn",
            [](Ranker& self, const MatrixView& x, const LabelRows& relevant,
               const LabelRows& unknown, std::optional<VectorOf<double>> weights,
               std::optional<nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>> scores,
               std::optional<nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>>
                   cutoffs) {
                check_labels(x, relevant, unknown);
                check_row_count(x.matrix.rows, weights, "weights");
                check_row_count(x.matrix.rows, scores, "scores");
                check_row_count(x.matrix.rows, cutoffs, "cutoffs");
                Example example;
                for_rows(x.matrix.rows, [&](std::int64_t i) {
                    x.matrix.read(i, example);
                    self.finish(example);
                    T* out = scores
                                 ? scores->data() + i * static_cast<std::int64_t>(scores->shape(1))
                                 : nullptr;
                    const double weight = weights ? weights->data()[i] : 1.0;
                    std::unique_lock lock(self.mutex());
                    const double cutoff = self.cutoff();
                    self.learn(example, relevant.row(i), unknown.row(i), weight, out);
                    if (cutoffs) cutoffs->data()[i] = cutoff_of_round(self, cutoff);
                });
            },
            nb::arg("x"), nb::arg("relevant"), nb::arg("unknown"), nb::arg("weights") = nb::none(),
            nb::arg("scores") = nb::none(), nb::arg("cutoffs") = nb::none())
        .def(
            "learn_one",
            [](Ranker& self, const Vector& indices, const Vector& values,
               const std::vector<std::int32_t>& relevant, const std::vector<std::int32_t>& unknown,
               double weight) {
                Example& x = thread_reader<Ranker>().x;
                read_pairs(indices, values, longest_row<T>(), x);
                self.finish(x);
                std::unique_lock lock(self.mutex());
                self.learn(x, relevant, unknown, weight);
            },
            nb::sig("def learn_one(self, indices: numpy.typing.NDArray[typing.Any], "
                    "values: numpy.typing.NDArray[typing.Any], relevant: "
                    "collections.abc.Sequence[int], "
                    "unknown: collections.abc.Sequence[int], weight: float, /) -> None"))
        // Learns like learn_one; the scores and the cut-off there were before.
        .def(
            "predict_then_learn_one",
            [](Ranker& self, const Vector& indices, const Vector& values,
               const std::vector<std::int32_t>& relevant, const std::vector<std::int32_t>& unknown,
               double weight) {
                Example& x = thread_reader<Ranker>().x;
                read_pairs(indices, values, longest_row<T>(), x);
                self.finish(x);
                std::unique_lock lock(self.mutex());
                std::size_t labels = self.labels();
                for (const auto& given : {relevant, unknown})
                    for (const std::int32_t label : given)
                        labels = std::max<std::size_t>(labels, label + 1);
                Owned<T> scores({labels});
                const double cutoff = self.cutoff();
                self.learn(x, relevant, unknown, weight, scores.data);
                return std::make_pair(scores.array, cutoff_of_round(self, cutoff));
            },
            nb::sig("def predict_then_learn_one(self, indices: numpy.typing.NDArray[typing.Any], "
                    "values: numpy.typing.NDArray[typing.Any], relevant: "
                    "collections.abc.Sequence[int], "
                    "unknown: collections.abc.Sequence[int], weight: float, /)"
                    " -> tuple[numpy.typing.NDArray[typing.Any], float]"))
        .def(
            "rank_one",
            [](const Ranker& self, const Vector& indices, const Vector& values, std::int64_t k) {
                auto& reader = thread_reader<Ranker>();
                read_pairs(indices, values, longest_row<T>(), reader.x);
                self.finish(reader.x);
                nb::typed<nb::list, int> out;
                std::shared_lock lock(self.mutex());
                const std::size_t count = k < 0 ? self.labels() : static_cast<std::size_t>(k);
                for (const std::int32_t label : self.rank(reader, count)) out.append(label);
                return out;
            },
            nb::sig("def rank_one(self, indices: numpy.typing.NDArray[typing.Any], "
                    "values: numpy.typing.NDArray[typing.Any], k: int, /) -> list[int]"))
        .def(
            "score_one",
            [](const Ranker& self, const Vector& indices, const Vector& values) {
                auto& reader = thread_reader<Ranker>();
                read_pairs(indices, values, longest_row<T>(), reader.x);
                self.finish(reader.x);
                std::shared_lock lock(self.mutex());
                const auto scores = self.score(reader);
                Owned<T> out({scores.size()});
                std::copy(scores.begin(), scores.end(), out.data);
                return std::make_pair(out.array, cutoff_for(self, reader));
            },
            nb::sig("def score_one(self, indices: numpy.typing.NDArray[typing.Any], "
                    "values: numpy.typing.NDArray[typing.Any], /)"
                    " -> tuple[numpy.typing.NDArray[typing.Any], float]"))
        // Features (-1 is the constant one), their values as the learner sees them, and what each
        // adds to the label's score.
        .def(
            "explain_one",
            [](const Ranker& self, const Vector& indices, const Vector& values,
               std::int32_t label) {
                auto& reader = thread_reader<Ranker>();
                read_pairs(indices, values, longest_row<T>(), reader.x);
                self.finish(reader.x);
                std::vector<double> parts;
                std::shared_lock lock(self.mutex());
                if (label < 0 || static_cast<std::size_t>(label) >= self.labels())
                    throw InputError("there is no label number " + std::to_string(label));
                self.contributions(reader, label, parts);
                const double score = static_cast<double>(self.score(reader)[label]);
                const auto& x = reader.x;
                return std::make_tuple(
                    vector_array<std::int32_t>(x.size(),
                                               [&](std::size_t i) { return x.feature[i]; }),
                    vector_array<double>(x.size(), [&](std::size_t i) { return parts[i]; }), score);
            },
            nb::arg("indices"), nb::arg("values"), nb::arg("label"))
        .def(
            "probabilities",
            [](const Ranker& self, VectorOf<T> scores) {
                Owned<double> out({scores.shape(0)});
                std::shared_lock lock(self.mutex());
                self.calibration().probabilities(std::span<const T>(scores.data(), scores.shape(0)),
                                                 out.data);
                return out.array;
            },
            nb::arg("scores"))
        .def("restart_certificate",
             [](Ranker& self) {
                 std::unique_lock lock(self.mutex());
                 self.restart_certificate();
             })
        // Scores (rows, K) and the cut-off; K as it is when the call starts.
        .def(
            "score",
            [](const Ranker& self, const MatrixView& x) {
                const std::size_t K = self.labels();
                Owned<T> out({static_cast<std::size_t>(x.matrix.rows), K});
                for_independent_rows(x.matrix.rows, [&](std::int64_t i) {
                    auto& reader = thread_reader<Ranker>();
                    x.matrix.read(i, reader.x);
                    self.finish(reader.x);
                    std::shared_lock lock(self.mutex());
                    const auto scores = self.score(reader);
                    std::copy(scores.begin(), scores.begin() + static_cast<std::ptrdiff_t>(K),
                              out.data + static_cast<std::size_t>(i) * K);
                });
                std::shared_lock lock(self.mutex());
                return std::make_pair(out.array, x.matrix.rows > 0 ? self.cutoff() : 0.0);
            },
            nb::arg("x"))
        .def(
            "rank",
            [](const Ranker& self, const MatrixView& x, std::int64_t k) {
                const std::size_t K = self.labels();
                const std::size_t count = k < 0 ? K : std::min(K, static_cast<std::size_t>(k));
                Owned<std::int32_t> out({static_cast<std::size_t>(x.matrix.rows), count});
                for_independent_rows(x.matrix.rows, [&](std::int64_t i) {
                    auto& reader = thread_reader<Ranker>();
                    x.matrix.read(i, reader.x);
                    self.finish(reader.x);
                    std::shared_lock lock(self.mutex());
                    const auto scores = self.score(reader).first(K);
                    best_labels(scores, count, reader.best);
                    std::copy(reader.best.begin(), reader.best.end(),
                              out.data + static_cast<std::size_t>(i) * count);
                });
                return out.array;
            },
            nb::arg("x"), nb::arg("k"));
    if constexpr (requires(Ranker ranker, const Selection& selection) {
                      ranker.rebuild(selection);
                  }) {
        type.def_prop_ro("rounds",
                         [](const Ranker& self) {
                             std::shared_lock lock(self.mutex());
                             return self.rounds();
                         })
            // Per new label the old labels whose weights it sums.
            .def(
                "select_labels",
                [](Ranker& self, std::vector<std::vector<std::int32_t>> sources) {
                    std::unique_lock lock(self.mutex());
                    self.rebuild(Selection::of_labels(std::move(sources), self.labels()));
                },
                nb::arg("sources"))
            // Per feature that has weights, in the order of weights(), whether it keeps them.
            .def(
                "select_features",
                [](Ranker& self, const std::vector<bool>& kept) {
                    std::unique_lock lock(self.mutex());
                    self.rebuild(
                        Selection::of_rows({kept.begin(), kept.end()}, self.rows(), self.width()));
                },
                nb::arg("kept"));
    }
}

}  // namespace tagalong::bind
