// The counts of complement naive Bayes as arrays.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bind/geometry_state.hpp"
#include "bind/state_parts.hpp"
#include "race/complement_bayes.hpp"

namespace tagalong::bind {

template <class T>
void write_state(const ComplementBayes<T>& self, nb::dict& arrays, nb::dict& numbers) {
    const auto put = [&](const char* name, const std::vector<double>& values) {
        arrays[name] =
            vector_array<double>(values.size(), [&](std::size_t i) { return values[i]; });
    };
    std::vector<std::int32_t> sizes, labels;
    std::vector<double> counts;
    for (std::size_t word = 0; word < self.words().size(); ++word) {
        sizes.push_back(static_cast<std::int32_t>(self.counts()[word].size()));
        for (const LabelCount& entry : self.counts()[word]) {
            labels.push_back(entry.label);
            counts.push_back(entry.count);
        }
    }
    const auto sums = self.sums();
    arrays["features"] = feature_array(self.words());
    arrays["sizes"] = feature_array(sizes);
    arrays["labels"] = feature_array(labels);
    put("counts", counts);
    put("word_sums", sums.of_words);
    put("label_sums", sums.of_labels);
    numbers["total"] = sums.total;
}

template <class T>
void read_state(ComplementBayes<T>& self, const SavedState& saved) {
    if (self.labels() != 0) throw InputError("model state can only be restored into a new model");
    const Range sum{.least = 0, .most = ComplementBayes<T>::kLargest};
    const auto label_sums = saved.vector<double>("label_sums", sum);
    const auto features = saved.features();
    const std::size_t words = features.shape(0), known = label_sums.shape(0);
    const auto sizes = saved.vector<std::int32_t>("sizes", words, {1, static_cast<double>(known)});
    const auto labels =
        saved.vector<std::int32_t>("labels", Range{0, static_cast<double>(known) - 1});
    const std::size_t entries = labels.shape(0);
    const auto counts = saved.vector<double>("counts", entries, sum);
    self.add_labels(known);
    std::size_t next = 0;
    for (std::size_t word = 0; word < words; ++word) {
        const auto size = static_cast<std::size_t>(sizes.data()[word]);
        if (size > entries - next) SavedState::refuse(saved.name_of("sizes"), "is too large");
        const std::span<const std::int32_t> own(labels.data() + next, size);
        for (std::size_t i = 1; i < size; ++i)
            if (own[i] <= own[i - 1])
                SavedState::refuse(saved.name_of("labels"), "is not ascending for every word");
        self.restore_word(features.data()[word], own, {counts.data() + next, size});
        next += size;
    }
    if (next != entries) SavedState::refuse(saved.name_of("sizes"), "does not fit 'labels'");
    const auto word_sums = saved.vector<double>("word_sums", words, sum);
    const auto copied = [](const auto& array) {
        return std::vector<double>(array.data(), array.data() + array.shape(0));
    };
    if (!self.restore_sums({copied(word_sums), copied(label_sums), saved.number("total", sum)}))
        SavedState::refuse(saved.name_of("counts"), "does not fit the sums");
}

}  // namespace tagalong::bind
