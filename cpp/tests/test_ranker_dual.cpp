// The certificate of LabelRanker: the running dual value equals one computed from the weights, and
// is at most the primal value.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "tests/check.hpp"
#include "tests/random.hpp"
#include "tests/stream.hpp"

namespace tagalong::test::ranker_dual_test {
namespace {

using Table = std::map<std::int32_t, std::vector<double>>;  // feature -> one number per label

template <class T>
Table thetas(const LabelRanker<T>& ranker) {
    Table out;
    for (std::size_t r = 0; r < ranker.store().rows(); ++r) {
        const T* row = ranker.store().row(static_cast<std::int32_t>(r));
        out[ranker.store().features()[r]] = {row, row + ranker.labels()};
    }
    return out;
}

double number(const Table& table, std::int32_t feature, std::size_t label) {
    const auto row = table.find(feature);
    return row == table.end() || label >= row->second.size() ? 0 : row->second[label];
}

// Tracks a learner's dual value by its definition: gamma m, plus the entropy of a smoothed loss,
// summed over the rounds, minus G of the weights.
template <class T>
class DualTracker {
  public:
    explicit DualTracker(const RankerConfig& config) : ranker_(config) {}

    void learn(const Item& item) {
        Example x = item.example();
        ranker_.finish(x);
        const Table before = thetas(ranker_);
        test::learn(ranker_, item);
        const Table after = thetas(ranker_);
        gain_ += gain_of(item, x, before, after);
        items_.push_back(item);
        for (const std::int32_t feature : x.feature) seen_[feature] = true;
        if (before == after) return;
        for (std::size_t i = 0; i < x.size(); ++i)
            squares_[x.feature[i]] += x.value[i] * x.value[i];
    }

    double dual() const { return gain_ - complexity(); }
    const LabelRanker<T>& ranker() const { return ranker_; }
    LabelRanker<T>& ranker() { return ranker_; }

    // The primal value F(w) + sum of C times the losses, for the learner's weights times a factor.
    // Entropic weights are mixed with uniform weights instead.
    double primal(double factor) const {
        const RankerConfig& config = ranker_.config();
        const auto n = static_cast<double>(dimension());
        Table w;
        double value = 0;
        const Table theta = thetas(ranker_);
        std::vector<double> Z = partition(theta), unseen(Z.size());
        for (std::size_t y = 0; y < Z.size(); ++y) unseen[y] = factor / Z[y] + (1 - factor) / n;
        for (const auto& [feature, row] : theta)
            for (std::size_t y = 0; y < row.size(); ++y) {
                const double weight = entropic_geometry()
                                          ? factor * std::exp(row[y]) / Z[y] + (1 - factor) / n
                                          : factor * row[y] / std::sqrt(S(feature));
                w[feature].push_back(weight);
                value += entropic_geometry() ? weight * std::log(n * weight)
                                             : 0.5 * std::sqrt(S(feature)) * weight * weight;
            }
        if (entropic_geometry())
            for (const double weight : unseen)
                value += (n - static_cast<double>(theta.size())) * weight * std::log(n * weight);
        for (const Item& item : items_) {
            Example x = item.example();
            ranker_.finish(x);
            std::vector<double> scores(ranker_.labels(), 0.0);
            for (std::size_t i = 0; i < x.size(); ++i)
                for (std::size_t y = 0; y < scores.size(); ++y) {
                    const bool known = w.count(x.feature[i]) > 0;
                    const double absent = entropic_geometry() ? unseen[y] : 0;
                    scores[y] += x.value[i] * (known ? w[x.feature[i]][y] : absent);
                }
            value += config.C * item.weight * loss(item, scores);
        }
        return value;
    }

  private:
    bool entropic_geometry() const { return ranker_.config().geometry == Geometry::entropic; }
    double S(std::int32_t feature) const {
        const auto squares = squares_.find(feature);
        const bool grows =
            ranker_.config().geometry == Geometry::adaptive && squares != squares_.end();
        return grows ? 1 + ranker_.config().rate * squares->second : 1;
    }
    std::int64_t dimension() const {
        const RankerConfig& config = ranker_.config();
        std::int64_t n = config.n_features + (config.constant != 0 ? 1 : 0);
        for (const auto& [feature, yes] : seen_) n += yes && feature >= config.n_features;
        return n;
    }
    std::vector<double> partition(const Table& theta) const {
        const auto unseen =
            static_cast<double>(dimension() - static_cast<std::int64_t>(theta.size()));
        std::vector<double> Z(ranker_.labels(), unseen);
        for (const auto& [feature, row] : theta)
            for (std::size_t y = 0; y < row.size(); ++y) Z[y] += std::exp(row[y]);
        return Z;
    }
    double complexity() const {
        const Table theta = thetas(ranker_);
        double value = 0;
        if (entropic_geometry()) {
            for (const double Z : partition(theta))
                value += std::log(Z / static_cast<double>(dimension()));
            return value;
        }
        for (const auto& [feature, row] : theta)
            for (const double number : row) value += 0.5 * number * number / std::sqrt(S(feature));
        return value;
    }

    // The gain of a round, from the coefficients that the change of theta implies.
    double gain_of(const Item& item, const Example& x, const Table& before,
                   const Table& after) const {
        if (x.size() == 0) return 0;
        std::size_t widest = 0;
        for (std::size_t i = 1; i < x.size(); ++i)
            if (std::abs(x.value[i]) > std::abs(x.value[widest])) widest = i;
        std::vector<double> up, down;
        double mass = 0;
        for (std::size_t y = 0; y < ranker_.labels(); ++y) {
            const std::int32_t feature = x.feature[widest];
            const double alpha =
                (number(after, feature, y) - number(before, feature, y)) / x.value[widest];
            const auto label = static_cast<std::int32_t>(y);
            const bool relevant = std::count(item.relevant.begin(), item.relevant.end(), label) > 0;
            (relevant ? up : down).push_back(std::abs(alpha));
            if (relevant) mass += alpha;
        }
        const RankerConfig& config = ranker_.config();
        double value = config.margin * mass;
        if (config.update->name != "smooth" || mass <= 0) return value;
        const double C = config.C * item.weight;
        const auto term = [](double p) { return p > 0 ? -p * std::log(p) : 0; };
        double entropy = term(1 - mass / C);
        for (const double r : up)
            for (const double s : down) entropy += term(r * s / (mass * C));
        return value + C * config.temperature * entropy;
    }

    double loss(const Item& item, const std::vector<double>& scores) const {
        const RankerConfig& config = ranker_.config();
        const auto in = [](const auto& set, std::size_t y) {
            return std::count(set.begin(), set.end(), static_cast<std::int32_t>(y)) > 0;
        };
        double worst = 0, sum = 1;
        for (std::size_t r = 0; r < scores.size(); ++r)
            for (std::size_t s = 0; s < scores.size() && in(item.relevant, r); ++s) {
                if (in(item.relevant, s) || in(item.unknown, s)) continue;
                const double excess = config.margin - scores[r] + scores[s];
                worst = std::max(worst, excess);
                sum += std::exp(excess / config.temperature);
            }
        return config.update->name == "smooth" ? config.temperature * std::log(sum) : worst;
    }

    LabelRanker<T> ranker_;
    std::vector<Item> items_;
    std::map<std::int32_t, double> squares_;
    std::map<std::int32_t, bool> seen_;
    double gain_ = 0;
};

std::string words(const RankerConfig& config) {
    return "geometry " + text(static_cast<int>(config.geometry)) + ", update " +
           std::string(config.update->name) + ", solver " + text(static_cast<int>(config.solver));
}

template <class T>
void running_dual_is_correct(const RankerConfig& config, double distance) {
    const Note note(words(config));
    DualTracker<T> keeper(config);
    keeper.ranker().add_labels(8);
    const bool never_decreases = config.update->name == "single" ||
                                 config.update->name == "optimal" ||
                                 config.update->name == "smooth";
    double last = 0;
    int round = 0;
    for (const Item& item : random_stream(11, 120, {.weights = true})) {
        const Note where("round ", round++);
        keeper.learn(item);
        const double dual = keeper.ranker().dual();
        near(dual, keeper.dual(), distance * (1 + std::abs(dual)));
        if (never_decreases) at_most(last, dual + distance);
        last = dual;
    }
    check(!never_decreases || last > 0, "nothing was learnt");
    for (const double factor : {0.0, 0.3, 1.0})
        at_most(last, keeper.primal(factor) * (1 + distance) + distance);
}

// Includes example weights, labels of unknown relevance and a constant feature.
const Test running{
    "ranker dual: equals the value recomputed from the weights, and is at most the primal", [] {
        for (const Geometry geometry : kGeometries)
            for (const std::string_view update : updates_of(geometry)) {
                RankerConfig config = config_of(geometry, update);
                config.C = 0.7;
                running_dual_is_correct<double>(config, 1e-9);
                running_dual_is_correct<float>(config, 2e-5);
                config.constant = 0.5;
                running_dual_is_correct<double>(config, 1e-9);
            }
    }};

const Test growing{"ranker dual: the same while features are added to the simplex", [] {
                       for (const std::string_view update : {"fixed", "simproj"}) {
                           RankerConfig config = config_of(Geometry::entropic, update);
                           config.n_features = 5;
                           running_dual_is_correct<double>(config, 1e-9);
                       }
                   }};

const Test interior{
    "ranker dual: the interior point method learns the same weights as water-filling", [] {
        for (const Geometry geometry : kGeometries) {
            RankerConfig config = config_of(geometry, "optimal");
            LabelRanker<double> exact(config);
            config.solver = Solver::interior_point;
            running_dual_is_correct<double>(config, 1e-9);
            LabelRanker<double> interior_point(config);
            for (const Item& item : random_stream(12, 100, {})) {
                learn(exact, item);
                learn(interior_point, item);
            }
            near(interior_point.dual(), exact.dual(), 1e-5 * (1 + exact.dual()));
            check(interior_point.certificate().solver_rounds > 0, "no round used the solver");
            const Certificate c = interior_point.certificate();
            at_most(static_cast<double>(c.solver_iterations),
                    50.0 * static_cast<double>(c.solver_rounds));
            same(exact.certificate().solver_rounds, 0);
        }
    }};

}  // namespace
}  // namespace tagalong::test::ranker_dual_test
