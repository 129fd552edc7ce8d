// GradeRanker: its trials are those of the block learner; its scaling is that of all rows so far.
#include <cmath>
#include <vector>

#include "grades/grade_ranker.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::grade_ranker_test {
namespace {

constexpr int kFeatures = 9, kGrades = 4;

struct Rated {
    Example x;
    std::vector<std::int32_t> grade;
};

std::vector<Rated> random_rows(std::uint64_t seed, int length) {
    Random random(seed);
    std::vector<Rated> out(static_cast<std::size_t>(length));
    for (Rated& row : out) {
        double sum = 0;
        // Features 0 to 2 are in every row, the others in less than a quarter of them.
        for (int feature = 0; feature < kFeatures; ++feature)
            if (feature < 3 || random.chance(0.15)) {
                const double value = 10 * feature + random.below(100) / 25.0 + 0.5;
                row.x.add(feature, value);
                sum += feature < 3 ? value : 0;
            }
        row.grade.push_back(std::min(kGrades - 1, static_cast<int>(std::max(0.0, sum - 34) / 2)));
    }
    return out;
}

template <class T>
void same_as_blocks(std::string_view update) {
    GradeConfig config;
    config.block.update = &block_rule(update);
    config.block.C = 0.02;
    config.scaled = false;
    GradeRanker<T> ranker(config);
    ranker.add_labels(kGrades);
    BlockLearner<T> blocks(config.block);
    for (Rated& row : random_rows(5, 120)) {
        RowBlock block;
        for (int threshold = 0; threshold + 1 < kGrades; ++threshold) {
            const double sign = threshold < row.grade[0] ? 1 : -1;
            block.add(threshold, -sign);
            for (std::size_t i = 0; i < row.x.size(); ++i)
                block.add(kGrades - 1 + row.x.feature[i], sign * row.x.value[i]);
            block.end_row();
        }
        blocks.learn(block, {}, {});
        ranker.finish(row.x);
        ranker.learn(row.x, row.grade, {}, 1.0);
    }
    same(ranker.block().certificate().mistakes, blocks.certificate().mistakes);
    same(ranker.block().dual(), blocks.dual());
    std::vector<double> thresholds;
    ranker.thresholds(thresholds);
    same(thresholds.size(), std::size_t{kGrades - 1});
    for (int threshold = 0; threshold + 1 < kGrades; ++threshold)
        same(thresholds[static_cast<std::size_t>(threshold)], blocks.feature_weight(threshold));
    for (int feature = 0; feature < kFeatures; ++feature)
        same(ranker.block().feature_weight(GradeRanker<T>::kFirstFeature + feature),
             blocks.feature_weight(kGrades - 1 + feature));
}

const Test trials{"grade ranker: its trials are blocks of the rows (x, -e_j)", [] {
                      for (const std::string_view update : {"simproj", "max", "optimal"}) {
                          same_as_blocks<float>(update);
                          same_as_blocks<double>(update);
                      }
                  }};

// The scaled value of a feature, from all rows.
double naive(const std::vector<Rated>& rows, std::size_t last, int feature) {
    const auto value = [&](std::size_t row) {
        for (std::size_t i = 0; i < rows[row].x.size(); ++i)
            if (rows[row].x.feature[i] == feature) return rows[row].x.value[i];
        return 0.0;
    };
    const auto count = static_cast<double>(last + 1);
    double present = 0, sum = 0, squares = 0;
    for (std::size_t row = 0; row <= last; ++row) {
        present += value(row) != 0;
        sum += value(row);
        squares += value(row) * value(row);
    }
    // A feature that this row lacks is judged by the rows before it, and by all of them for its
    // mean and deviation.
    if (present < 0.25 * count) return value(last);
    const double mean = sum / count, deviation = std::sqrt(squares / count - mean * mean);
    if (!(deviation > 1e-9)) return 0;
    return std::clamp((value(last) - mean) / deviation, -4.0, 4.0);
}

const Test scaling{"grade scaling: frequent features are standardised, rare ones as they are", [] {
                       const std::vector<Rated> rows = random_rows(6, 150);
                       GradeScaling scaling;
                       Example scaled;
                       int rare = 0, absent = 0;
                       for (std::size_t row = 0; row < rows.size(); ++row) {
                           scaling.scale(rows[row].x, scaled);
                           std::vector<double> dense(kFeatures, 0.0);
                           for (std::size_t i = 0; i < scaled.size(); ++i) {
                               check(i == 0 || scaled.feature[i - 1] < scaled.feature[i],
                                     "features are not ascending");
                               dense[static_cast<std::size_t>(scaled.feature[i])] = scaled.value[i];
                           }
                           for (int feature = 0; feature < kFeatures; ++feature) {
                               const double wanted = naive(rows, row, feature);
                               near(dense[static_cast<std::size_t>(feature)], wanted, 1e-6);
                               rare += wanted > 4;
                               absent += wanted < 0 && feature > 2;
                           }
                           scaling.observe(rows[row].x);
                       }
                       check(rare > 50 && absent > 5, "the rows have too few cases");
                   }};

const Test edges{"grade ranker: refuses other labels, and grades that come late", [] {
                     GradeRanker<double> ranker({});
                     ranker.add_labels(2);
                     Example x;
                     x.add(3, 1.0);
                     ranker.finish(x);
                     const std::vector<std::int32_t> none, both{0, 1}, one{1}, third{2};
                     for (const auto& given : {none, both})
                         throws<InputError>([&] { ranker.learn(x, given, {}, 1.0); },
                                            "an example must have exactly one grade");
                     throws<InputError>([&] { ranker.learn(x, one, both, 1.0); },
                                        "an example must have exactly one grade");
                     throws<InputError>([&] { ranker.learn(x, third, {}, 1.0); },
                                        "there is no grade number 2");
                     ranker.learn(x, one, {}, 1.0);
                     throws<InputError>([&] { ranker.add_labels(1); },
                                        "grades must be declared before the first example");
                     Example high;
                     high.add(2147483647, 1.0);
                     throws<InputError>([&] { ranker.finish(high); },
                                        "feature 2147483647 is above the limit of 2147482648");
                 }};

}  // namespace
}  // namespace tagalong::test::grade_ranker_test
