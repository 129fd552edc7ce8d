// A contestant of the race: a learner that sees the examples of the stream, scaled in its own way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/example.hpp"
#include "core/round_labels.hpp"
#include "core/selection.hpp"
#include "race/complement_bayes.hpp"
#include "race/one_vs_rest.hpp"
#include "race/scaling.hpp"
#include "ranker/label_ranker.hpp"

namespace tagalong {

// The streams that a contestant suits.
enum class Suits {
    any,             // every stream
    several_values,  // features have values of different size
    dense,           // many values are not 0: see Race
    sparse,          // the others
    words,           // sparse, and no value is negative
};

enum class ContestantKind { ranker, one_vs_rest, bayes };

// A row of the table of contestants.
struct ContestantType {
    std::string_view name;
    ContestantKind kind;
    Scaling scaling;
    double budget;       // of a ranker, in units of the learner's budget C
    double temperature;  // of a ranker, in units of the learner's temperature
    Suits suits;
};
std::span<const ContestantType> contestant_types();
// Throws InputError if there is none of this name.
const ContestantType& contestant_type(std::string_view name);

template <class T>
class Contestant {
  public:
    // Working memory for predictions; one per thread.
    struct Scratch {
        RowLookup<T> lookup;
        typename OneVsRest<T>::Scratch one_vs_rest;
        typename ComplementBayes<T>::Scratch bayes;
    };

    virtual ~Contestant() = default;
    virtual void add_labels(std::size_t count) = 0;
    // Writes the scores of all labels before the round to `scores`, and learns the example.
    virtual void learn(const Example& x, const RoundLabels& labels, double weight, bool judged,
                       Scratch& scratch, T* scores) = 0;
    virtual void score(const Example& x, Scratch& scratch, T* scores) const = 0;
    // The contribution of each feature to a label's score. They and the returned number add up to
    // the score.
    virtual double contributions(const Example& x, int label, Scratch& scratch,
                                 std::vector<double>& out) const = 0;
    // The sums of these over all labels, added label by label in ascending order.
    virtual double summed_contributions(const Example& x, Scratch& scratch,
                                        std::vector<double>& out) const = 0;
    // The weights of a feature for all labels, per unit of its scaled value.
    virtual void weights(std::int32_t feature, double* out) const = 0;
    // Merges or forgets labels.
    virtual void select_labels(const Selection& labels) = 0;
    // Forgets the features for which `kept` is false.
    virtual void select_features(const std::function<bool(std::int32_t)>& kept) = 0;
    virtual void restart_certificate() {}
    virtual std::size_t bytes() const = 0;

    // The learner itself, for files; the others are null.
    virtual LabelRanker<T>* ranker() { return nullptr; }
    virtual OneVsRest<T>* one_vs_rest() { return nullptr; }
    virtual ComplementBayes<T>* bayes() { return nullptr; }
    const LabelRanker<T>* ranker() const { return const_cast<Contestant*>(this)->ranker(); }
};

// `config` has the settings of a ranker; its budget is that of the whole race.
template <class T>
std::unique_ptr<Contestant<T>> make_contestant(const ContestantType& type, RankerConfig config);

}  // namespace tagalong
