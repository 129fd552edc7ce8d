// A restarted certificate: its dual value is centred on the weights at the restart, and learning
// continues unchanged. Also the contributions of features to a score.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "tests/check.hpp"
#include "tests/random.hpp"
#include "tests/stream.hpp"

namespace tagalong::test::restart_test {
namespace {

constexpr int kBefore = 60, kAfter = 80;

// One number per label for each row of the store, in order, and for a feature without a row.
struct Weights {
    std::vector<std::vector<double>> rows;
    std::vector<double> unseen;
};

template <class T>
Weights thetas(const LabelRanker<T>& ranker) {
    Weights out;
    out.unseen.assign(ranker.labels(), 0.0);
    for (std::size_t r = 0; r < ranker.store().rows(); ++r) {
        const T* row = ranker.store().row(static_cast<std::int32_t>(r));
        out.rows.emplace_back(row, row + ranker.labels());
    }
    return out;
}

double number(const Weights& weights, std::size_t row, std::size_t label) {
    const bool label_counts = row < weights.rows.size() && label < weights.rows[row].size();
    return label_counts ? weights.rows[row][label] : 0;
}

// The problem whose optimum the dual value bounds after a restart: rounds, centre, F and losses.
template <class T>
class Problem {
  public:
    // `label_counts`: the number of labels after each round.
    Problem(const LabelRanker<T>& ranker, const Weights& centre, std::span<const Item> items,
            std::span<const std::size_t> label_counts)
        : ranker_(ranker),
          items_(items),
          label_counts_(label_counts),
          centre_(weights_at(centre)),
          current_(weights_at(thetas(ranker))) {}

    // Random weights between and beyond the centre and the current weights, with noise.
    Weights competitor(Random& random) const {
        const double towards = random.between(-0.3, 1.3),
                     noise = random.chance(0.5) ? 0 : random.magnitude(1e-3, 1);
        Weights w = centre_;
        const auto move = [&](double& weight, double now) {
            weight += towards * (now - weight);
            if (!simplex()) weight += noise * random.normal();
            else weight = std::max(weight, 1e-12) * std::exp(noise * random.normal());
        };
        for (std::size_t r = 0; r < w.rows.size(); ++r)
            for (std::size_t y = 0; y < labels(); ++y) move(w.rows[r][y], current_.rows[r][y]);
        if (!simplex()) return w;
        for (std::size_t y = 0; y < labels(); ++y) {
            move(w.unseen[y], current_.unseen[y]);
            double sum = unseen() * w.unseen[y];
            for (const auto& row : w.rows) sum += row[y];
            for (auto& row : w.rows) row[y] /= sum;
            w.unseen[y] /= sum;
        }
        return w;
    }
    const Weights& centre() const { return centre_; }
    const Weights& current() const { return current_; }

    double primal(const Weights& w) const {
        double value = 0;
        for (std::size_t y = 0; y < labels(); ++y) {
            for (std::size_t r = 0; r < w.rows.size(); ++r) {
                const double weight = w.rows[r][y], from = centre_.rows[r][y];
                value += simplex() ? entropy(weight, from)
                                   : 0.5 * std::sqrt(S(r)) * (weight - from) * (weight - from);
            }
            if (simplex()) value += unseen() * entropy(w.unseen[y], centre_.unseen[y]);
        }
        for (std::size_t t = 0; t < items_.size(); ++t)
            value += ranker_.config().C * items_[t].weight * loss(items_[t], label_counts_[t], w);
        return value;
    }

  private:
    bool simplex() const { return ranker_.config().geometry == Geometry::entropic; }
    std::size_t labels() const { return ranker_.labels(); }
    double unseen() const {
        return static_cast<double>(entropic(ranker_).dimension()) -
               static_cast<double>(ranker_.store().rows());
    }
    double S(std::size_t row) const { return linear(ranker_).row_state(row).S; }
    static double entropy(double weight, double from) {
        return weight > 0 ? weight * std::log(weight / from) : 0;
    }

    // The gradient of the current G.
    Weights weights_at(const Weights& theta) const {
        Weights w;
        w.unseen.assign(labels(), 0.0);
        w.rows.assign(ranker_.store().rows(), std::vector<double>(labels()));
        for (std::size_t y = 0; y < labels(); ++y) {
            double Z = simplex() ? unseen() : 0;
            for (std::size_t r = 0; r < w.rows.size(); ++r) Z += std::exp(number(theta, r, y));
            for (std::size_t r = 0; r < w.rows.size(); ++r)
                w.rows[r][y] = simplex() ? std::exp(number(theta, r, y)) / Z
                                         : number(theta, r, y) / std::sqrt(S(r));
            if (simplex()) w.unseen[y] = 1 / Z;
        }
        return w;
    }

    // A label that did not exist yet is in no pair of the round.
    double loss(const Item& item, std::size_t label_counts, const Weights& w) const {
        const RankerConfig& config = ranker_.config();
        Example x = item.example();
        ranker_.finish(x);
        std::vector<double> scores(labels(), 0.0);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const std::int32_t row = ranker_.store().find(x.feature[i]);
            const auto& weights =
                row == FeatureIndex::kAbsent ? w.unseen : w.rows[static_cast<std::size_t>(row)];
            for (std::size_t y = 0; y < labels(); ++y) scores[y] += x.value[i] * weights[y];
        }
        const auto in = [](const auto& set, std::size_t y) {
            return std::count(set.begin(), set.end(), static_cast<std::int32_t>(y)) > 0;
        };
        double worst = 0, sum = 1;
        for (std::size_t r = 0; r < label_counts; ++r)
            for (std::size_t s = 0; s < label_counts && in(item.relevant, r); ++s) {
                if (in(item.relevant, s) || in(item.unknown, s)) continue;
                const double excess = config.margin - scores[r] + scores[s];
                worst = std::max(worst, excess);
                sum += std::exp(excess / config.temperature);
            }
        return config.update->name == "smooth" ? config.temperature * std::log(sum) : worst;
    }

    const LabelRanker<T>& ranker_;
    std::span<const Item> items_;
    std::span<const std::size_t> label_counts_;
    Weights centre_, current_;
};

// Has labels and features that the first part lacks, so that some are added after the restart.
constexpr StreamShape kSecondShape{.features = 40, .labels = 10, .weights = true};
std::vector<Item> second_part() { return random_stream(82, kAfter, kSecondShape); }

template <class T>
void restarted_dual_is_a_bound(const RankerConfig& config, double distance) {
    const Note note("geometry ", static_cast<int>(config.geometry), ", update ",
                    config.update->name, ", features ", config.n_features, ", constant ",
                    config.constant);
    LabelRanker<T> ranker(config);
    ranker.add_labels(8);
    for (const Item& item : random_stream(81, kBefore, {.weights = true})) learn(ranker, item);
    ranker.restart_certificate();
    near(ranker.dual(), 0, distance);
    near(ranker.recompute_dual(), 0, distance * kBefore);
    const Weights centre = thetas(ranker);
    const std::vector<Item> items = second_part();
    // The adaptive geometry also rescales the centre, which may decrease the dual value.
    const std::string_view update = config.update->name;
    const bool ascends = update == "single" || update == "optimal" || update == "smooth";
    const bool never_decreases = ascends && config.geometry != Geometry::adaptive;
    std::vector<std::size_t> label_counts;
    double last = 0;
    Random random(83);
    for (std::size_t t = 0; t < items.size(); ++t) {
        const Note where("round ", t, " after the restart");
        learn(ranker, items[t]);
        label_counts.push_back(ranker.labels());
        const double dual = ranker.dual();
        near(dual, ranker.recompute_dual(), distance * (1 + std::abs(dual)));
        if (never_decreases) at_most(last, dual + distance);
        last = dual;
        if (t % 20 != 0 && t + 1 != items.size()) continue;
        const Problem<T> problem(ranker, centre, std::span(items).first(t + 1), label_counts);
        const double allowed = dual - distance * (1 + std::abs(dual));
        at_most(allowed, problem.primal(problem.centre()));
        at_most(allowed, problem.primal(problem.current()));
        for (int i = 0; i < 6; ++i) at_most(allowed, problem.primal(problem.competitor(random)));
    }
    check(!never_decreases || last > 0, "nothing was learnt since the restart");
}

const Test bounds{
    "restart: the dual value starts at 0 and is at most the objective of any competitor", [] {
        for (const Geometry geometry : kGeometries)
            for (const std::string_view update : updates_of(geometry)) {
                RankerConfig config = config_of(geometry, update);
                config.C = 0.7;
                restarted_dual_is_a_bound<double>(config, 1e-9);
                config.constant = 0.5;
                restarted_dual_is_a_bound<float>(config, 1e-4);
            }
    }};

const Test entering{"restart: the same while features are added to the simplex", [] {
                        for (const std::string_view update : {"single", "smooth"}) {
                            RankerConfig config = config_of(Geometry::entropic, update);
                            for (const std::int64_t declared : {1, 12}) {
                                config.n_features = declared;
                                restarted_dual_is_a_bound<double>(config, 1e-9);
                            }
                        }
                    }};

// In a single round the optimal step closes the duality gap at the new weights: the bound is tight.
const Test tight{
    "restart: after one optimal round the dual value equals the minimum", [] {
        for (const Geometry geometry : {Geometry::euclidean, Geometry::entropic})
            for (const std::string_view update : {"optimal", "smooth"}) {
                const Note note("geometry ", static_cast<int>(geometry), ", update ", update);
                LabelRanker<double> ranker(config_of(geometry, update));
                ranker.add_labels(8);
                for (const Item& item : random_stream(84, kBefore, {})) learn(ranker, item);
                for (const Item& item : random_stream(85, 10, kSecondShape)) {
                    ranker.restart_certificate();
                    const Weights centre = thetas(ranker);
                    learn(ranker, item);
                    const std::size_t labels = ranker.labels();
                    const Problem<double> problem(ranker, centre, {&item, 1}, {&labels, 1});
                    near(ranker.dual(), problem.primal(problem.current()), 1e-7);
                }
            }
    }};

template <class T>
void continues(const RankerConfig& config) {
    const Note note("geometry ", static_cast<int>(config.geometry), ", average ",
                    static_cast<int>(config.average));
    LabelRanker<T> restarted(config), plain(config);
    for (const Item& item : random_stream(81, kBefore, {})) {
        learn(restarted, item);
        learn(plain, item);
    }
    restarted.restart_certificate();
    const Certificate at_restart = plain.certificate();
    same(restarted.certificate().rounds, kBefore);
    same(restarted.certificate().earlier, kBefore);
    same(restarted.certificate().mistakes, 0);
    same(restarted.certificate().loss, 0.0);
    same(restarted.certificate().curvature, 0.0);
    for (const Item& item : second_part()) {
        same_bits(scores_of(restarted, item), scores_of(plain, item));
        learn(restarted, item);
        learn(plain, item);
    }
    for (std::size_t plane = 0; plane < plain.store().planes(); ++plane)
        same_bits(plane_of(restarted, plane), plane_of(plain, plane));
    same(restarted.cutoff(), plain.cutoff());
    same(restarted.blend_share(), plain.blend_share());
    const Certificate since = restarted.certificate(), whole = plain.certificate();
    same(since.rounds, whole.rounds);
    same(since.mistakes, whole.mistakes - at_restart.mistakes);
    near(since.loss, whole.loss - at_restart.loss, 1e-9 * whole.loss);
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const Item& item : second_part()) {
        least = std::min(least, item.weight);
        most = std::max(most, item.weight);
    }
    same(since.least_weight, least);
    same(since.most_weight, most);
}

const Test same_learner{
    "restart: learning continues with the same bits", [] {
        for (const Geometry geometry : kGeometries)
            for (const Average average : {Average::never, Average::always, Average::chosen}) {
                RankerConfig config = config_of(geometry, "smooth");
                if (geometry != Geometry::entropic) config.average = average;
                continues<double>(config);
                continues<float>(config);
            }
    }};

template <class T>
void contributions_add_up(RankerConfig config, double distance) {
    const Note note("geometry ", static_cast<int>(config.geometry), ", average ",
                    static_cast<int>(config.average), ", constant ", config.constant,
                    ", normalize ", config.normalize);
    LabelRanker<T> ranker(config);
    for (const Item& item : random_stream(86, 100, {.features = 20})) learn(ranker, item);
    std::vector<double> parts;
    for (Item item : random_stream(87, 20, {})) {  // including unseen features
        item.pairs.emplace_back(1000, 0.5);
        const std::vector<T> scores = scores_of(ranker, item);
        typename LabelRanker<T>::Reader reader;
        reader.x = item.example();
        ranker.finish(reader.x);
        for (std::size_t y = 0; y < ranker.labels(); ++y) {
            ranker.contributions(reader, static_cast<int>(y), parts);
            same(parts.size(), reader.x.size());
            near(std::accumulate(parts.begin(), parts.end(), 0.0), scores[y], distance);
            if (config.normalize || config.constant != 0) continue;
            for (std::size_t i = 0; i < parts.size(); ++i) {  // the score of the feature alone
                Item alone;
                alone.pairs = {{reader.x.feature[i], reader.x.value[i]}};
                near(parts[i], scores_of(ranker, alone)[y], distance);
            }
        }
    }
}

const Test additive{
    "contributions: they sum to the score", [] {
        for (const Geometry geometry : kGeometries)
            for (const Average average : {Average::never, Average::always, Average::chosen})
                for (const bool normalize : {false, true})
                    for (const double constant : {0.0, 0.5}) {
                        RankerConfig config = config_of(geometry, "smooth");
                        config.normalize = normalize;
                        config.constant = constant;
                        if (geometry != Geometry::entropic) config.average = average;
                        else config.n_features = average == Average::never ? 30 : 5;
                        contributions_add_up<double>(config, 1e-12);
                        contributions_add_up<float>(config, 2e-5);
                    }
    }};

}  // namespace
}  // namespace tagalong::test::restart_test
