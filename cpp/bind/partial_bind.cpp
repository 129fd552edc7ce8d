// The Python classes of PartialRanker and Game.
#include <nanobind/stl/variant.h>

#include <variant>

#include "bind/module.hpp"
#include "bind/partial_state.hpp"
#include "bind/ranker_bind.hpp"

namespace tagalong::bind {

template <class T>
using BoundPartial = BoundRanker<PartialRanker<T>, T>;

// The slot costs: the name of a scheme, or one number per slot for each size of list.
using SlotCost = std::variant<std::string, std::vector<double>>;

static SlotCosts make_costs(const SlotCost& given) {
    if (const auto* table = std::get_if<std::vector<double>>(&given)) return SlotCosts(*table);
    return SlotCosts(std::get<std::string>(given) == "constant" ? SlotCosts::Kind::constant
                                                                : SlotCosts::Kind::decreasing);
}

// The surrogate loss: its name, or the numbers of a table: the constants c_L, c', c'' and L(-R),
// then g and its derivative at equidistant points.
using Loss = std::variant<std::string, std::vector<std::vector<double>>>;

static void set_loss(const Loss& given, PartialConfig& config) {
    if (const auto* name = std::get_if<std::string>(&given)) {
        config.loss = *name == "logistic" ? MarginLoss::logistic : MarginLoss::square;
        return;
    }
    const auto& table = std::get<std::vector<std::vector<double>>>(given);
    if (table.size() != 3 || table[0].size() != 4)
        throw InputError("loss: a table must have four constants, and two lists of numbers");
    config.loss = MarginLoss::table;
    config.loss_table = {table[0][1], table[0][2], table[0][3], table[1], table[2]};
}

static ListChooserConfig make_game(double miss_weight, const SlotCost& slot_cost,
                                   const std::string& ties, std::int64_t max_explore) {
    ListChooserConfig config;
    config.miss_weight = miss_weight;
    config.costs = make_costs(slot_cost);
    config.ties_by_width = ties == "width";
    config.max_explore = max_explore;
    return config;
}

template <class Ranker>
static void construct(Ranker* self, double miss_weight, const SlotCost& slot_cost,
                      std::size_t max_labels, const std::string& ties, std::int64_t max_explore,
                      const Loss& loss, double radius, double delta,
                      std::optional<double> norm_bound, const std::string& covariance,
                      double exploration, const std::string& update, const std::string& width,
                      const std::string& kernel, double gamma, bool normalize, double memory_limit,
                      std::int64_t n_features) {
    PartialConfig config;
    set_loss(loss, config);
    config.radius = radius;
    config.chooser = make_game(miss_weight, slot_cost, ties, max_explore);
    config.confidence.delta = delta;
    config.confidence.norm_bound = norm_bound;
    config.confidence.determinant = width == "determinant";
    config.confidence.exploration = exploration;
    config.covariance = covariance == "full"       ? CovarianceKind::full
                        : covariance == "diagonal" ? CovarianceKind::diagonal
                                                   : CovarianceKind::kernel;
    config.kernel.kind = kernel == "rbf" ? Kernel::Kind::gaussian : Kernel::Kind::linear;
    config.kernel.gamma = gamma;
    config.learn_all = update == "full";
    config.normalize = normalize;
    config.max_labels = max_labels;
    config.n_features = n_features;
    config.memory_limit = memory_limit;
    new (self) Ranker(config);
}

// The largest list size per row; none: as configured.
using Caps = std::optional<VectorOf<std::int64_t>>;

static std::size_t cap_of(const Caps& caps, std::int64_t row) {
    return caps ? static_cast<std::size_t>(caps->data()[row]) : 0;
}

// Suggested lists, with the probabilities and the width of each label, and whether it is shown for
// exploration.
struct Lists {
    std::vector<std::int64_t> ends = {0};
    std::vector<std::int32_t> labels;
    std::vector<double> optimistic, plain, width;
    std::vector<std::uint8_t> explores;

    template <class Reader>
    void add(const Reader& reader) {
        for (const std::int32_t label : reader.shown) {
            const auto i = static_cast<std::size_t>(label);
            labels.push_back(label);
            optimistic.push_back(reader.optimistic.probability[i]);
            plain.push_back(reader.plain.probability[i]);
            width.push_back(reader.width[i]);
            const auto& known = reader.plain_list;
            explores.push_back(std::find(known.begin(), known.end(), label) == known.end());
        }
        ends.push_back(static_cast<std::int64_t>(labels.size()));
    }
    auto tuple() const {
        return std::make_tuple(copied(ends), copied(labels), copied(optimistic), copied(plain),
                               copied(width), copied(explores));
    }
};

template <class T>
static void add_game_methods(nb::class_<BoundPartial<T>, AnyRanker<T>>& type) {
    using Ranker = BoundPartial<T>;
    type.def(
            "suggest",
            [](const Ranker& self, const MatrixView& x, const Caps& most) {
                check_row_count(x.matrix.rows, most, "most");
                Lists out;
                for_rows(x.matrix.rows, [&](std::int64_t i) {
                    auto& reader = thread_reader<PartialRanker<T>>();
                    x.matrix.read(i, reader.x);
                    self.finish(reader.x);
                    std::shared_lock lock(self.mutex());
                    self.suggest(reader, cap_of(most, i), true);
                    out.add(reader);
                });
                return out.tuple();
            },
            nb::arg("x"), nb::arg("most").none())
        .def(
            "suggest_one",
            [](const Ranker& self, const Vector& indices, const Vector& values, std::size_t most) {
                auto& reader = thread_reader<PartialRanker<T>>();
                read_pairs(indices, values, longest_row<T>(), reader.x);
                self.finish(reader.x);
                Lists out;
                std::shared_lock lock(self.mutex());
                self.suggest(reader, most, true);
                out.add(reader);
                return out.tuple();
            },
            nb::arg("indices"), nb::arg("values"), nb::arg("most"))
        // Learns like `learn`. Returns the lists shown, the relevance of their labels, and the slot
        // loss and the partial rank loss per row.
        .def(
            "play",
            [](Ranker& self, const MatrixView& x, const LabelRows& relevant,
               const LabelRows& unknown, std::optional<VectorOf<double>> weights,
               const Caps& most) {
                check_labels(x, relevant, unknown);
                check_row_count(x.matrix.rows, most, "most");
                check_row_count(x.matrix.rows, weights, "weights");
                Owned<double> losses({relevant.rows()}), partial({relevant.rows()});
                std::vector<std::int64_t> ends = {0};
                std::vector<std::int32_t> shown;
                std::vector<std::uint8_t> accepted;
                Example example;
                for_rows(x.matrix.rows, [&](std::int64_t i) {
                    x.matrix.read(i, example);
                    self.finish(example);
                    const double weight = weights ? weights->data()[i] : 1.0;
                    std::unique_lock lock(self.mutex());
                    self.learn(example, relevant.row(i), unknown.row(i), weight, nullptr,
                               cap_of(most, i));
                    for (const std::int32_t label : self.last_shown()) {
                        shown.push_back(label);
                        accepted.push_back(self.was_relevant(label));
                    }
                    ends.push_back(static_cast<std::int64_t>(shown.size()));
                    losses.data[i] = self.last_losses().slots;
                    partial.data[i] = self.last_losses().partial;
                });
                const LabelRows lists(VectorOf<std::int64_t>(copied(ends)),
                                      VectorOf<std::int32_t>(copied(shown)));
                return std::make_tuple(lists, copied(accepted), losses.array, partial.array);
            },
            nb::arg("x"), nb::arg("relevant"), nb::arg("unknown"), nb::arg("weights") = nb::none(),
            nb::arg("most") = nb::none())
        // The list of the last round with full labels, its slot loss and its partial rank loss.
        .def("last_round",
             [](const Ranker& self) {
                 std::shared_lock lock(self.mutex());
                 const auto list = self.last_shown();
                 return std::make_tuple(std::vector<std::int32_t>(list.begin(), list.end()),
                                        self.last_losses().slots, self.last_losses().partial);
             })
        .def(
            "declare_features",
            [](Ranker& self, std::int64_t count) {
                std::unique_lock lock(self.mutex());
                self.declare_features(count);
            },
            nb::arg("count"))
        .def(
            "feedback",
            [](Ranker& self, const MatrixView& x, const LabelRows& shown,
               const LabelRows& accepted) {
                check_row_count(x.matrix.rows, shown.rows(), "shown");
                check_row_count(x.matrix.rows, accepted.rows(), "accepted");
                Example example;
                for_rows(x.matrix.rows, [&](std::int64_t i) {
                    x.matrix.read(i, example);
                    self.finish(example);
                    std::unique_lock lock(self.mutex());
                    self.feedback(example, shown.row(i), accepted.row(i), 1.0);
                });
            },
            nb::arg("x"), nb::arg("shown"), nb::arg("accepted"))
        .def(
            "feedback_one",
            [](Ranker& self, const Vector& indices, const Vector& values,
               const std::vector<std::int32_t>& shown, const std::vector<std::int32_t>& accepted) {
                Example& x = thread_reader<PartialRanker<T>>().x;
                read_pairs(indices, values, longest_row<T>(), x);
                self.finish(x);
                std::unique_lock lock(self.mutex());
                self.feedback(x, shown, accepted, 1.0);
            },
            nb::arg("indices"), nb::arg("values"), nb::arg("shown"), nb::arg("accepted"))
        // Indicator matrix, (rows, K), of the best lists without exploration.
        .def(
            "predict",
            [](const Ranker& self, const MatrixView& x) {
                const std::size_t K = self.label_count();
                Owned<std::int64_t> out({static_cast<std::size_t>(x.matrix.rows), K});
                for_rows(x.matrix.rows, [&](std::int64_t i) {
                    auto& reader = thread_reader<PartialRanker<T>>();
                    x.matrix.read(i, reader.x);
                    self.finish(reader.x);
                    std::int64_t* row = out.data + static_cast<std::size_t>(i) * K;
                    std::fill_n(row, K, 0);
                    std::shared_lock lock(self.mutex());
                    self.predict(reader, 0);
                    for (const std::int32_t label : reader.plain_list)
                        if (static_cast<std::size_t>(label) < K) row[label] = 1;
                });
                return out.array;
            },
            nb::arg("x"));
}

template <class T>
static void add_ranker(nb::module_& module, const char* name) {
    using Ranker = BoundPartial<T>;
    nb::class_<Ranker, AnyRanker<T>> type(module, name);
    type.def("__init__", &construct<Ranker>, nb::kw_only(), nb::arg("miss_weight"),
             nb::arg("slot_cost"), nb::arg("max_labels"), nb::arg("ties"), nb::arg("max_explore"),
             nb::arg("loss"), nb::arg("radius"), nb::arg("delta"), nb::arg("norm_bound").none(),
             nb::arg("covariance"), nb::arg("exploration"), nb::arg("update"), nb::arg("width"),
             nb::arg("kernel"), nb::arg("gamma"), nb::arg("normalize"), nb::arg("memory_limit"),
             nb::arg("n_features"));
    add_one_example_methods(type);
    add_game_methods<T>(type);
    add_certificate(type);
    // The matrix A of a label, or its stored inverse. Rows and columns are in the order of the
    // features.
    type.def(
            "matrix",
            [](const Ranker& self, std::size_t label, bool inverse) {
                std::shared_lock lock(self.mutex());
                const auto* full = std::get_if<FullCovariance<T>>(&self.covariance());
                if (!full || label >= self.labels())
                    throw InputError("label " + std::to_string(label) + " has no matrix");
                const auto& found = full->state()[label];
                const std::size_t n = self.features().size(), known = found.matrix.side();
                Owned<double> out({n, n});
                for (std::size_t i = 0; i < n; ++i)
                    for (std::size_t j = 0; j < n; ++j) {
                        double value = i == j ? 1 : 0;
                        if (i < known && j < known)
                            value = inverse ? static_cast<double>(found.inverse.at(i, j))
                                            : found.matrix.at(i, j);
                        out.data[i * n + j] = value;
                    }
                return out.array;
            },
            nb::arg("label"), nb::arg("inverse"))
        .def_static("bytes_a_label", &FullCovariance<T>::bytes_per_label, nb::arg("features"));
}

// The slot loss and the partial rank loss per list; `slots` has the largest allowed length per
// list.
static auto losses_of_lists(const ListChooser& self, const LabelRows& shown,
                            const LabelRows& relevant, const LabelRows& unknown,
                            const VectorOf<std::int64_t>& slots) {
    if (relevant.rows() != shown.rows() || unknown.rows() != shown.rows() ||
        slots.shape(0) != shown.rows())
        throw InputError("lists, labels and slots must have the same number of rows");
    const auto has = [](std::span<const std::int32_t> row, std::int32_t label) {
        return std::find(row.begin(), row.end(), label) != row.end();
    };
    Owned<double> losses({shown.rows()}), partial({shown.rows()});
    for (std::size_t i = 0; i < shown.rows(); ++i) {
        const auto row = static_cast<std::int64_t>(i);
        const auto list = shown.row(row), yes = relevant.row(row), open = unknown.row(row);
        if (list.size() > self.config().costs.max_size())
            throw InputError("a list of " + std::to_string(list.size()) +
                             " labels has no slot costs");
        const auto found = list_losses(
            self, list, yes.size(), static_cast<std::size_t>(slots.data()[i]),
            [&](std::int32_t label) { return has(open, label) ? -1 : has(yes, label); });
        losses.data[i] = found.slots;
        partial.data[i] = found.partial;
    }
    return std::make_pair(losses.array, partial.array);
}

static void add_game(nb::module_& module) {
    nb::class_<ListChooser>(module, "Game")
        .def(
            "__init__",
            [](ListChooser* self, double miss_weight, const SlotCost& slot_cost,
               const std::string& ties, std::int64_t max_explore) {
                new (self) ListChooser(make_game(miss_weight, slot_cost, ties, max_explore));
            },
            nb::kw_only(), nb::arg("miss_weight"), nb::arg("slot_cost"), nb::arg("ties"),
            nb::arg("max_explore"))
        .def(
            "choose",
            [](const ListChooser& self, const std::vector<double>& probabilities,
               std::size_t most) {
                std::vector<std::int32_t> out;
                self.choose({probabilities, probabilities}, most, out);
                return out;
            },
            nb::arg("probabilities"), nb::arg("most"))
        .def(
            "expected",
            [](const ListChooser& self, const std::vector<std::int32_t>& shown,
               const std::vector<double>& probabilities) {
                if (shown.size() > self.config().costs.max_size())
                    throw InputError("a list of " + std::to_string(shown.size()) +
                                     " labels has no slot costs");
                double cost = 0;
                for (const double p : probabilities) cost += self.config().miss_weight * p;
                for (std::size_t j = 0; j < shown.size(); ++j)
                    cost += self.false_positive_cost(j + 1, shown.size()) -
                            self.hit_gain(j + 1, shown.size()) *
                                probabilities.at(static_cast<std::size_t>(shown[j]));
                return cost;
            },
            nb::arg("shown"), nb::arg("probabilities"))
        .def("losses", &losses_of_lists, nb::arg("shown"), nb::arg("relevant"), nb::arg("unknown"),
             nb::arg("slots"));
}

void add_partial_rankers(nb::module_& module) {
    nb::class_<PartialCertificate>(module, "PartialCertificate")
        .def_ro("rounds", &PartialCertificate::rounds)
        .def_ro("shown", &PartialCertificate::shown)
        .def_ro("regret", &PartialCertificate::regret)
        .def_ro("ranking_regret", &PartialCertificate::ranking_regret)
        .def_ro("ranks", &PartialCertificate::ranks)
        .def_ro("cutoff", &PartialCertificate::cutoff)
        .def_ro("refactorisations", &PartialCertificate::refactorisations);
    add_ranker<float>(module, "PartialRanker32");
    add_ranker<double>(module, "PartialRanker64");
    add_game(module);
}

}  // namespace tagalong::bind
