// Small fixed workloads for counting instructions: tools/count_instructions.py runs them under
// callgrind, which counts only inside the function `counted`. The data come from a generator that
// is identical on all machines, so that the counts depend only on the code and the compiler.
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "blocks/block_learner.hpp"
#include "m3l/linear_solver.hpp"
#include "partial/partial_ranker.hpp"
#include "predictions/answer_counts.hpp"
#include "predictions/measures.hpp"
#include "predtron/predtron.hpp"
#include "race/race.hpp"
#include "tests/stream.hpp"
#include "text/text_features.hpp"

namespace tagalong::test {
namespace {

constexpr StreamShape kTexts{
    .features = 2000, .labels = 120, .length = 40, .binary = true, .unknown = false};

// A workload: `run` is counted and processes `items` items; its data are prepared beforehand.
struct Work {
    int items;
    std::function<void()> run;
};

std::vector<Item> texts() {
    Random random(7);
    std::vector<Item> items = random_stream(7, 200, kTexts);
    for (Item& item : items) {  // about four labels each
        random.shuffle(item.relevant);
        item.relevant.resize(std::min<std::size_t>(item.relevant.size(), 4));
        std::sort(item.relevant.begin(), item.relevant.end());
    }
    return items;
}

template <class Learner>
Work online(std::shared_ptr<Learner> learner, std::vector<Item> items = texts()) {
    const int count = static_cast<int>(items.size());
    return {count, [learner, items = std::move(items)] {
                for (const Item& item : items) {
                    Example x = item.example();
                    learner->finish(x);
                    learner->learn(x, item.relevant, item.unknown, 1.0);
                }
            }};
}

Work ranker(Geometry geometry, std::string_view update, Average average = Average::never) {
    RankerConfig config;
    config.geometry = geometry;
    config.update = &label_rule(update);
    config.average = average;
    config.rate = geometry == Geometry::adaptive ? 3 : 0;
    config.C = 10;
    config.temperature = 0.05;
    config.constant = geometry == Geometry::entropic ? 0 : 0.5;
    if (geometry == Geometry::entropic) config.n_features = kTexts.features;
    return online(std::make_shared<LabelRanker<float>>(config));
}

RaceConfig race_config() {
    RaceConfig config;
    for (const ContestantType& type : contestant_types()) config.types.push_back(&type);
    config.ranker.C = 10;
    config.ranker.working_set = true;
    config.ranker.average = Average::chosen;
    config.ranker.constant = 0.5;
    config.ranker.rate = 3;
    config.ranker.relevance = RelevanceOf::rare;
    return config;
}

// All contestants on words, until the 200th item.
Work race() { return online(std::make_shared<Race<float>>(race_config())); }

// Answers of a race that has learnt the items: `answer` gets the race and a reader with an item.
template <class Answer>
Work race_answers(const Answer& answer) {
    auto learner = std::make_shared<Race<float>>(race_config());
    online(learner).run();
    std::vector<Item> items = texts();
    const int count = static_cast<int>(items.size());
    return {count, [learner, answer = answer, items = std::move(items)]() mutable {
                Race<float>::Reader reader;
                for (const Item& item : items) {
                    reader.x = item.example();
                    learner->finish(reader.x);
                    answer(*learner, reader);
                }
            }};
}

// The first five places with their confidence.
Work race_judging() {
    return race_answers([judged = Judgement{}](const Race<float>& race, auto& reader) mutable {
        race.judge(reader, 5, {}, judged);
    });
}

// The contributions to the score of a label.
Work race_explaining() {
    return race_answers(
        [parts = std::vector<double>{}](const Race<float>& race, auto& reader) mutable {
            race.contributions(reader, 3, parts);
        });
}

Work partial(CovarianceKind covariance) {
    PartialConfig config;
    config.covariance = covariance;
    config.max_labels = 5;
    config.confidence.exploration = 0.02;
    auto learner = std::make_shared<PartialRanker<float>>(config);
    learner->add_labels(50);  // in a game, new labels are added only after the round
    return online(
        learner,
        random_stream(11, 60, {.features = 60, .labels = 50, .length = 200, .unknown = false}));
}

Work label_ranking() {
    PredtronConfig config;
    config.problem.kind = ProblemKind::ranking;
    return online(std::make_shared<Predtron<float>>(config));
}

Work blocks(std::string_view update, int count) {
    BlockConfig config;
    config.update = &block_rule(update);
    config.C = 0.02;
    auto learner = std::make_shared<BlockLearner<float>>(config);
    std::vector<RowBlock> stream(static_cast<std::size_t>(count));
    Random random(13);
    for (RowBlock& block : stream)
        for (int j = 0; j < 20; ++j) {
            Example x =
                random_item(random, {.features = 5000, .labels = 1, .length = 50}).example();
            x.merge();
            block.append(x);
        }
    return {count, [learner, stream] {
                for (const RowBlock& block : stream) learner->learn(block, {}, {});
            }};
}

Work m3l(bool dense, bool coupled) {
    struct Data {
        std::vector<float> values;
        std::vector<std::int32_t> indices, indptr{0};
        std::vector<std::int64_t> start{0};
        std::vector<std::int32_t> label;
        std::vector<double> two, one, prior;
        Matrix matrix;
        m3l::Problem problem;
    };
    constexpr int rows = 150;
    const StreamShape shape{
        .features = dense ? 60 : 2000, .labels = 20, .length = dense ? 200 : 40, .unknown = false};
    auto data = std::make_shared<Data>();
    for (const Item& item : random_stream(17, rows, shape)) {
        Example x = item.example();
        x.finish(Norm::euclidean, 0);
        if (dense) {
            data->values.resize(data->values.size() + 60, 0.0f);
            for (std::size_t e = 0; e < x.size(); ++e)
                data->values[data->values.size() - 60 + static_cast<std::size_t>(x.feature[e])] =
                    static_cast<float>(x.value[e]);
        } else {
            for (std::size_t e = 0; e < x.size(); ++e) {
                data->indices.push_back(x.feature[e]);
                data->values.push_back(static_cast<float>(x.value[e]));
            }
            data->indptr.push_back(static_cast<std::int32_t>(data->indices.size()));
        }
        data->label.insert(data->label.end(), item.relevant.begin(), item.relevant.end());
        data->start.push_back(static_cast<std::int64_t>(data->label.size()));
    }
    data->matrix = {.rows = rows,
                    .columns = shape.features,
                    .values = data->values.data(),
                    .value_type = Number::float32,
                    .row_stride = 60};
    if (!dense) {
        data->matrix.indices = data->indices.data();
        data->matrix.indptr = data->indptr.data();
    }
    data->two.assign(20, 2.0);
    data->one.assign(20, 1.0);
    if (coupled)
        for (int l = 0; l < 20; ++l)
            for (int k = 0; k < 20; ++k) data->prior.push_back(l == k ? 1.0 : 0.2);
    data->problem.rows = rows;
    data->problem.labels = 20;
    data->problem.relevant = {data->start, data->label};
    static const std::vector<std::int64_t> nothing(rows + 1, 0);
    data->problem.unknown = {nothing, {}};
    data->problem.margin_relevant = data->problem.margin_irrelevant = data->two;
    data->problem.bound_relevant = data->problem.bound_irrelevant = data->one;
    data->problem.prior = data->prior;
    return {rows, [data] {
                m3l::LinearSettings settings;
                settings.tolerance = 0.1;
                m3l::LinearSolution<float> solution;
                m3l::SolverProgress progress;
                m3l::solve_linear(m3l::Rows<float>(data->matrix), data->problem, settings, progress,
                                  solution);
            }};
}

// The measures of rankings of 380 labels, and the counts of their first places.
Work evaluation(bool answers) {
    constexpr std::size_t kLabels = 380, kPlaces = AnswerCounts::kPlaces, kRows = 200;
    Random random(23);
    std::vector<float> scores(kRows * kLabels);
    for (float& score : scores) score = static_cast<float>(random.uniform());
    std::vector<std::vector<std::int32_t>> relevant(kRows);
    std::vector<std::int32_t> labels;
    std::vector<double> probabilities;
    std::vector<char> chosen;
    for (std::size_t row = 0; row < kRows; ++row) {
        for (int label = 0; label < 4; ++label)
            relevant[row].push_back(label * 90 + random.below(90));
        for (std::size_t place = 0; place < kPlaces; ++place) {
            labels.push_back(static_cast<std::int32_t>(place) * 38 + random.below(38));
            probabilities.push_back(random.uniform());
            chosen.push_back(random.chance(0.3));
        }
        labels[row * kPlaces] = relevant[row][1];
    }
    if (!answers)
        return {kRows, [=, measures = std::make_shared<Measures>(5, 100)] {
                    for (std::size_t row = 0; row < kRows; ++row)
                        measures->observe<float>({scores.data() + row * kLabels, kLabels},
                                                 relevant[row], {}, 0.99);
                }};
    auto counts = std::make_shared<AnswerCounts>(std::array<double, 3>{0.9, 0.95, 0.99}, 15, 500);
    return {kRows, [=] {
                std::int64_t out[AnswerCounts::kColumns];
                for (std::size_t row = 0; row < kRows; ++row) {
                    const std::size_t at = row * kPlaces;
                    counts->count({{labels.data() + at, kPlaces},
                                   probabilities.data() + at,
                                   probabilities.data() + at,
                                   reinterpret_cast<const bool*>(chosen.data()) + at,
                                   0.5,
                                   false,
                                   true},
                                  relevant[row], {}, static_cast<std::int64_t>(row), out);
                }
            }};
}

Work text(bool characters, bool ahead = false) {
    TextConfig config;
    config.weighting = Weighting::log;
    if (ahead) config.name_bytes = 1 << 20;
    if (characters) config.words.least_chars = 3, config.words.most_chars = 5;
    auto features = std::make_shared<TextFeatures>(config);
    Random random(19);
    std::vector<std::string> items(60);
    for (std::string& item : items)
        for (int word = 0; word < 60; ++word) {
            for (int length = 2 + random.below(8); length > 0; --length)
                item += static_cast<char>('a' + random.below(26));
            item += ' ';
        }
    return {60, [features, items, ahead] {
                TextFeatures::Reading reading;
                for (const std::string& item : items) {
                    features->read({{{"", item}}, {}}, reading);
                    if (ahead) features->learn(features->note(reading));
                    else features->learn(reading);
                }
            }};
}

struct Named {
    const char* name;
    std::function<Work()> make;
};

const Named kWorkloads[] = {
    {"ranker euclidean single", [] { return ranker(Geometry::euclidean, "single"); }},
    {"ranker euclidean optimal", [] { return ranker(Geometry::euclidean, "optimal"); }},
    {"ranker adaptive optimal averaged",
     [] { return ranker(Geometry::adaptive, "optimal", Average::always); }},
    {"ranker default", [] { return ranker(Geometry::adaptive, "smooth", Average::chosen); }},
    {"race", [] { return race(); }},
    {"race judging", [] { return race_judging(); }},
    {"race explaining", [] { return race_explaining(); }},
    {"ranker entropic single", [] { return ranker(Geometry::entropic, "single"); }},
    {"blocks simproj", [] { return blocks("simproj", 200); }},
    {"blocks optimal", [] { return blocks("optimal", 100); }},
    {"partial full", [] { return partial(CovarianceKind::full); }},
    {"partial diagonal", [] { return partial(CovarianceKind::diagonal); }},
    {"predtron label ranking", [] { return label_ranking(); }},
    {"m3l sparse", [] { return m3l(false, false); }},
    {"m3l dense", [] { return m3l(true, false); }},
    {"m3l with a prior", [] { return m3l(false, true); }},
    {"measures", [] { return evaluation(false); }},
    {"answers", [] { return evaluation(true); }},
    {"text words", [] { return text(false); }},
    {"text words ahead", [] { return text(false, true); }},
    {"text characters", [] { return text(true); }},
};

}  // namespace

// Not inlined, and with an unmangled name for the options of callgrind.
extern "C" __attribute__((noinline)) void counted(const std::function<void()>& run) {
    run();
    asm volatile("" ::: "memory");
}

}  // namespace tagalong::test

int main(int count, char** arguments) {
    using namespace tagalong::test;
    for (const Named& workload : kWorkloads) {
        if (count == 1) std::printf("%s\n", workload.name);
        else if (!std::strcmp(arguments[1], workload.name)) {
            const Work work = workload.make();
            counted(work.run);
            std::printf("%d\n", work.items);
            return 0;
        }
    }
    return count == 1 ? 0 : 2;
}
