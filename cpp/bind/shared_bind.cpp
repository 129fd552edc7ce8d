// The Python class of SharedRanker.
#include "bind/block_state.hpp"
#include "bind/module.hpp"
#include "bind/ranker_bind.hpp"
#include "shared/shared_ranker.hpp"

namespace tagalong::bind {

template <class T>
using BoundShared = BoundRanker<SharedRanker<T>, T>;

template <class T>
static void write_state(const SharedRanker<T>& self, nb::dict& arrays, nb::dict& numbers) {
    write_state(self.block(), arrays, numbers);
    const FolderAffinity& affinity = self.affinity();
    numbers["labels"] = self.labels();
    arrays["words"] = feature_array(affinity.counts().features());
    arrays["word_counts"] = plane_array(affinity.counts(), 0);
    arrays["messages"] = vector_array<std::int64_t>(
        affinity.messages().size(), [&](std::size_t r) { return affinity.messages()[r]; });
    if (affinity.config().seldom_of_all) {
        numbers["all_messages"] = affinity.all_messages();
        arrays["word_totals"] = vector_array<double>(
            affinity.totals().size(), [&](std::size_t w) { return affinity.totals()[w]; });
    }
    write_part(self.cutoff_state(), "cutoff", arrays);
    write_part(self.confidence(), "confidence", arrays);
}

template <class T>
static void read_state(SharedRanker<T>& self, const SavedState& saved) {
    const auto K = static_cast<std::size_t>(saved.count("labels"));
    const auto words = saved.features("words");
    const auto counts = saved.plane<float>("word_counts", words.shape(0), K, kNotNegative);
    const auto messages = saved.vector<std::int64_t>("messages", K, kCount);
    if (self.labels() != 0) throw InputError("model state can only be restored into a new model");
    self.add_labels(K);
    read_state(self.block(), saved);
    for (std::size_t w = 0; w < words.shape(0); ++w)
        std::copy_n(counts.data() + w * K, K, self.affinity().restore_row(words.data()[w]));
    self.affinity().restore_messages({messages.data(), messages.data() + K});
    if (self.affinity().config().seldom_of_all) {
        const auto totals = saved.vector<double>("word_totals", words.shape(0), kCount);
        self.affinity().restore_totals(saved.count("all_messages"),
                                       {totals.data(), totals.data() + totals.shape(0)});
    }
    read_part(self.cutoff_state(), "cutoff", saved);
    read_confidence(self, saved);
}

template <class T>
static SharedFacts certificate_of(const SharedRanker<T>& self) {
    return {certificate_of(self.block()), self.cutoff()};
}

// There is no common weight of unseen features: which features a row has depends on the label.
template <class T>
static FeatureWeights weights_of(const SharedRanker<T>& self) {
    FeatureWeights out = weights_of(self.block());
    if (!self.block().config().entropic) out.unseen.reset();  // without a row the weight is 0
    return out;
}

template <class T>
static std::size_t bytes_of(const SharedRanker<T>& self) {
    return self.block().bytes() + self.affinity().counts().bytes();
}

// An example as passed to phi: sorted, duplicates summed, without zeros.
static auto finished(const Example& x) {
    return std::make_pair(
        vector_array<std::int32_t>(x.size(), [&](std::size_t i) { return x.feature[i]; }),
        vector_array<double>(x.size(), [&](std::size_t i) { return x.value[i]; }));
}

// Methods for custom features. A block is built and checked before the round. The methods
// correspond to those of every ranker.
template <class T>
static void add_block_methods(nb::module_& module, nb::class_<BoundShared<T>, AnyRanker<T>>& type,
                              const char* name) {
    using Ranker = BoundShared<T>;
    using Block = LabelBlock<T>;
    nb::class_<Block>(module, name)
        .def(
            "__init__",
            [](Block* self, const MatrixView& rows) {
                // Half the allowed length, so that the difference of two rows is not too long.
                rows.matrix.check(longest_row<T>() / 4);
                new (self) Block();
                self->load(rows.matrix);
            },
            nb::arg("rows"))
        .def_prop_ro("known", &Block::known)
        .def_prop_ro("bytes", &Block::bytes);
    type.def(
            "finished_row",
            [](const Ranker& self, const MatrixView& x, std::int64_t i) {
                Example& example = thread_reader<SharedRanker<T>>().x;
                if (i < 0 || i >= x.matrix.rows)
                    throw InputError("there is no row " + std::to_string(i));
                x.matrix.read(i, example);
                self.finish(example);
                return finished(example);
            },
            nb::arg("x"), nb::arg("row"))
        .def(
            "finished_pairs",
            [](const Ranker& self, const Vector& indices, const Vector& values) {
                Example& example = thread_reader<SharedRanker<T>>().x;
                read_pairs(indices, values, longest_row<T>(), example);
                self.finish(example);
                return finished(example);
            },
            nb::arg("indices"), nb::arg("values"))
        // Learns a round; returns the scores and the cut-off before it.
        .def(
            "learn_block",
            [](Ranker& self, const Block& phi, const std::vector<std::int32_t>& relevant,
               const std::vector<std::int32_t>& unknown, double weight, double stands_for,
               PlaceArrays* places, std::size_t row) {
                std::unique_lock lock(self.mutex());
                if (phi.labels != self.labels_with(relevant, unknown))
                    throw InputError("a block of " + std::to_string(phi.labels) +
                                     " labels in a round of " +
                                     std::to_string(self.labels_with(relevant, unknown)));
                Owned<T> scores({phi.labels});
                const double cutoff = self.cutoff();
                Judgement judged;
                self.learn(phi, relevant, unknown, weight, {stands_for, scores.data, &judged});
                if (places) places->write_checked(row, judged);
                return std::make_pair(scores.array, cutoff);
            },
            nb::arg("phi"), nb::arg("relevant"), nb::arg("unknown"), nb::arg("weight"),
            nb::arg("stands_for") = 1.0, nb::arg("places") = nb::none(), nb::arg("row") = 0)
        .def(
            "score_block",
            [](const Ranker& self, const Block& phi) {
                auto& reader = thread_reader<SharedRanker<T>>();
                std::shared_lock lock(self.mutex());
                self.score(phi, reader.sums);
                const auto& sums = reader.sums;
                return std::make_pair(
                    vector_array<T>(sums.size(), [&](std::size_t r) { return sums[r]; }),
                    self.cutoff());
            },
            nb::arg("phi"))
        .def(
            "rank_block",
            [](const Ranker& self, const Block& phi, std::int64_t k) {
                auto& reader = thread_reader<SharedRanker<T>>();
                std::shared_lock lock(self.mutex());
                self.score(phi, reader.sums);
                best_labels(std::span<const T>(reader.sums),
                            k < 0 ? phi.labels : static_cast<std::size_t>(k), reader.best);
                nb::typed<nb::list, int> out;
                for (const std::int32_t label : reader.best) out.append(label);
                return out;
            },
            nb::arg("phi"), nb::arg("k"))
        .def(
            "explain_block",
            [](const Ranker& self, const Block& phi, std::int32_t label) {
                auto& reader = thread_reader<SharedRanker<T>>();
                std::vector<double> parts;
                std::shared_lock lock(self.mutex());
                if (label < 0 || static_cast<std::size_t>(label) >= phi.labels)
                    throw InputError("there is no label number " + std::to_string(label));
                self.contributions(phi, label, parts);
                self.score(phi, reader.sums);
                return std::make_tuple(
                    vector_array<std::int32_t>(parts.size(),
                                               [&](std::size_t i) { return phi.features[i]; }),
                    vector_array<double>(parts.size(), [&](std::size_t i) { return parts[i]; }),
                    static_cast<double>(reader.sums[label]));
            },
            nb::arg("phi"), nb::arg("label"));
}

template <class T>
static void add_ranker(nb::module_& module, const char* name, const char* block_name) {
    using Ranker = BoundShared<T>;
    nb::class_<Ranker, AnyRanker<T>> type(module, name);
    constexpr AffinityConfig usual;  // unused with custom features
    type.def(
        "__init__",
        [](Ranker* self, const std::string& update, const std::string& geometry, double C,
           double margin, std::int64_t n_features, double often, double seldom, float common,
           float rare, const std::string& seldom_of) {
            new (self) Ranker({make_block_config(update, geometry, C, margin, n_features),
                               {often, seldom, common, rare, seldom_of == "all"}});
        },
        nb::kw_only(), nb::arg("update"), nb::arg("geometry"), nb::arg("C"), nb::arg("margin"),
        nb::arg("n_features"), nb::arg("often") = usual.often, nb::arg("seldom") = usual.seldom,
        nb::arg("common") = usual.common, nb::arg("rare") = usual.rare,
        nb::arg("seldom_of") = "folder");
    add_one_example_methods(type);
    add_selection_methods(type);
    add_certificate(type);
    add_block_methods<T>(module, type, block_name);
    type.def("recompute_dual", [](const Ranker& self) {
        std::shared_lock lock(self.mutex());
        return self.block().recompute_dual();
    });
}

void add_shared_rankers(nb::module_& module) {
    add_facts<SharedFacts>(module, "SharedCertificate")
        .def_ro("dual", &SharedFacts::dual)
        .def_ro("cutoff", &SharedFacts::cutoff);
    add_ranker<float>(module, "SharedRanker32", "LabelBlock32");
    add_ranker<double>(module, "SharedRanker64", "LabelBlock64");
}

}  // namespace tagalong::bind
