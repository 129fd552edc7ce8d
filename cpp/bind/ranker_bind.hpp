// The interface of the label rankers, and the Python methods that are bound to each ranker.
//
// Calls on whole matrices release the GIL. Every row is learnt and scored under the model's lock,
// so that readers in other threads see complete updates only.
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
#include "bind/learner_bind.hpp"
#include "bind/places.hpp"
#include "core/selection.hpp"
#include "predictions/confidence.hpp"
#include "predictions/ranking.hpp"
#include "predictions/round_options.hpp"

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

// Most rankers have one cut-off for all rows. Otherwise the cut-off depends on the scores of the
// row.
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

// Rankers whose confidence in their suggestions is learnt.
template <class Ranker>
concept Confident = requires(const Ranker& ranker) { ranker.confidence(); };

// A round of any ranker. Those without confidence have no judgement.
template <class Ranker, class T>
void learn_round(Ranker& self, Example& x, std::span<const std::int32_t> relevant,
                 std::span<const std::int32_t> unknown, double weight,
                 const RoundOptions<T>& options) {
    if constexpr (Confident<Ranker>) self.learn(x, relevant, unknown, weight, options);
    else self.learn(x, relevant, unknown, weight, options.scores);
}

// Base class of the label rankers with weights and scores of type T. Every function takes the lock.
template <class T>
class AnyRanker : public AnyLearner {
  public:
    virtual std::size_t label_count() const = 0;
    virtual void append_labels(std::size_t count) = 0;
    virtual void restart() = 0;
    virtual double current_cutoff() const = 0;
    // Null if the ranker has no confidence.
    virtual const Confidence* confidence_state() const = 0;
    virtual void count_mistake_of(std::int32_t label, double weight) = 0;

    // The example of the calling thread. The functions below prepare it for the ranker, then learn
    // or score it.
    virtual Example& example() const = 0;
    // Writes the cut-off before the round through the pointer if it is not null.
    virtual void learn_example(std::span<const std::int32_t> relevant,
                               std::span<const std::int32_t> unknown, double weight,
                               const RoundOptions<T>& options, double* cutoff) = 0;
    virtual void judge_example(std::size_t k, const TieOrder& ties, Judgement& out) const = 0;
    // Judges scores that were computed elsewhere.
    virtual void judge_scores(std::span<const T> scores, std::int32_t known, std::size_t k,
                              const TieOrder& ties, Judgement& out) const = 0;
    // The scores are valid until the calling thread scores another example.
    virtual std::span<const T> score_example() const = 0;
    // Writes the contribution of each feature to the score of a label; returns the score.
    virtual double explain_example(std::int32_t label,
                                   std::vector<double>& contributions) const = 0;
};

template <class Ranker, class T>
class BoundRanker final : public Bound<Ranker, AnyRanker<T>> {
  public:
    using Bound<Ranker, AnyRanker<T>>::Bound;

    std::size_t label_count() const override {
        std::shared_lock lock(this->mutex());
        return this->labels();
    }
    void append_labels(std::size_t count) override {
        std::unique_lock lock(this->mutex());
        this->add_labels(count);
    }
    void restart() override {
        std::unique_lock lock(this->mutex());
        this->restart_certificate();
    }
    double current_cutoff() const override {
        std::shared_lock lock(this->mutex());
        return this->cutoff();
    }
    const Confidence* confidence_state() const override {
        if constexpr (Confident<Ranker>) return &this->confidence();
        else return nullptr;
    }
    void count_mistake_of([[maybe_unused]] std::int32_t label,
                          [[maybe_unused]] double weight) override {
        if constexpr (Confident<Ranker>) {
            std::unique_lock lock(this->mutex());
            if (label < 0 || static_cast<std::size_t>(label) >= this->labels())
                throw InputError("there is no label number " + std::to_string(label));
            if (!(weight >= 0 && weight <= 1))
                throw InputError("the weight of a mistake must be from 0 to 1");
            this->confidence().count_mistake(label, weight);
        }
    }

    Example& example() const override { return thread_reader<Ranker>().x; }
    void learn_example(std::span<const std::int32_t> relevant,
                       std::span<const std::int32_t> unknown, double weight,
                       const RoundOptions<T>& options, double* cutoff) override {
        Example& x = thread_reader<Ranker>().x;
        this->finish(x);
        std::unique_lock lock(this->mutex());
        const double before = this->cutoff();
        learn_round<Ranker, T>(*this, x, relevant, unknown, weight, options);
        if (cutoff) *cutoff = cutoff_of_round<Ranker>(*this, before);
    }
    std::span<const T> score_example() const override {
        auto& reader = thread_reader<Ranker>();
        this->finish(reader.x);
        std::shared_lock lock(this->mutex());
        return this->score(reader);
    }
    void judge_example(std::size_t k, const TieOrder& ties, Judgement& out) const override {
        auto& reader = thread_reader<Ranker>();
        this->finish(reader.x);
        std::shared_lock lock(this->mutex());
        this->judge(reader, k, ties, out);
    }
    void judge_scores([[maybe_unused]] std::span<const T> scores,
                      [[maybe_unused]] std::int32_t known, [[maybe_unused]] std::size_t k,
                      [[maybe_unused]] const TieOrder& ties, Judgement& out) const override {
        std::shared_lock lock(this->mutex());
        if constexpr (Confident<Ranker>)
            this->confidence().template judge<T>({scores, this->cutoff(), known}, k, ties, out);
        else out = {};
    }
    double explain_example(std::int32_t label, std::vector<double>& contributions) const override {
        auto& reader = thread_reader<Ranker>();
        this->finish(reader.x);
        std::shared_lock lock(this->mutex());
        if (label < 0 || static_cast<std::size_t>(label) >= this->labels())
            throw InputError("there is no label number " + std::to_string(label));
        this->contributions(reader, label, contributions);
        return static_cast<double>(this->score(reader)[static_cast<std::size_t>(label)]);
    }
};

// The calls for one example. They are bound to each ranker and not to the interface: nanobind takes
// longer to find the object of a base class. They have a signature instead of named arguments,
// because the lookup of names would add five percent to the time of the shortest call.
template <class Ranker, class T>
void add_one_example_methods(nb::class_<BoundRanker<Ranker, T>, AnyRanker<T>>& type) {
    using Self = BoundRanker<Ranker, T>;
    type.def(
            "learn_one",
            [](Self& self, const Vector& indices, const Vector& values,
               const std::vector<std::int32_t>& relevant, const std::vector<std::int32_t>& unknown,
               double weight, double stands_for) {
                Example& x = thread_reader<Ranker>().x;
                read_pairs(indices, values, longest_row<T>(), x);
                self.finish(x);
                std::unique_lock lock(self.mutex());
                learn_round<Ranker, T>(self, x, relevant, unknown, weight, {stands_for});
            },
            nb::sig("def learn_one(self, indices: numpy.typing.NDArray[typing.Any], "
                    "values: numpy.typing.NDArray[typing.Any], relevant: "
                    "collections.abc.Sequence[int], "
                    "unknown: collections.abc.Sequence[int], weight: float, stands_for: float, /)"
                    " -> None"))
        // Learns like learn_one; returns the scores and the cut-off before the round. Writes the
        // judgement before the round to the first row of `places`, if given.
        .def(
            "predict_then_learn_one",
            [](Self& self, const Vector& indices, const Vector& values,
               const std::vector<std::int32_t>& relevant, const std::vector<std::int32_t>& unknown,
               double weight, double stands_for, PlaceArrays* places) {
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
                static thread_local Judgement judged;
                learn_round<Ranker, T>(self, x, relevant, unknown, weight,
                                       {stands_for, scores.data, places ? &judged : nullptr});
                if (places) places->write_checked(0, judged);
                return std::make_pair(scores.array, cutoff_of_round<Ranker>(self, cutoff));
            },
            nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
            nb::sig("def predict_then_learn_one(self, indices: numpy.typing.NDArray[typing.Any], "
                    "values: numpy.typing.NDArray[typing.Any], relevant: "
                    "collections.abc.Sequence[int], "
                    "unknown: collections.abc.Sequence[int], weight: float, stands_for: float, "
                    "places: PlaceArrays | None, /)"
                    " -> tuple[numpy.typing.NDArray[typing.Any], float]"))
        .def(
            "rank_one",
            [](const Self& self, const Vector& indices, const Vector& values, std::int64_t k) {
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
            [](const Self& self, const Vector& indices, const Vector& values) {
                auto& reader = thread_reader<Ranker>();
                read_pairs(indices, values, longest_row<T>(), reader.x);
                self.finish(reader.x);
                std::shared_lock lock(self.mutex());
                const auto scores = self.score(reader);
                Owned<T> out({scores.size()});
                std::copy(scores.begin(), scores.end(), out.data);
                return std::make_pair(out.array, cutoff_for<Ranker>(self, reader));
            },
            nb::sig("def score_one(self, indices: numpy.typing.NDArray[typing.Any], "
                    "values: numpy.typing.NDArray[typing.Any], /)"
                    " -> tuple[numpy.typing.NDArray[typing.Any], float]"));
}

// For the rankers whose labels and features can be changed other than by learning.
template <class Ranker, class T>
void add_selection_methods(nb::class_<BoundRanker<Ranker, T>, AnyRanker<T>>& type) {
    using Self = BoundRanker<Ranker, T>;
    type.def_prop_ro("rounds",
                     [](const Self& self) {
                         std::shared_lock lock(self.mutex());
                         return self.rounds();
                     })
        // For each new label: the old labels whose weights are summed.
        .def(
            "select_labels",
            [](Self& self, std::vector<std::vector<std::int32_t>> sources) {
                std::unique_lock lock(self.mutex());
                self.rebuild(Selection::of_labels(std::move(sources), self.labels()));
            },
            nb::arg("sources"))
        // For each feature with weights, in the order of weights(): whether to keep its weights.
        .def(
            "select_features",
            [](Self& self, const std::vector<bool>& kept) {
                std::unique_lock lock(self.mutex());
                self.rebuild(
                    Selection::of_rows({kept.begin(), kept.end()}, self.rows(), self.width()));
            },
            nb::arg("kept"));
}

}  // namespace tagalong::bind
