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
                  const std::optional<Writable<double, 1>>& cutoffs, double stands_for,
                  PlaceArrays* places) {
    check_labels(x, relevant, unknown);
    check_row_count(x.matrix.rows, weights, "weights");
    check_row_count(x.matrix.rows, scores, "scores");
    check_row_count(x.matrix.rows, cutoffs, "cutoffs");
    if (places) check_row_count(x.matrix.rows, places->rows(), "places");
    Judgement judged;
    const auto width = scores ? static_cast<std::int64_t>(scores->shape(1)) : 0;
    for_rows(x.matrix.rows, [&](std::int64_t i) {
        x.matrix.read(i, self.example());
        judged = {};  // rounds of weight 0 are not judged
        self.learn_example(
            relevant.row(i), unknown.row(i), weights ? weights->data()[i] : 1.0,
            {stands_for, scores ? scores->data() + i * width : nullptr, places ? &judged : nullptr},
            cutoffs ? cutoffs->data() + i : nullptr);
        if (places) places->write(static_cast<std::size_t>(i), judged);
    });
}

// Features (-1 is the constant feature), their contributions to a label's score, and the score.
template <class T>
static auto explain_one(const AnyRanker<T>& self, const Vector& indices, const Vector& values,
                        std::int32_t label) {
    Example& x = self.example();
    read_pairs(indices, values, longest_row<T>(), x);
    std::vector<double> parts;
    double score = 0;
    {
        nb::gil_scoped_release release;
        score = self.explain_example(label, parts);
    }
    return std::make_tuple(feature_array(x.feature), adopted(std::move(parts)), score);
}

// The scores of the labels that there were when a call started. Another thread may have added
// labels since.
template <class T>
static std::span<const T> scores_of_first(const AnyRanker<T>& self, std::size_t labels) {
    const auto scores = self.score_example();
    if (scores.size() < labels)
        throw InputError("labels were removed during the call: predict again");
    return scores.first(labels);
}

// Scores (rows, K) and the cut-off. K is the number of labels when the call starts.
template <class T>
static auto score(const AnyRanker<T>& self, const MatrixView& x) {
    const std::size_t K = self.label_count();
    Owned<T> out({static_cast<std::size_t>(x.matrix.rows), K});
    for_independent_rows(x.matrix.rows, [&](std::int64_t i) {
        x.matrix.read(i, self.example());
        const auto scores = scores_of_first(self, K);
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
        best_labels(scores_of_first(self, K), count, best);
        std::copy(best.begin(), best.end(), out.data + static_cast<std::size_t>(i) * count);
    });
    return out.array;
}

// The first k places of each row (all if k < 0), judged.
template <class T>
static PlaceArrays judge(const AnyRanker<T>& self, const MatrixView& x, std::int64_t k,
                         const TieArray& count, const TieArray& last) {
    const std::size_t K = self.label_count();
    const TieOrder ties = tie_order(count, last, K);
    const std::size_t places = k < 0 ? K : std::min(K, static_cast<std::size_t>(k));
    PlaceArrays out(static_cast<std::size_t>(x.matrix.rows), places);
    for_independent_rows(x.matrix.rows, [&](std::int64_t i) {
        static thread_local Judgement judged;
        x.matrix.read(i, self.example());
        self.judge_example(places, ties, judged);
        out.write(static_cast<std::size_t>(i), judged);
    });
    return out;
}

// For each target: the share of recent answers whose first suggestion was sure, the share of these
// that was right, and how many answers that was measured on.
template <class T>
static std::vector<std::tuple<double, double, double>> covered(const AnyRanker<T>& self,
                                                               const std::vector<double>& targets) {
    std::shared_lock lock(self.mutex());
    std::vector<std::tuple<double, double, double>> out;
    for (const double target : targets) {
        CoveredShare found;
        if (const Confidence* confidence = self.confidence_state())
            found = confidence->covered(target);
        out.emplace_back(found.share, found.precision, found.answers);
    }
    return out;
}

// Recent sure suggestions of each label, and right ones of them: (K, targets, 2).
template <class T>
static auto label_precision(const AnyRanker<T>& self) {
    const std::size_t K = self.label_count(), targets = LabelPrecision::kTargets.size();
    std::shared_lock lock(self.mutex());
    Owned<double> out({K, targets, 2});
    std::fill_n(out.data, K * targets * 2, 0.0);
    if (const Confidence* confidence = self.confidence_state())
        for (std::size_t label = 0; label < K; ++label)
            for (std::size_t i = 0; i < targets; ++i) {
                const auto count = confidence->label_precision().count(label, i);
                out.data[(label * targets + i) * 2] = count.sure;
                out.data[(label * targets + i) * 2 + 1] = count.right;
            }
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
             nb::arg("cutoffs") = nb::none(), nb::arg("stands_for") = 1.0,
             nb::arg("places") = nb::none())
        .def("explain_one", &explain_one<T>, nb::arg("indices"), nb::arg("values"),
             nb::arg("label"))
        .def("judge", &judge<T>, nb::arg("x"), nb::arg("k"), nb::arg("count") = nb::none(),
             nb::arg("last") = nb::none())
        .def(
            "judge_scores",
            [](const AnyRanker<T>& self, const VectorOf<T>& scores, std::int32_t known,
               PlaceArrays& out, std::size_t row, const TieArray& count, const TieArray& last) {
                const TieOrder ties = tie_order(count, last, scores.shape(0));
                Judgement judged;
                self.judge_scores({scores.data(), scores.shape(0)}, known, out.k(), ties, judged);
                out.write_checked(row, judged);
            },
            nb::arg("scores"), nb::arg("known"), nb::arg("out"), nb::arg("row"),
            nb::arg("count") = nb::none(), nb::arg("last") = nb::none())
        .def("covered", &covered<T>, nb::arg("targets"))
        .def("label_precision", &label_precision<T>)
        .def("count_mistake", &AnyRanker<T>::count_mistake_of, nb::arg("label"), nb::arg("weight"))
        .def_prop_ro("has_one_label",
                     [](const AnyRanker<T>& self) {
                         std::shared_lock lock(self.mutex());
                         const Confidence* confidence = self.confidence_state();
                         return confidence && confidence->has_one_label();
                     })
        .def_prop_ro("in_runs",
                     [](const AnyRanker<T>& self) {
                         std::shared_lock lock(self.mutex());
                         const Confidence* confidence = self.confidence_state();
                         return confidence && confidence->in_runs();
                     })
        .def("restart_certificate", &AnyRanker<T>::restart)
        .def("score", &score<T>, nb::arg("x"))
        .def("rank", &rank<T>, nb::arg("x"), nb::arg("k"));
}

void add_rankers(nb::module_& module) {
    nb::class_<PlaceArrays>(module, "PlaceArrays")
        .def(nb::init<std::size_t, std::size_t>(), nb::arg("rows"), nb::arg("k"))
        .def("fill", &PlaceArrays::fill, nb::kw_only(), nb::arg("labels"), nb::arg("scores"),
             nb::arg("probabilities"), nb::arg("assured"), nb::arg("chosen"), nb::arg("whole"),
             nb::arg("known"), nb::arg("in_runs"))
        .def("take", &PlaceArrays::take);
    add_ranker_class<float>(module, "Ranker32");
    add_ranker_class<double>(module, "Ranker64");
}

}  // namespace tagalong::bind
