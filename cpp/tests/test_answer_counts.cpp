// Counts of first places compared with their definitions.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "predictions/answer_counts.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::answer_counts_test {
namespace {

using Labels = std::vector<std::int32_t>;

constexpr std::array<double, 3> kTargets{0.9, 0.95, 0.99};
constexpr std::size_t kBins = 15;

bool in(const Labels& labels, std::int32_t label) {
    return std::count(labels.begin(), labels.end(), label) > 0;
}

struct Row {
    Labels labels, relevant, unknown;
    std::vector<double> probabilities, assured;
    std::vector<char> chosen;
    double whole = 0;
    bool in_runs = false, confident = true;

    bool counts(std::size_t i) const { return labels[i] >= 0 && !in(unknown, labels[i]); }
    bool right(std::size_t i) const { return labels[i] >= 0 && in(relevant, labels[i]); }
    bool sure(std::size_t i, double target) const {
        return confident && counts(i) && assured[i] >= target;
    }
    RowPlaces places() const {
        return {labels,         probabilities.data(),
                assured.data(), reinterpret_cast<const bool*>(chosen.data()),
                whole,          in_runs,
                confident};
    }
};

Row random_row(Random& random) {
    Row row;
    Labels all(14);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
    random.shuffle(all);
    const auto k = static_cast<std::size_t>(1 + random.below(12));
    for (std::size_t i = 0; i < k; ++i) {
        row.labels.push_back(random.chance(0.1) ? -1 : all[i]);
        row.probabilities.push_back(random.chance(0.1) ? 1.0 : random.uniform());
        row.assured.push_back(random.chance(0.3) ? 0.95 : random.uniform());
        row.chosen.push_back(random.chance(0.4));
    }
    for (const std::int32_t label : all) {
        if (random.chance(0.15)) row.relevant.push_back(label);
        else if (random.chance(0.1)) row.unknown.push_back(label);
    }
    row.whole = random.uniform();
    row.in_runs = random.chance(0.3);
    row.confident = random.chance(0.8);
    return row;
}

std::vector<std::int64_t> columns(const Row& row) {
    const std::size_t k = std::min(row.labels.size(), AnswerCounts::kPlaces);
    const bool suggested = row.counts(0), right = suggested && row.right(0);
    bool of_3 = false;
    for (std::size_t i = 0; i < std::min<std::size_t>(k, 3); ++i)
        of_3 |= row.counts(i) && row.right(i);
    const bool one = row.relevant.size() == 1, judged = suggested && row.confident;
    std::vector<std::int64_t> out{
        1,      suggested,
        right,  suggested && of_3,
        judged, row.in_runs && row.confident,
        one,    row.confident ? static_cast<std::int64_t>(row.relevant.size()) : 0};
    for (const double target : kTargets) out.push_back(row.sure(0, target));
    for (const double target : kTargets) out.push_back(row.sure(0, target) && right);
    for (const bool only_right : {false, true})
        for (const double target : kTargets) {
            std::int64_t count = 0;
            for (std::size_t i = 0; i < k; ++i)
                count += row.sure(i, target) && (!only_right || row.right(i));
            out.push_back(count);
        }
    out.push_back(one ? row.relevant[0] : -1);
    out.push_back(suggested ? row.labels[0] : -1);
    out.push_back(judged ? std::llround(row.probabilities[0] * (1 << 30)) : -1);
    return out;
}

// (kind, settled, bin) -> answers, right ones, sum of the probabilities.
struct Expected {
    std::vector<std::int64_t> calibration = std::vector<std::int64_t>(3 * 2 * kBins * 3, 0);
    std::vector<AnswerCounts::LabelRow> labels;

    void add(std::size_t kind, bool settled, double probability, bool right) {
        const auto bin = std::min(kBins - 1, static_cast<std::size_t>(probability * kBins));
        std::int64_t* sums = &calibration[((2 * kind + settled) * kBins + bin) * 3];
        sums[0] += 1;
        sums[1] += right;
        sums[2] += std::llround(probability * (1 << 30));
    }
    void add(std::int32_t label, std::size_t column) {
        const auto at = static_cast<std::size_t>(label);
        if (labels.size() <= at) labels.resize(at + 1, AnswerCounts::LabelRow{});
        ++labels[at][column];
    }
    void add(const Row& row, bool settled) {
        const std::size_t k = std::min(row.labels.size(), AnswerCounts::kPlaces);
        if (row.counts(0)) {
            for (const std::int32_t label : row.relevant) add(label, 0);
            add(row.labels[0], 1);
            if (row.right(0)) add(row.labels[0], 2);
        }
        std::size_t chosen = 0, wrong = 0;
        for (std::size_t i = 0; i < k; ++i) {
            if (row.sure(i, kTargets[1])) add(row.labels[i], 3);
            if (row.sure(i, kTargets[1]) && row.right(i)) add(row.labels[i], 4);
            chosen += row.chosen[i] && row.labels[i] >= 0;
            wrong += row.chosen[i] && row.labels[i] >= 0 && !row.right(i);
            if (!row.confident || !row.counts(i)) continue;
            if (i == 0) add(0, settled, row.probabilities[i], row.right(i));
            if (i < 5) add(1, settled, row.probabilities[i], row.right(i));
        }
        if (row.confident && row.counts(0))
            add(2, settled, row.whole, wrong == 0 && chosen == row.relevant.size());
    }
};

const Test definitions{
    "answer counts: columns, calibration and labels equal their definitions", [] {
        Random random(91);
        AnswerCounts counts(kTargets, kBins, 200);
        Expected expected;
        for (std::int64_t item = 1; item <= 600; ++item) {
            const Row row = random_row(random);
            std::vector<std::int64_t> out(AnswerCounts::kColumns, -7);
            counts.count(row.places(), row.relevant, row.unknown, item, out.data());
            expected.add(row, item > 200);
            const Note note("item ", item);
            same(out == columns(row), true);
            same(counts.calibration() == expected.calibration, true);
            same(counts.labels() == expected.labels, true);
        }
    }};

}  // namespace
}  // namespace tagalong::test::answer_counts_test
