// The Python class of Race.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bind/module.hpp"
#include "bind/one_label.hpp"
#include "bind/race_state.hpp"
#include "bind/ranker_bind.hpp"
#include "bind/ranker_config.hpp"
#include "core/errors.hpp"
#include "race/race.hpp"

namespace tagalong::bind {

static bool is_ranker(const ContestantType* type) { return type->kind == ContestantKind::ranker; }

template <class Ranker>
static void construct_race(Ranker* self, const std::vector<std::string>& race,
                           const std::string& update, const std::string& geometry, double C,
                           double margin, double temperature, const std::string& average,
                           double constant, bool normalize, const std::string& solver, double rate,
                           std::int64_t n_features, const std::string& one_label, bool probability,
                           const std::string& relevance, bool working_set) {
    RaceConfig config;
    for (const std::string& name : race) config.types.push_back(&contestant_type(name));
    config.ranker =
        ranker_config(update, geometry, C, margin, temperature, average, constant, normalize,
                      solver, rate, n_features, one_label, probability, relevance, working_set);
    if (std::none_of(config.types.begin(), config.types.end(), is_ranker))
        throw InputError("a race needs a ranker, which has the certificate");
    new (self) Ranker(config);
}

// A contestant, in the race or not.
struct Standing {
    std::string name;
    bool running;
    std::int64_t rounds;  // since it started
    double weight;        // in the mixture; 0 if it left
    double gain;          // its mean average precision in this heat
    std::size_t bytes;    // of its weights
    std::string reason;   // why it left
    std::int64_t left;    // the round after which it left
    std::string winner;   // the contestant that beat it
    double lead;          // of the winner, in standard errors
};

static const char* reason_name(Reason reason) {
    switch (reason) {
        case Reason::beaten:
            return "beaten";
        case Reason::same:
            return "same";
        case Reason::memory:
            return "memory";
        case Reason::not_finite:
            return "not finite";
        default:
            return "unsuited";
    }
}

template <class T>
static std::vector<Standing> standings_of(const Race<T>& race) {
    std::vector<Standing> out;
    const auto name = [&](std::size_t type) {
        return std::string(race.config().types[type]->name);
    };
    for (std::size_t e = 0; e < race.entrants().size(); ++e) {
        const auto& entrant = race.entrants()[e];
        out.push_back({name(entrant.type), true, race.rounds() - entrant.started,
                       race.entrants().weights()[e], race.entrants().standings().mean_gain(e),
                       entrant.learner->bytes(), "", 0, "", 0});
    }
    for (std::size_t type = 0; type < race.entrants().departures().size(); ++type) {
        const Departure& left = race.entrants().departures()[type];
        if (!left.happened) continue;
        out.push_back({name(type), false, 0, 0, 0, 0, reason_name(left.reason), left.round,
                       left.winner < 0 ? "" : name(static_cast<std::size_t>(left.winner)),
                       left.lead});
    }
    return out;
}

// The last change of the answers.
struct LastDrift {
    std::int64_t since;  // the judged round, from 1; 0 if there was none
    std::vector<int> labels;
    bool active;
};

static LastDrift drift_of(const Drift& drift) {
    return {drift.since(), drift.labels(), drift.alarm()};
}

// The rows that had each feature, in the order of the weights; all had the constant feature, the
// last one.
template <class T>
static NumPy<double> occurrences_of(const BoundRanker<Race<T>, T>& self) {
    std::shared_lock lock(self.mutex());
    const FeatureStatistics& statistics = self.statistics();
    return vector_array<double>(self.rows(), [&](std::size_t row) {
        return row + 1 < self.rows() ? statistics.at(row).rows : statistics.rows();
    });
}

template <class T>
static void add_race(nb::module_& module, const char* name) {
    using Ranker = BoundRanker<Race<T>, T>;
    nb::class_<Ranker, AnyRanker<T>> type(module, name);
    type.def("__init__", &construct_race<Ranker>, nb::kw_only(), nb::arg("race"), nb::arg("update"),
             nb::arg("geometry"), nb::arg("C"), nb::arg("margin"), nb::arg("temperature"),
             nb::arg("average"), nb::arg("constant"), nb::arg("normalize"), nb::arg("solver"),
             nb::arg("rate"), nb::arg("n_features"), nb::arg("one_label"), nb::arg("probability"),
             nb::arg("relevance"), nb::arg("working_set"));
    add_one_example_methods(type);
    add_selection_methods(type);
    add_certificate(type);
    add_one_label_method(type);
    type.def("recompute_dual",
             [](const Ranker& self) {
                 std::shared_lock lock(self.mutex());
                 return self.recompute_dual();
             })
        .def("occurrences", &occurrences_of<T>)
        .def("drift",
             [](const Ranker& self) {
                 std::shared_lock lock(self.mutex());
                 return drift_of(self.drift());
             })
        .def("standings", [](const Ranker& self) {
            std::shared_lock lock(self.mutex());
            return standings_of<T>(self);
        });
}

void add_races(nb::module_& module) {
    nb::class_<ContestantType>(module, "ContestantType")
        .def_ro("name", &ContestantType::name)
        .def_ro("budget", &ContestantType::budget)
        .def_prop_ro("is_ranker", [](const ContestantType& type) { return is_ranker(&type); });
    module.def("contestant_types", [] {
        nb::list out;
        for (const ContestantType& type : contestant_types())
            out.append(nb::cast(&type, nb::rv_policy::reference));
        return nb::typed<nb::tuple, ContestantType, nb::ellipsis>(nb::tuple(out));
    });
    nb::class_<Standing>(module, "Standing")
        .def_ro("name", &Standing::name)
        .def_ro("running", &Standing::running)
        .def_ro("rounds", &Standing::rounds)
        .def_ro("weight", &Standing::weight)
        .def_ro("gain", &Standing::gain)
        .def_ro("bytes", &Standing::bytes)
        .def_ro("reason", &Standing::reason)
        .def_ro("left", &Standing::left)
        .def_ro("winner", &Standing::winner)
        .def_ro("lead", &Standing::lead);
    nb::class_<LastDrift>(module, "LastDrift")
        .def_ro("since", &LastDrift::since)
        .def_ro("labels", &LastDrift::labels)
        .def_ro("active", &LastDrift::active);
    add_race<float>(module, "Race32");
    add_race<double>(module, "Race64");
}

}  // namespace tagalong::bind
