// The Python class of CompactRanker, and how it is made from other rankers.
#include <numeric>
#include <string>

#include "bind/compact_state.hpp"
#include "bind/module.hpp"
#include "bind/one_label.hpp"
#include "bind/race_state.hpp"
#include "bind/ranker_bind.hpp"
#include "compact/compact_ranker.hpp"
#include "compact/compaction.hpp"

namespace tagalong::bind {

using Compact = BoundRanker<CompactRanker, float>;

static void construct_compact(Compact* self, bool centred, const std::string& one_label,
                              bool probability, bool normalize, double constant) {
    new (self) Compact(
        CompactConfig{centred, one_label_named(one_label), probability, normalize, constant});
}

// Features in ascending order, with the statistics of each.
static FeatureStatistics sorted(const FeatureStatistics& statistics) {
    std::vector<std::size_t> order(statistics.features().size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return statistics.features()[a] < statistics.features()[b];
    });
    std::vector<std::int32_t> features;
    std::vector<FeatureValues> values;
    for (const std::size_t place : order) {
        features.push_back(statistics.features()[place]);
        values.push_back(statistics.at(place));
    }
    FeatureStatistics out;
    if (!out.restore(statistics.totals(), features, values))
        throw InputError("the statistics of the features contradict each other");
    return out;
}

static State finished(const std::vector<CompactedPart>& made, const FeatureStatistics& statistics,
                      const Confidence* confidence, std::size_t labels, double cutoff) {
    std::vector<CompactPart> parts;
    for (const CompactedPart& part : made) parts.push_back(part.view());
    nb::dict arrays, numbers;
    numbers["labels"] = labels;
    numbers["cutoff"] = cutoff;
    if (confidence) write_part(*confidence, "confidence", arrays);
    write_parts(parts, statistics, arrays, numbers);
    State out;
    out["arrays"] = arrays;
    out["numbers"] = numbers;
    return out;
}

static std::vector<double> counts_of(const FeatureStatistics& statistics) {
    std::vector<double> out;
    for (std::size_t place = 0; place < statistics.features().size(); ++place)
        out.push_back(statistics.at(place).rows);
    return out;
}

template <class T>
static State compact_race(const BoundRanker<Race<T>, T>& self, double dropped_share) {
    std::shared_lock lock(self.mutex());
    const FeatureStatistics statistics = sorted(self.statistics());
    const std::vector<double> counts = counts_of(statistics);
    std::vector<CompactedPart> parts;
    for (std::size_t e = 0; e < self.entrants().size(); ++e) {
        if (self.entrants().factor(e) == 0) continue;
        const Scaling scaling = self.entrants().type_of(e).scaling;
        with_learner(*self.entrants()[e].learner, [&](const auto& learner) {
            parts.push_back(
                compacted(linear_weights(learner), statistics.features(), counts, dropped_share));
        });
        parts.back().scaling = scaling;
        parts.back().factor = self.entrants().factor(e);
        parts.back().ratio = self.length_ratio(scaling);
    }
    const bool probability = self.config().ranker.probability;
    return finished(parts, statistics, probability ? &self.confidence() : nullptr, self.labels(),
                    self.cutoff());
}

// One ranker has no statistics of features; all of them count as equally frequent.
template <class T>
static State compact_ranker(const BoundRanker<LabelRanker<T>, T>& self, double dropped_share) {
    std::shared_lock lock(self.mutex());
    std::vector<std::int32_t> features;
    for (const std::int32_t feature : self.store().features())
        if (feature >= 0) features.push_back(feature);
    std::sort(features.begin(), features.end());
    FeatureStatistics statistics;
    const auto count = static_cast<double>(features.size());
    if (!statistics.restore({1, count, count > 0 ? 1.0 : 0.0, false, false}, features,
                            std::vector<FeatureValues>(features.size(), {1, 1, 0, 0})))
        throw InputError("the features of the ranker are not distinct");
    const LabelRanker<T>& ranker = self;
    std::vector<CompactedPart> parts;
    parts.push_back(
        compacted(linear_weights(ranker), features, counts_of(statistics), dropped_share));
    return finished(parts, statistics, self.config().probability ? &self.confidence() : nullptr,
                    self.labels(), self.cutoff());
}

void add_compact_rankers(nb::module_& module) {
    nb::class_<Compact, AnyRanker<float>> type(module, "CompactRanker");
    type.def("__init__", &construct_compact, nb::kw_only(), nb::arg("centred"),
             nb::arg("one_label"), nb::arg("probability"), nb::arg("normalize"),
             nb::arg("constant"));
    add_one_example_methods(type);
    type.def("certificate", [](const Compact&) -> LabelCertificate {
        throw InputError("a compact model has no certificate");
    });
    type.def_prop_ro("cutoff", &Compact::current_cutoff);
    module.def("compacted", &compact_race<float>, nb::arg("ranker"), nb::arg("dropped_share"));
    module.def("compacted", &compact_race<double>, nb::arg("ranker"), nb::arg("dropped_share"));
    module.def("compacted", &compact_ranker<float>, nb::arg("ranker"), nb::arg("dropped_share"));
    module.def("compacted", &compact_ranker<double>, nb::arg("ranker"), nb::arg("dropped_share"));
}

}  // namespace tagalong::bind
