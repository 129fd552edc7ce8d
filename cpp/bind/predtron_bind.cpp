// The Python class of Predtron.
#include <span>

#include "bind/module.hpp"
#include "bind/predtron_state.hpp"
#include "bind/ranker_bind.hpp"
#include "bind/rules.hpp"
#include "predtron/predtron.hpp"
#include "predtron/rule_table.hpp"

namespace tagalong::bind {

static void construct_problem(ProblemConfig* self, const std::string& kind,
                              const std::vector<double>& costs, const std::vector<double>& reject,
                              const std::string& set_loss, double least_loss, bool reciprocal,
                              double exponent, bool precision, std::int64_t depth,
                              bool ties_by_score) {
    ProblemConfig config;
    config.kind = choose<ProblemKind>({{"custom", ProblemKind::custom},
                                       {"binary", ProblemKind::binary},
                                       {"classes", ProblemKind::classes},
                                       {"ordinal", ProblemKind::ordinal},
                                       {"multilabel", ProblemKind::multilabel},
                                       {"ranking", ProblemKind::ranking}},
                                      kind, "kind");
    config.costs = costs;
    config.reject = reject;
    config.set_loss = choose<SetLoss>({{"hamming", SetLoss::hamming},
                                       {"subset", SetLoss::subset},
                                       {"error_set", SetLoss::error_set}},
                                      set_loss, "set_loss");
    config.least_loss = least_loss;
    config.reciprocal = reciprocal;
    config.exponent = exponent;
    config.precision = precision;
    config.depth = depth;
    config.ties_by_score = ties_by_score;
    new (self) ProblemConfig(config);
}

static void add_problem(nb::module_& module) {
    const ProblemConfig usual;
    nb::class_<ProblemConfig>(module, "PredtronProblem")
        .def("__init__", &construct_problem, nb::kw_only(), nb::arg("kind"),
             nb::arg("costs") = nb::make_tuple(), nb::arg("reject") = nb::make_tuple(),
             nb::arg("set_loss") = "hamming", nb::arg("least_loss") = usual.least_loss,
             nb::arg("reciprocal") = usual.reciprocal, nb::arg("exponent") = usual.exponent,
             nb::arg("precision") = usual.precision, nb::arg("depth") = usual.depth,
             nb::arg("ties_by_score") = usual.ties_by_score);
}

template <class Learner>
static void construct(Learner* self, const ProblemConfig& problem, const std::string& norm,
                      const std::string& kernel, double gamma, double degree, std::size_t budget,
                      const std::string& update, double step, bool average, bool normalize,
                      double constant, bool queries, std::size_t dimension,
                      std::int64_t n_features) {
    PredtronConfig config;
    config.problem = problem;
    config.norm = choose<PredtronNorm>({{"l2", PredtronNorm::l2},
                                        {"l1", PredtronNorm::l1},
                                        {"group", PredtronNorm::group},
                                        {"kernel", PredtronNorm::kernel},
                                        {"trace", PredtronNorm::trace},
                                        {"custom", PredtronNorm::custom}},
                                       norm, "norm");
    config.kernel.kind = choose<KernelKind>(
        {{"linear", KernelKind::linear}, {"rbf", KernelKind::rbf}, {"poly", KernelKind::poly}},
        kernel, "kernel");
    config.kernel.gamma = gamma;
    config.kernel.degree = degree;
    config.budget = budget;
    config.by_loss = find_rule(std::span<const PredtronUpdate>(kPredtronUpdates), update).by_loss;
    config.step = step;
    config.average = average;
    config.normalize = normalize;
    config.constant = constant;
    config.n_features = n_features;
    config.queries = queries;
    config.dimension = dimension;
    new (self) Learner(config);
}

// The prediction weights: (rows, labels), or (rows, scores) if there are no labels.
template <class T>
static FeatureWeights weights_of(const Predtron<T>& self) {
    const WeightStore<T> none(1);  // a kernel has support examples instead
    const WeightStore<T>& store = self.store() == nullptr ? none : *self.store();
    const std::size_t K = self.labels() > 0 ? self.labels() : self.scores_per_row();
    Owned<T> weights({store.rows(), K});
    for (std::size_t r = 0; r < store.rows(); ++r)
        for (std::size_t k = 0; k < K; ++k)
            weights.data[r * K + k] =
                static_cast<T>(self.weight(static_cast<std::int32_t>(r), static_cast<int>(k)));
    return {feature_array(store.features()), NumPy<>(weights.array), {}};
}

// Reads the rows of a query and prepares them like any example.
template <class T>
static std::span<const Example> documents_of(const Predtron<T>& self, const Matrix& matrix,
                                             std::int64_t begin, std::int64_t end) {
    static thread_local std::vector<Example> documents;
    const auto count = static_cast<std::size_t>(end - begin);
    if (documents.size() < count) documents.resize(count);
    for (std::int64_t i = begin; i < end; ++i) {
        Example& document = documents[static_cast<std::size_t>(i - begin)];
        matrix.read(i, document);
        self.finish(document);
    }
    return {documents.data(), count};
}

template <class V>
static NumPy<double> doubles(std::span<const V> values) {
    Owned<double> out({values.size()});
    kernels::to_finite_doubles(values.data(), out.data, values.size());
    return out.array;
}

template <class T>
static void add_predtron(nb::module_& module, const char* name) {
    using Learner = BoundRanker<Predtron<T>, T>;
    nb::class_<Learner, AnyRanker<T>> type(module, name);
    type.def("__init__", &construct<Learner>, nb::kw_only(), nb::arg("problem"), nb::arg("norm"),
             nb::arg("kernel"), nb::arg("gamma"), nb::arg("degree"), nb::arg("budget"),
             nb::arg("update"), nb::arg("step"), nb::arg("average"), nb::arg("normalize"),
             nb::arg("constant"), nb::arg("queries"), nb::arg("dimension"), nb::arg("n_features"));
    add_one_example_methods(type);
    add_selection_methods(type);
    add_certificate(type);
    // The recent share of right targets with such scores, for any problem.
    type.def(
        "probabilities",
        [](const Learner& self, const VectorOf<T>& scores) {
            Owned<double> out({scores.shape(0)});
            std::shared_lock lock(self.mutex());
            self.calibration().probabilities(std::span<const T>(scores.data(), scores.shape(0)),
                                             out.data);
            return out.array;
        },
        nb::arg("scores"));
    // The scores of a row, which the problem decodes, with the prediction weights or the current
    // weights.
    type.def(
            "raw_scores",
            [](const Learner& self, const MatrixView& x, std::int64_t row, bool predicting) {
                auto& reader = thread_reader<Predtron<T>>();
                x.matrix.read(row, reader.x);
                self.finish(reader.x);
                std::shared_lock lock(self.mutex());
                return doubles(self.raw_score(reader, predicting));
            },
            nb::arg("x"), nb::arg("row"), nb::arg("predicting"))
        // A row in the form that the learner reads: features (-1 is the constant feature) and
        // values.
        .def(
            "finished",
            [](const Learner& self, const MatrixView& x, std::int64_t row) {
                Example& example = thread_reader<Predtron<T>>().x;
                x.matrix.read(row, example);
                self.finish(example);
                return std::make_pair(
                    vector_array<std::int32_t>(example.size(),
                                               [&](std::size_t i) { return example.feature[i]; }),
                    vector_array<double>(example.size(),
                                         [&](std::size_t i) { return example.value[i]; }));
            },
            nb::arg("x"), nb::arg("row"))
        .def(
            "norm",
            [](const Learner& self, const MatrixView& x, std::int64_t row) {
                auto& reader = thread_reader<Predtron<T>>();
                x.matrix.read(row, reader.x);
                self.finish(reader.x);
                return self.norm_of(reader.x);
            },
            nb::arg("x"), nb::arg("row"))
        .def(
            "count",
            [](Learner& self, double norm, double loss, double weight, std::size_t size) {
                std::unique_lock lock(self.mutex());
                return self.count(norm, loss, weight, size);
            },
            nb::arg("norm"), nb::arg("loss"), nb::arg("weight"), nb::arg("size"))
        .def(
            "observe_labels",
            [](Learner& self, VectorOf<T> predicted, std::size_t labels_before, std::int32_t known,
               std::vector<std::int32_t> relevant, std::vector<std::int32_t> unknown,
               double stands_for, PlaceArrays* places, std::size_t row) {
                std::sort(relevant.begin(), relevant.end());
                std::sort(unknown.begin(), unknown.end());
                const std::span<const T> scores(predicted.data(), predicted.shape(0));
                if (labels_before > scores.size())
                    throw InputError("predicted must have a score for every label");
                Judgement judged;
                std::unique_lock lock(self.mutex());
                self.observe_labels({scores.first(labels_before), self.cutoff(), known}, scores,
                                    relevant, unknown, {stands_for, nullptr, &judged});
                if (places) places->write_checked(row, judged);
            },
            nb::arg("predicted"), nb::arg("labels_before"), nb::arg("known"), nb::arg("relevant"),
            nb::arg("unknown"), nb::arg("stands_for") = 1.0, nb::arg("places") = nb::none(),
            nb::arg("row") = 0)
        .def(
            "move",
            [](Learner& self, const MatrixView& x, std::int64_t row, VectorOf<double> direction) {
                Example& example = thread_reader<Predtron<T>>().x;
                x.matrix.read(row, example);
                self.finish(example);
                std::unique_lock lock(self.mutex());
                if (direction.shape(0) != self.scores_per_row())
                    throw InputError("direction must have one number per score");
                self.move(example, {direction.data(), direction.shape(0)});
            },
            nb::arg("x"), nb::arg("row"), nb::arg("direction"))
        // Learns a query: the documents begin..end and their grades. Returns the loss and the
        // scores before the round.
        .def(
            "learn_query",
            [](Learner& self, const MatrixView& x, std::int64_t begin, std::int64_t end,
               VectorOf<double> grades, double norm, double weight) {
                Owned<T> scores({static_cast<std::size_t>(end - begin)});
                double loss = 0;
                {
                    nb::gil_scoped_release release;
                    const auto documents = documents_of(self, x.matrix, begin, end);
                    std::unique_lock lock(self.mutex());
                    loss = self.learn_query(documents, {grades.data(), grades.shape(0)}, norm,
                                            weight, scores.data);
                }
                return std::make_pair(loss, scores.array);
            },
            nb::arg("x"), nb::arg("begin"), nb::arg("end"), nb::arg("grades"), nb::arg("norm"),
            nb::arg("weight"))
        .def(
            "query_scores",
            [](const Learner& self, const MatrixView& x, std::int64_t begin, std::int64_t end,
               bool predicting) {
                std::vector<T> scores;
                {
                    nb::gil_scoped_release release;
                    const auto documents = documents_of(self, x.matrix, begin, end);
                    std::shared_lock lock(self.mutex());
                    self.score_documents(documents, predicting, scores);
                }
                return doubles(std::span<const T>(scores));
            },
            nb::arg("x"), nb::arg("begin"), nb::arg("end"), nb::arg("predicting"))
        // Learns a query whose loss and direction were computed in Python.
        .def(
            "settle_query",
            [](Learner& self, const MatrixView& x, std::int64_t begin, std::int64_t end,
               VectorOf<double> grades, double loss, VectorOf<double> direction, double norm,
               double weight) {
                nb::gil_scoped_release release;
                const auto documents = documents_of(self, x.matrix, begin, end);
                std::unique_lock lock(self.mutex());
                self.learn_judged_query(documents, {grades.data(), grades.shape(0)}, loss,
                                        {direction.data(), direction.shape(0)}, norm, weight);
            },
            nb::arg("x"), nb::arg("begin"), nb::arg("end"), nb::arg("grades"), nb::arg("loss"),
            nb::arg("direction"), nb::arg("norm"), nb::arg("weight"));
}

void add_predtrons(nb::module_& module) {
    add_problem(module);
    add_facts<PredtronCertificate>(module, "PredtronCertificate")
        .def_ro("spread", &PredtronCertificate::spread)
        .def_ro("cutoff", &PredtronCertificate::cutoff);
    add_predtron<float>(module, "Predtron32");
    add_predtron<double>(module, "Predtron64");
    // Loss-augmented decoding: the items in the order of the ranking that maximizes score plus
    // loss.
    module.def(
        "merge_ranking",
        [](VectorOf<double> scores, VectorOf<std::int32_t> relevant, VectorOf<double> f,
           VectorOf<double> discount) {
            MergeDecoder decode;
            const auto order =
                decode({scores.data(), scores.shape(0)}, {relevant.data(), relevant.shape(0)},
                       {f.data(), f.shape(0)}, {discount.data(), discount.shape(0)});
            return vector_array<std::int32_t>(order.size(),
                                              [&](std::size_t i) { return order[i]; });
        },
        nb::arg("scores"), nb::arg("relevant"), nb::arg("f"), nb::arg("discount"));
}

}  // namespace tagalong::bind
