// Random streams of scaled texts for the learners of words: values that are not negative, labels
// that appear one after the other, labels of unknown relevance, weights.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/example.hpp"
#include "tests/random.hpp"

namespace tagalong::test {

struct ScaledText {
    Example x;
    std::vector<int> relevant;
    std::vector<int> unknown;
    double weight = 1;
    std::size_t new_labels = 0;  // added before the text is learnt
};

// Words are numbers below `words`, some of them very large. A word votes for the label that is its
// number modulo the labels there are so far.
inline std::vector<ScaledText> random_texts(std::uint64_t seed, int length, int words, int labels,
                                            double constant) {
    Random random(seed);
    std::vector<ScaledText> out;
    int known = 0;
    for (int t = 0; t < length; ++t) {
        ScaledText text;
        const int born = t == 0 ? 2 : (random.chance(0.2) ? 1 + random.below(3) : 0);
        text.new_labels = static_cast<std::size_t>(std::min(born, labels - known));
        known += static_cast<int>(text.new_labels);
        std::vector<int> votes(static_cast<std::size_t>(known), 0);
        for (int i = random.below(8); i >= 0; --i) {
            const int word = random.below(words);
            text.x.add(word % 7 == 0 ? 1000000000 + word : word, random.between(0.1, 1));
            ++votes[static_cast<std::size_t>(word % known)];
        }
        text.x.finish(Norm::euclidean, constant);
        for (int k = 0; k < known; ++k) {
            if (random.chance(votes[static_cast<std::size_t>(k)] > 0 ? 0.5 : 0.05))
                text.relevant.push_back(k);
            else if (random.chance(0.1)) text.unknown.push_back(k);
        }
        if (random.chance(0.3)) text.weight = random.magnitude(0.1, 10);
        out.push_back(std::move(text));
    }
    return out;
}

template <class Learner>
void learn_text(Learner& learner, const ScaledText& text) {
    learner.add_labels(text.new_labels);
    learner.learn(text.x, text.relevant, text.unknown, text.weight);
}

template <class T, template <class> class Learner>
std::vector<T> scores_of(const Learner<T>& learner, const RowView& x) {
    typename Learner<T>::Scratch scratch;
    std::vector<T> out(learner.labels());
    learner.score(x, scratch, out.data());
    return out;
}

}  // namespace tagalong::test
