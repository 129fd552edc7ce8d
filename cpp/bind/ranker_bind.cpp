// The Python methods of all label rankers, bound once per type of the weights.
#include "bind/ranker_bind.hpp"

#include "bind/module.hpp"

namespace tagalong::bind {

template <class V, int dimensions>
using Writable = nb::ndarray<V, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;

template <class T>
static void learn(AnyRanker<T>& self, const MatrixView& x, const LabelRows& relevant,
                  const LabelRows& unknown, const std::optional<VectorOf<double>>& weights,
                  const std::optional<Writable<T, 2>>& scores,
                  const std::optional<Writable<double, 1>>& cutoffs) {
    check_labels(x, relevant, unknown);
    check_row_count(x.matrix.rows, weights, "weights");
    check_row_count(x.matrix.rows, scores, "scores");
    check_row_count(x.matrix.rows, cutoffs, "cutoffs");
    const auto width = scores ? static_cast<std::int64_t>(scores->shape(1)) : 0;
    for_rows(x.matrix.rows, [&](std::int64_t i) {
        x.matrix.read(i, self.example());
        self.learn_example(relevant.row(i), unknown.row(i), weights ? weights->data()[i] : 1.0,
                           scores ? scores->data() + i * width : nullptr,
                           cutoffs ? cutoffs->data() + i : nullptr);
    });
}

// Features (-1 is the constant feature), their contributions to a label's score, and the score.
template <class T>
static auto explain_one(const AnyRanker<T>& self, const Vector& indices, const Vector& values,
                        std::int32_t label) {
    Example& x = self.example();
    read_pairs(indices, values, longest_row<T>(), x);
    std::vector<double> parts;
    const double score = self.explain_example(label, parts);
    return std::make_tuple(feature_array(x.feature), adopted(std::move(parts)), score);
}

// Scores (rows, K) and the cut-off. K is the number of labels when the call starts.
template <class T>
static auto score(const AnyRanker<T>& self, const MatrixView& x) {
    const std::size_t K = self.label_count();
    Owned<T> out({static_cast<std::size_t>(x.matrix.rows), K});
    for_independent_rows(x.matrix.rows, [&](std::int64_t i) {
        x.matrix.read(i, self.example());
        const auto scores = self.score_example().first(K);
        std::copy(scores.begin(), scores.end(), out.data + static_cast<std::size_t>(i) * K);
    });
    return std::make_pair(out.array, x.matrix.rows > 0 ? self.current_cutoff() : 0.0);
}

template <class T>
static auto rank(const AnyRanker<T>& self, const MatrixView& x, std::int64_t k) {
    const std::size_t K = self.label_count();
    const std::size_t count = k < 0 ? K : std::min(K, static_cast<std::size_t>(k));
    Owned<std::int32_t> out({static_cast<std::size_t>(x.matrix.rows), count});
    for_independent_rows(x.matrix.rows, [&](std::int64_t i) {
        static thread_local std::vector<std::int32_t> best;
        x.matrix.read(i, self.example());
        best_labels(self.score_example().first(K), count, best);
        std::copy(best.begin(), best.end(), out.data + static_cast<std::size_t>(i) * count);
    });
    return out.array;
}

template <class T>
static auto probabilities(const AnyRanker<T>& self, const VectorOf<T>& scores) {
    Owned<double> out({scores.shape(0)});
    self.probabilities_of({scores.data(), scores.shape(0)}, out.data);
    return out.array;
}

template <class T>
static void add_ranker_class(nb::module_& module, const char* name) {
    nb::class_<AnyRanker<T>, AnyLearner>(module, name)
        .def_prop_ro("labels", &AnyRanker<T>::label_count)
        .def("add_labels", &AnyRanker<T>::append_labels, nb::arg("count"))
        .def(
            "check",
            [](const AnyRanker<T>&, const MatrixView& x) {
                nb::gil_scoped_release release;
                x.matrix.check(longest_row<T>());
            },
            nb::arg("x"))
        .def("learn", &learn<T>, nb::arg("x"), nb::arg("relevant"), nb::arg("unknown"),
             nb::arg("weights") = nb::none(), nb::arg("scores") = nb::none(),
             nb::arg("cutoffs") = nb::none())
        .def("explain_one", &explain_one<T>, nb::arg("indices"), nb::arg("values"),
             nb::arg("label"))
        .def("probabilities", &probabilities<T>, nb::arg("scores"))
        .def("restart_certificate", &AnyRanker<T>::restart)
        .def("score", &score<T>, nb::arg("x"))
        .def("rank", &rank<T>, nb::arg("x"), nb::arg("k"));
}

void add_rankers(nb::module_& module) {
    add_ranker_class<float>(module, "Ranker32");
    add_ranker_class<double>(module, "Ranker64");
}

}  // namespace tagalong::bind
