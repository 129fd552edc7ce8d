#include "race/contestant.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/errors.hpp"

namespace tagalong {

// The budgets and temperatures of rankers: a bold one follows every example closely, a cautious one
// averages over many, as noisy streams need.
struct Temper {
    double budget = 1, temperature = 1;
};
static constexpr Temper kUsual{}, kBold{10, 1}, kCautious{1.0 / 30, 5};

static constexpr ContestantType ranker(std::string_view name, Scaling scaling, Temper temper,
                                       Suits suits) {
    return {name, ContestantKind::ranker, scaling, temper.budget, temper.temperature, suits};
}
static constexpr ContestantType one_vs_rest(std::string_view name, Scaling scaling, Suits suits) {
    return {name, ContestantKind::one_vs_rest, scaling, 1, 1, suits};
}

static constexpr std::array kTypes = {
    ranker("unit", Scaling::unit, kUsual, Suits::any),
    ranker("unit-bold", Scaling::unit, kBold, Suits::dense),
    ranker("unit-cautious", Scaling::unit, kCautious, Suits::dense),
    ranker("largest", Scaling::largest, kUsual, Suits::dense),
    ranker("largest-cautious", Scaling::largest, kCautious, Suits::dense),
    ranker("standard", Scaling::standard, kUsual, Suits::dense),
    ranker("standard-cautious", Scaling::standard, kCautious, Suits::dense),
    ranker("idf", Scaling::idf, kUsual, Suits::sparse),
    one_vs_rest("one-vs-rest-unit", Scaling::unit, Suits::dense),
    one_vs_rest("one-vs-rest-largest", Scaling::largest, Suits::dense),
    one_vs_rest("one-vs-rest-standard", Scaling::standard, Suits::dense),
    one_vs_rest("one-vs-rest-idf", Scaling::idf, Suits::words),
    ContestantType{"bayes-idf", ContestantKind::bayes, Scaling::idf, 1, 1, Suits::words},
};

std::span<const ContestantType> contestant_types() { return kTypes; }

const ContestantType& contestant_type(std::string_view name) {
    const auto found =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& t) { return t.name == name; });
    if (found == kTypes.end())
        throw InputError("there is no contestant '" + std::string(name) + "'");
    return *found;
}

namespace {

template <class T>
class RankerContestant final : public Contestant<T> {
  public:
    using Scratch = typename Contestant<T>::Scratch;

    explicit RankerContestant(const RankerConfig& config) : ranker_(config) {}

    void add_labels(std::size_t count) override { ranker_.add_labels(count); }
    void learn(const Example& x, const RoundLabels& labels, double weight, bool judged, Scratch&,
               T* scores) override {
        ranker_.learn(x, labels.relevant, labels.unknown, weight, {judged ? 1.0 : 0.0, scores});
    }
    void score(const Example& x, Scratch& scratch, T* scores) const override {
        const auto found = ranker_.score(x, scratch.lookup);
        std::copy(found.begin(), found.end(), scores);
    }
    double contributions(const Example& x, int label, Scratch& scratch,
                         std::vector<double>& out) const override {
        ranker_.contributions(x, label, scratch.lookup, out);
        return 0;
    }
    double summed_contributions(const Example& x, Scratch& scratch,
                                std::vector<double>& out) const override {
        ranker_.summed_contributions(x, scratch.lookup, out);
        return 0;
    }
    void weights(std::int32_t feature, double* out) const override {
        const std::int32_t row = ranker_.store().find(feature);
        for (std::size_t k = 0; k < ranker_.labels(); ++k)
            out[k] = ranker_.weight(row, static_cast<int>(k));
    }
    void select_labels(const Selection& labels) override { ranker_.rebuild(labels); }
    void select_features(const std::function<bool(std::int32_t)>& kept) override {
        std::vector<char> rows;
        for (const std::int32_t feature : ranker_.store().features()) rows.push_back(kept(feature));
        ranker_.rebuild(Selection::of_rows(std::move(rows), ranker_.rows(), ranker_.width()));
    }
    void restart_certificate() override { ranker_.restart_certificate(); }
    std::size_t bytes() const override { return ranker_.store().bytes(); }
    LabelRanker<T>* ranker() override { return &ranker_; }

  private:
    LabelRanker<T> ranker_;
};

// The methods that one-vs-rest and Bayes share.
template <class T, class Learner>
class WordContestant : public Contestant<T> {
  public:
    using Scratch = typename Contestant<T>::Scratch;

    void add_labels(std::size_t count) override { learner_.add_labels(count); }
    void learn(const Example& x, const RoundLabels& labels, double weight, bool /*judged*/,
               Scratch& scratch, T* scores) override {
        score(x, scratch, scores);
        if constexpr (requires { &Learner::learn_scored; })
            learner_.learn_scored(seen(x), own(scratch), labels.relevant, labels.unknown, weight);
        else learner_.learn(seen(x), labels.relevant, labels.unknown, weight);
    }
    void score(const Example& x, Scratch& scratch, T* scores) const override {
        learner_.score(seen(x), own(scratch), scores);
    }
    double contributions(const Example& x, int label, Scratch& scratch,
                         std::vector<double>& out) const override {
        const RowView part = seen(x);
        const double rest = learner_.contributions(part, own(scratch), label, out);
        out.insert(out.begin(), x.size() - part.size(), 0.0);
        return rest;
    }
    double summed_contributions(const Example& x, Scratch& scratch,
                                std::vector<double>& out) const override {
        const RowView part = seen(x);
        const double rest = learner_.summed_contributions(part, own(scratch), out);
        out.insert(out.begin(), x.size() - part.size(), 0.0);
        return rest;
    }
    void weights(std::int32_t feature, double* out) const override {
        Scratch scratch;
        std::vector<double> parts;
        const double one = 1;
        for (std::size_t k = 0; k < learner_.labels(); ++k) {
            learner_.contributions({{&feature, 1}, {&one, 1}}, own(scratch), static_cast<int>(k),
                                   parts);
            out[k] = parts[0];
        }
    }
    void select_labels(const Selection& labels) override { learner_.rebuild(labels); }
    void select_features(const std::function<bool(std::int32_t)>& kept) override {
        learner_.drop_features([&](std::int32_t feature) { return !kept(feature); });
    }
    std::size_t bytes() const override { return learner_.bytes(); }

  protected:
    // The part of an example that the learner takes.
    virtual RowView seen(const Example& x) const = 0;
    virtual typename Learner::Scratch& own(Scratch& scratch) const = 0;
    Learner learner_;
};

template <class T>
class OneVsRestContestant final : public WordContestant<T, OneVsRest<T>> {
  public:
    OneVsRest<T>* one_vs_rest() override { return &this->learner_; }

  protected:
    using Scratch = typename Contestant<T>::Scratch;
    RowView seen(const Example& x) const override { return x; }
    typename OneVsRest<T>::Scratch& own(Scratch& scratch) const override {
        return scratch.one_vs_rest;
    }
};

template <class T>
class BayesContestant final : public WordContestant<T, ComplementBayes<T>> {
  public:
    ComplementBayes<T>* bayes() override { return &this->learner_; }

  protected:
    using Scratch = typename Contestant<T>::Scratch;
    // Without the constant feature.
    RowView seen(const Example& x) const override {
        const std::size_t first = x.size() > 0 && x.feature[0] == kConstantFeature;
        return {std::span(x.feature).subspan(first), std::span(x.value).subspan(first)};
    }
    typename ComplementBayes<T>::Scratch& own(Scratch& scratch) const override {
        return scratch.bayes;
    }
};

}  // namespace

template <class T>
std::unique_ptr<Contestant<T>> make_contestant(const ContestantType& type, RankerConfig config) {
    if (type.kind == ContestantKind::one_vs_rest) return std::make_unique<OneVsRestContestant<T>>();
    if (type.kind == ContestantKind::bayes) return std::make_unique<BayesContestant<T>>();
    config.C *= type.budget;
    config.temperature *= type.temperature;
    config.probability = config.cutoff = false;
    return std::make_unique<RankerContestant<T>>(config);
}

template std::unique_ptr<Contestant<float>> make_contestant(const ContestantType&, RankerConfig);
template std::unique_ptr<Contestant<double>> make_contestant(const ContestantType&, RankerConfig);

}  // namespace tagalong
