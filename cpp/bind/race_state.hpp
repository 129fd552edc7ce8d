// Certificate, weights and state of a Race.
#pragma once

#include <string>

#include "bind/complement_bayes_state.hpp"
#include "bind/label_ranker_state.hpp"
#include "bind/one_vs_rest_state.hpp"
#include "bind/statistics_state.hpp"
#include "race/race.hpp"

namespace tagalong::bind {

// The certificate of the leading ranker, with the cut-off of the mixture.
template <class T>
LabelCertificate certificate_of(const Race<T>& self) {
    const auto& leading = self.entrants().leading_ranker();
    LabelCertificate out = certificate_of(*leading.learner->ranker());
    out.cutoff = self.cutoff();
    out.contestant = self.config().types[leading.type]->name;
    return out;
}

template <class T>
FeatureWeights weights_of(const Race<T>& self) {
    const std::size_t K = self.labels(), rows = self.rows();
    Owned<T> weights({rows, K});
    std::vector<double> row;
    for (std::size_t r = 0; r < rows; ++r) {
        self.weights(r, row);
        for (std::size_t k = 0; k < K; ++k) weights.data[r * K + k] = static_cast<T>(row[k]);
    }
    const auto& features = self.statistics().features();
    const auto ids = vector_array<std::int32_t>(
        rows, [&](std::size_t r) { return r < features.size() ? features[r] : kConstantFeature; });
    return {ids, NumPy<>(weights.array), {}};
}

template <class T>
std::size_t bytes_of(const Race<T>& self) {
    return self.bytes();
}

inline std::string entrant_prefix(std::size_t entrant) {
    return "contestant" + std::to_string(entrant) + "/";
}

// Calls visit(learner) with the learner of a contestant.
template <class T, class Visit>
void with_learner(Contestant<T>& contestant, Visit&& visit) {
    if (auto* ranker = contestant.ranker()) visit(*ranker);
    if (auto* one_vs_rest = contestant.one_vs_rest()) visit(*one_vs_rest);
    if (auto* bayes = contestant.bayes()) visit(*bayes);
}

// The dictionaries of a part, added to those of the whole under names that begin with a prefix.
inline void add_part(const nb::dict& part, const std::string& prefix, nb::dict& whole) {
    for (const auto& [name, value] : part)
        whole[nb::str((prefix + nb::cast<std::string>(name)).c_str())] = value;
}

template <class T>
void write_state(const Race<T>& self, nb::dict& arrays, nb::dict& numbers) {
    numbers["labels"] = self.labels();
    write_statistics(self.statistics(), "features", arrays, numbers);
    write_part(self, "race", arrays);
    write_part(self.cutoff_state(), "cutoff", arrays);
    write_part(self.drift(), "drift", arrays);
    if (self.config().ranker.probability) write_part(self.confidence(), "confidence", arrays);
    for (std::size_t e = 0; e < self.entrants().size(); ++e) {
        nb::dict own_arrays, own_numbers;
        Contestant<T>& learner = *self.entrants()[e].learner;
        with_learner(learner, [&](const auto& own) { write_state(own, own_arrays, own_numbers); });
        add_part(own_arrays, entrant_prefix(e), arrays);
        add_part(own_numbers, entrant_prefix(e), numbers);
    }
}

template <class T>
void read_state(Race<T>& self, const SavedState& saved) {
    if (self.labels() != 0) throw InputError("model state can only be restored into a new model");
    const auto labels = static_cast<std::size_t>(saved.count("labels"));
    read_statistics(self.statistics_state(), "features", saved);
    read_part(self, "race", saved, labels);
    for (std::size_t e = 0; e < self.entrants().size(); ++e) {
        const SavedState own = saved.under(entrant_prefix(e));
        Contestant<T>& learner = *self.entrants()[e].learner;
        with_learner(learner, [&](auto& contestant) {
            read_state(contestant, own);
            if (contestant.labels() != labels)
                SavedState::refuse("labels", "differs between the contestants");
        });
    }
    read_part(self.cutoff_state(), "cutoff", saved);
    read_part(self.drift_state(), "drift", saved, labels);
    if (self.config().ranker.probability) read_confidence(self, saved);
    self.finish_restoring();
}

}  // namespace tagalong::bind
