// BlockLearner: weak duality, the running dual value, sets of rows, empty blocks.
#include <algorithm>
#include <cmath>
#include <vector>

#include "blocks/block_learner.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::block_learner_test {
namespace {

constexpr int kFeatures = 12;

struct Trial {
    RowBlock rows;
    std::vector<std::int32_t> set;
    std::vector<double> weights;

    int sets() const { return set.empty() ? 1 : 1 + *std::max_element(set.begin(), set.end()); }
};

std::vector<Trial> random_stream(std::uint64_t seed, int length, bool ternary, bool sets,
                                 bool weighted) {
    Random random(seed);
    std::vector<double> truth(kFeatures);
    for (double& value : truth) value = random.normal();
    std::vector<Trial> stream(static_cast<std::size_t>(length));
    for (Trial& trial : stream) {
        const int rows = 1 + random.below(6);
        for (int j = 0; j < rows; ++j) {
            Example x;
            double side = 0;
            for (int i = 0; i < kFeatures; ++i) {
                if (!random.chance(0.5)) continue;
                const double value = random.normal();
                x.add(i, ternary ? (value > 0 ? 1.0 : -1.0) : value);
                side += truth[static_cast<std::size_t>(i)] * x.value.back();
            }
            if ((side < 0) != random.chance(0.1))
                for (double& value : x.value) value = -value;
            trial.rows.append(x);
            // Set 0 always has a row.
            if (sets) trial.set.push_back(j == 0 ? 0 : random.below(std::min(j + 1, 3)));
            if (weighted) trial.weights.push_back(random.magnitude(0.3, 3));
        }
        // Renumber the sets without gaps.
        for (int number = trial.set.empty() ? 0 : trial.sets() - 1; number > 0; --number)
            if (std::find(trial.set.begin(), trial.set.end(), number) == trial.set.end())
                for (std::int32_t& one : trial.set) one -= one > number;
    }
    return stream;
}

BlockConfig config_of(const BlockRule& rule, bool entropic) {
    BlockConfig config;
    config.update = &rule;
    config.entropic = entropic;
    config.C = 0.7;
    config.margin = entropic ? 0.2 : 1;
    config.n_features = kFeatures;
    return config;
}

std::vector<double> weights_of(const BlockLearner<double>& learner) {
    std::vector<double> out;
    for (int i = 0; i < kFeatures; ++i) out.push_back(learner.feature_weight(i));
    return out;
}

// F(w) + C times the loss of fixed weights.
double objective(const BlockConfig& config, const std::vector<Trial>& stream,
                 const std::vector<double>& w) {
    double sum = 0;
    for (const double weight : w)
        sum += config.entropic ? (weight > 0 ? weight * std::log(kFeatures * weight) : 0)
                               : 0.5 * weight * weight;
    for (const Trial& trial : stream) {
        std::vector<double> worst(static_cast<std::size_t>(trial.sets()), 0.0);
        for (std::size_t j = 0; j < trial.rows.rows(); ++j) {
            double value = 0;
            const RowView row = trial.rows.row(j);
            for (std::size_t i = 0; i < row.size(); ++i)
                value += row.value[i] * w[static_cast<std::size_t>(row.feature[i])];
            double& largest = worst[trial.set.empty() ? 0 : static_cast<std::size_t>(trial.set[j])];
            largest = std::max(
                largest, (config.margin - value) / (trial.weights.empty() ? 1 : trial.weights[j]));
        }
        for (const double loss : worst) sum += config.C * loss / static_cast<double>(worst.size());
    }
    return sum;
}

template <class Look>
void every_learner(Look&& look) {
    for (const BlockRule& rule : block_rules())
        for (const bool entropic : {false, true}) {
            if (entropic && rule.entropic == nullptr) continue;
            for (int variant = 0; variant < 4; ++variant) {
                const Note note("update ", rule.name, ", entropic ", entropic, ", sets ",
                                variant % 2, ", weights ", variant / 2);
                look(config_of(rule, entropic),
                     random_stream(7, 40, variant == 3, variant % 2, variant / 2));
            }
        }
}

const Test duality{
    "block learner: the dual value is at most the objective of any fixed weights", [] {
        every_learner([](const BlockConfig& config, const std::vector<Trial>& stream) {
            BlockLearner<double> learner(config);
            std::vector<double> mean(kFeatures, 0.0);
            for (const Trial& trial : stream) {
                learner.learn(trial.rows, trial.set, trial.weights);
                const auto now = weights_of(learner);
                for (int i = 0; i < kFeatures; ++i)
                    mean[static_cast<std::size_t>(i)] +=
                        now[static_cast<std::size_t>(i)] / static_cast<double>(stream.size());
            }
            const double allowed = 1e-9 * (1 + std::abs(learner.dual()));
            at_most(learner.dual(), objective(config, stream, weights_of(learner)) + allowed);
            at_most(learner.dual(), objective(config, stream, mean) + allowed);
            std::vector<double> half = mean;
            for (double& weight : half) weight = config.entropic ? 1.0 / kFeatures : weight / 2;
            at_most(learner.dual(), objective(config, stream, half) + allowed);
        });
    }};

const Test recomputed{
    "block learner: the running dual value equals the dual value of the stored weights", [] {
        every_learner([](const BlockConfig& config, const std::vector<Trial>& stream) {
            BlockLearner<double> learner(config);
            for (const Trial& trial : stream) {
                learner.learn(trial.rows, trial.set, trial.weights);
                near(learner.dual(), learner.recompute_dual(),
                     1e-9 * (1 + learner.certificate().gain));
            }
        });
    }};

const Test ascends{
    "block learner: with one set per trial, schemes with optimised steps never decrease the dual "
    "value",
    [] {
        every_learner([](const BlockConfig& config, const std::vector<Trial>& stream) {
            if (config.update->name == "simperc" || config.update->name == "simopt") return;
            if (!stream[0].set.empty()) return;
            BlockLearner<double> learner(config);
            double before = 0;
            for (const Trial& trial : stream) {
                learner.learn(trial.rows, trial.set, trial.weights);
                at_most(before, learner.dual() + 1e-12 * (1 + learner.certificate().gain));
                before = learner.dual();
            }
            check(before > 0, "the dual value did not increase");
        });
    }};

const Test in_place{
    "block learner: rows read in place give the same bits as copies with their signs", [] {
        Random random(11);
        std::vector<double> values, signs;
        std::vector<std::int32_t> indices, starts = {0};
        for (int i = 0; i < 120; ++i) {
            for (int feature = 0; feature < kFeatures; ++feature)
                if (random.chance(0.5)) {
                    indices.push_back(feature);
                    values.push_back(random.normal());
                }
            starts.push_back(static_cast<std::int32_t>(indices.size()));
            signs.push_back(random.chance(0.5) ? 1.0 : -1.0);
        }
        Matrix matrix;
        matrix.rows = 120;
        matrix.columns = kFeatures;
        matrix.values = values.data();
        matrix.indices = indices.data();
        matrix.indptr = starts.data();
        for (const bool entropic : {false, true})
            for (const BlockRule& rule : block_rules()) {
                if (entropic && rule.entropic == nullptr) continue;
                const Note note("update ", rule.name, ", entropic ", entropic);
                BlockLearner<double> here(config_of(rule, entropic)),
                    copied(config_of(rule, entropic));
                for (std::int64_t from = 0; from < 120; from += 6) {
                    RowBlock there, copies;
                    there.append_references(matrix, from, from + 6, signs.data() + from);
                    check(there.has_separate_signs(), "rows were copied");
                    for (std::int64_t i = from; i < from + 6; ++i)
                        copies.append(matrix, i, signs[static_cast<std::size_t>(i)]);
                    check(!copies.has_separate_signs(), "rows were not copied");
                    same(here.learn(there, {}, {}), copied.learn(copies, {}, {}));
                }
                check(weights_of(here) == weights_of(copied), "weights differ");
                check(here.features() == copied.features(), "features differ");
                same(here.dual(), copied.dual());
            }
    }};

const Test equal_rows{"block learner: copies of a row decrease the dual value of simopt only", [] {
                          // With two copies of a row, simopt does not change the dual value; with
                          // three copies it decreases it. The optimal step uses one copy.
                          for (const std::size_t copies : {2u, 3u}) {
                              Example x;
                              x.add(0, 2);
                              RowBlock rows;
                              for (std::size_t i = 0; i < copies; ++i) rows.append(x);
                              BlockConfig config = config_of(block_rule("simopt"), false);
                              config.C = 10;
                              BlockLearner<double> simopt(config);
                              simopt.learn(rows, {}, {});
                              near(simopt.dual(), copies == 2 ? 0 : -0.375, 1e-12);
                              config.update = &block_rule("optimal");
                              BlockLearner<double> optimal(config);
                              optimal.learn(rows, {}, {});
                              near(optimal.dual(), 0.125, 1e-12);
                          }
                      }};

const Test nothing{"block learner: a block without rows, and rows without features", [] {
                       for (const bool entropic : {false, true})
                           for (const BlockRule& rule : block_rules()) {
                               if (entropic && rule.entropic == nullptr) continue;
                               BlockLearner<double> learner(config_of(rule, entropic));
                               same(learner.learn(RowBlock(), {}, {}), 0.0);
                               same(learner.certificate().rounds, 1);
                               same(learner.certificate().mistakes, 0.0);
                               const double margin = learner.config().margin;
                               RowBlock two_empty;
                               two_empty.end_row();
                               two_empty.end_row();
                               same(learner.learn(two_empty, {}, {}), margin);
                               same(learner.certificate().mistakes, 1.0);
                               same(learner.features().size(), 0u);
                               // No weights can satisfy empty rows: only the optimal step adds
                               // their loss to the dual value.
                               const bool gains = rule.name == "optimal";
                               near(learner.dual(), gains ? learner.config().C * margin : 0, 1e-15);
                           }
                   }};

}  // namespace
}  // namespace tagalong::test::block_learner_test
