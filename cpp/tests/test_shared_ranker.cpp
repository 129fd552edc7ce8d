// SharedRanker: class-dependent features from a matrix and from FolderAffinity give the same bits.
#include <vector>

#include "shared/label_block.hpp"
#include "shared/shared_ranker.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::shared_ranker_test {
namespace {

constexpr int kWords = 14, kLabels = 5;

struct Message {
    Example x;
    std::vector<std::int32_t> relevant, unknown;
};

std::vector<Message> random_messages(std::uint64_t seed, int length) {
    Random random(seed);
    std::vector<Message> out(static_cast<std::size_t>(length));
    for (Message& message : out) {
        for (int word = 0; word < kWords; ++word)
            if (random.chance(0.4)) message.x.add(word, 1.0);
        message.relevant.push_back(random.below(kLabels));
        if (random.chance(0.3)) message.unknown.push_back((message.relevant[0] + 1) % kLabels);
    }
    return out;
}

// The block as a dense matrix with one row per label.
template <class T>
std::vector<double> dense(const LabelBlock<T>& phi) {
    std::vector<double> out(phi.labels * kWords, 0.0);
    for (std::size_t i = 0; i < phi.features.size(); ++i)
        for (std::size_t r = 0; r < phi.labels; ++r)
            out[r * kWords + static_cast<std::size_t>(phi.features[i])] =
                static_cast<double>(phi.row(i)[r]);
    return out;
}

Matrix view(const std::vector<double>& values, std::size_t rows) {
    Matrix matrix;
    matrix.rows = static_cast<std::int64_t>(rows);
    matrix.columns = kWords;
    matrix.values = values.data();
    matrix.row_stride = kWords;
    return matrix;
}

template <class T>
void both_sources(std::string_view update, bool entropic) {
    SharedConfig config;
    config.block.update = &block_rule(update);
    config.block.entropic = entropic;
    config.block.n_features = kWords;
    if (entropic) config.block.margin = 0.05;
    SharedRanker<T> inside(config), outside(config);
    typename SharedRanker<T>::Reader reader;
    for (Message& message : random_messages(3, 80)) {
        // The features that `inside` is about to compute, including labels that are new in this
        // round.
        const std::size_t labels = inside.labels_with(message.relevant, message.unknown);
        same(labels, outside.labels_with(message.relevant, message.unknown));
        inside.add_labels(labels - inside.labels());
        outside.add_labels(labels - outside.labels());
        inside.affinity().compute(message.x, reader.phi);
        const std::vector<double> rows = dense(reader.phi);
        LabelBlock<T> phi;
        phi.load(view(rows, labels));
        std::vector<T> first(labels), second(labels);
        inside.learn(message.x, message.relevant, message.unknown, 1.0, {.scores = first.data()});
        outside.learn(phi, message.relevant, message.unknown, 1.0, {.scores = second.data()});
        same_bits(first, second);
    }
    same(inside.block().certificate().mistakes, outside.block().certificate().mistakes);
    same(inside.block().dual(), outside.block().dual());
    same(inside.cutoff(), outside.cutoff());
    for (int word = 0; word < kWords; ++word)
        same(inside.block().feature_weight(word), outside.block().feature_weight(word));
    same(outside.affinity().counts().rows(), std::size_t{0});
}

const Test sources{"shared ranker: a block from a matrix gives the same bits as FolderAffinity",
                   [] {
                       for (const std::string_view update : {"simproj", "max", "optimal"}) {
                           both_sources<float>(update, false);
                           both_sources<double>(update, false);
                           both_sources<double>(update, true);
                       }
                   }};

const Test loading{"label block: sparse rows in any order, with duplicates and zeros", [] {
                       const std::vector<double> values{1, 2, 3, 0, 4, -4, 5};
                       const std::vector<std::int32_t> columns{9, 2, 9, 1, 7, 7, 2};
                       const std::vector<std::int32_t> at{0, 4, 6, 6, 7};
                       Matrix matrix;
                       matrix.rows = 4;
                       matrix.columns = kWords;
                       matrix.values = values.data();
                       matrix.indices = columns.data();
                       matrix.indptr = at.data();
                       LabelBlock<float> phi;
                       phi.load(matrix);
                       check(phi.features == std::vector<std::int32_t>{2, 9}, "features differ");
                       same_bits(phi.values, std::vector<float>{2, 0, 0, 5, 4, 0, 0, 0});
                       RowBlock out;
                       phi.difference(0, 3, out);
                       const RowView row = out.row(0);
                       check(std::vector<std::int32_t>(row.feature.begin(), row.feature.end()) ==
                                 std::vector<std::int32_t>{2, 9},
                             "features of the difference are wrong");
                       same_bits(std::vector<double>(row.value.begin(), row.value.end()),
                                 std::vector<double>{-3, 4});
                   }};

const Test empty{"label block: no labels, no features", [] {
                     Matrix matrix;
                     LabelBlock<double> phi;
                     phi.load(matrix);
                     same(phi.labels, std::size_t{0});
                     const std::vector<double> zeros(2 * kWords, 0.0);
                     phi.load(view(zeros, 2));
                     same(phi.labels, std::size_t{2});
                     check(phi.features.empty() && phi.values.empty(),
                           "an empty block has a nonzero result");
                 }};

}  // namespace
}  // namespace tagalong::test::shared_ranker_test
