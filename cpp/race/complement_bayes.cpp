#include "race/complement_bayes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/clones.hpp"
#include "core/vector_math.hpp"

namespace tagalong {

namespace {

// The logarithms of normal positive numbers, in place.
TAGALONG_CLONES void take_logs(double* values, std::size_t n) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) values[i] = vector_log(values[i]);
}

}  // namespace

template <class T>
void ComplementBayes<T>::score(const RowView& x, Scratch& scratch, T* out) const {
    find_words(x, scratch);
    if (scratch.words.empty()) {
        std::fill_n(out, labels(), T(0));
        return;
    }
    gather_others(scratch);
    take_logs(scratch.logs.data(), scratch.logs.size());
    // The score of each label as if it had none of the words, and the differences of the labels
    // that have some.
    const double* log = scratch.logs.data();
    scratch.sums.assign(labels(), 0.0);
    double* const sums = scratch.sums.data();
    double mass = 0, common = 0;
    for (const auto& word : scratch.words) {
        const double none = *log++;
        mass += word.x;
        common += word.x * none;
        for (const LabelCount& entry : counts_[word.list])
            sums[entry.label] += word.x * (none - *log++);
    }
    for (std::size_t k = 0; k < labels(); ++k)
        out[k] = static_cast<T>(mass * log[k] - common + sums[k]);
}

// Finds the known words of x. Most of them are not in the cache, so they are requested early.
template <class T>
void ComplementBayes<T>::find_words(const RowView& x, Scratch& scratch) const {
    scratch.words.clear();
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::int32_t row = index_.find(x.feature[i]);
        if (row == FeatureIndex::kAbsent) continue;
        scratch.words.push_back({static_cast<std::size_t>(row), x.value[i]});
        counts_.prefetch_list(scratch.words.back().list);
    }
}

// The arguments of the logarithms: for each word N_j + .1, then N_j - N_jk + .1 for each of its
// labels; at last N - N_k + .1 V for each label.
template <class T>
void ComplementBayes<T>::gather_others(Scratch& scratch) const {
    std::size_t size = scratch.words.size() + labels();
    for (const auto& word : scratch.words) {
        size += counts_[word.list].size();
        counts_.prefetch_entries(word.list);
    }
    scratch.logs.resize(size);
    double* next = scratch.logs.data();
    for (const auto& word : scratch.words) {
        const double total = counts_.sum(word.list);
        *next++ = others_of_word(total, 0);
        for (const LabelCount& entry : counts_[word.list])
            *next++ = others_of_word(total, entry.count);
    }
    for (const double total : label_totals_) *next++ = others_of_label(total);
}

template <class T>
void ComplementBayes<T>::learn(const RowView& x, std::span<const int> relevant,
                               std::span<const int> /*unknown*/, double weight) {
    double mass = 0;
    for (const double value : x.value) mass += weight * std::max(0.0, value);
    const double added = mass * static_cast<double>(relevant.size());
    if (!(added > 0) || !(total_ + added <= kLargest)) return;
    learning_.clear();
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (!(x.value[i] > 0)) continue;
        const std::int32_t row = index_.find(x.feature[i]);
        const std::size_t word =
            row == FeatureIndex::kAbsent ? add_word(x.feature[i]) : static_cast<std::size_t>(row);
        learning_.push_back({word, weight * x.value[i]});
        counts_.prefetch_list(word);
    }
    for (const auto& [list, amount] : learning_) counts_.prefetch_entries(list);
    for (const auto& [list, amount] : learning_)
        for (const int label : relevant) counts_.add(list, label, amount);
    for (const int label : relevant) label_totals_[static_cast<std::size_t>(label)] += mass;
    total_ += added;
}

template <class T>
double ComplementBayes<T>::contributions(const RowView& x, Scratch& /*scratch*/, int label,
                                         std::vector<double>& out) const {
    out.assign(x.size(), 0.0);
    const double expected =
        vector_log(others_of_label(label_totals_[static_cast<std::size_t>(label)]));
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::int32_t row = index_.find(x.feature[i]);
        if (row == FeatureIndex::kAbsent) continue;
        const auto word = static_cast<std::size_t>(row);
        const double others = others_of_word(counts_.sum(word), counts_.find(word, label));
        out[i] = x.value[i] * (expected - vector_log(others));
    }
    return 0;
}

template <class T>
double ComplementBayes<T>::summed_contributions(const RowView& x, Scratch& scratch,
                                                std::vector<double>& out) const {
    out.assign(x.size(), 0.0);
    const std::size_t K = labels();
    // The logarithms for all labels: of the counts of the other labels, and of those with a word.
    scratch.logs.resize(2 * K);
    double *const expected = scratch.logs.data(), *const found = expected + K;
    for (std::size_t k = 0; k < K; ++k) expected[k] = others_of_label(label_totals_[k]);
    take_logs(expected, K);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::int32_t row = index_.find(x.feature[i]);
        if (row == FeatureIndex::kAbsent) continue;
        const auto word = static_cast<std::size_t>(row);
        const double total = counts_.sum(word);
        std::fill_n(found, K, vector_log(others_of_word(total, 0)));
        for (const LabelCount& entry : counts_[word])
            found[entry.label] = vector_log(others_of_word(total, entry.count));
        double sum = 0;
        for (std::size_t k = 0; k < K; ++k) sum += x.value[i] * (expected[k] - found[k]);
        out[i] = sum;
    }
    return 0;
}

template <class T>
void ComplementBayes<T>::rebuild(const Selection& selection) {
    rebuild(selection, [](std::int32_t) { return false; });
}

template <class T>
void ComplementBayes<T>::drop_features(const std::function<bool(std::int32_t)>& dropped) {
    std::vector<std::vector<std::int32_t>> same;
    for (std::size_t k = 0; k < labels(); ++k) same.push_back({static_cast<std::int32_t>(k)});
    rebuild(Selection::of_labels(std::move(same), labels()), dropped);
}

template <class T>
void ComplementBayes<T>::rebuild(const Selection& selection,
                                 const std::function<bool(std::int32_t)>& dropped) {
    ComplementBayes out;
    out.add_labels(selection.labels());
    const std::vector<std::int32_t> targets = selection.targets(labels());
    for (std::size_t word = 0; word < counts_.size(); ++word) {
        if (dropped(words()[word])) continue;
        const auto kept = [&](const LabelCount& entry) { return targets[entry.label] >= 0; };
        if (std::none_of(counts_[word].begin(), counts_[word].end(), kept)) continue;
        const std::size_t added = out.add_word(words()[word]);
        for (const LabelCount& entry : counts_[word])
            if (kept(entry)) out.counts_.add(added, targets[entry.label], entry.count);
    }
    Sums sums = out.sums_of_counts();
    out.label_totals_ = std::move(sums.of_labels);
    out.total_ = sums.total;
    *this = std::move(out);
}

template <class T>
typename ComplementBayes<T>::Sums ComplementBayes<T>::sums() const {
    Sums out{{}, label_totals_, total_};
    for (std::size_t word = 0; word < counts_.size(); ++word)
        out.of_words.push_back(counts_.sum(word));
    return out;
}

// The sums computed from the counts. They differ from the running ones by rounding errors.
template <class T>
typename ComplementBayes<T>::Sums ComplementBayes<T>::sums_of_counts() const {
    Sums out;
    out.of_labels.resize(labels());
    for (std::size_t word = 0; word < counts_.size(); ++word) {
        double& of_word = out.of_words.emplace_back(0.0);
        for (const LabelCount& entry : counts_[word]) {
            of_word += entry.count;
            out.of_labels[static_cast<std::size_t>(entry.label)] += entry.count;
        }
        out.total += of_word;
    }
    return out;
}

template <class T>
std::size_t ComplementBayes<T>::add_word(std::int32_t feature) {
    counts_.add_list();
    return static_cast<std::size_t>(index_.insert(feature));
}

template <class T>
void ComplementBayes<T>::restore_word(std::int32_t feature, std::span<const std::int32_t> labels,
                                      std::span<const double> counts) {
    const std::size_t word = add_word(feature);
    for (std::size_t i = 0; i < labels.size(); ++i) counts_.add(word, labels[i], counts[i]);
}

template <class T>
bool ComplementBayes<T>::restore_sums(Sums sums) {
    constexpr double kRounding = 1e-6;
    const auto agree = [](double a, double b) {
        return a >= 0 && a <= kLargest && std::isfinite(b) && std::abs(a - b) <= kRounding * b;
    };
    const Sums expected = sums_of_counts();
    if (!std::equal(sums.of_words.begin(), sums.of_words.end(), expected.of_words.begin(),
                    expected.of_words.end(), agree) ||
        !std::equal(sums.of_labels.begin(), sums.of_labels.end(), expected.of_labels.begin(),
                    expected.of_labels.end(), agree) ||
        !agree(sums.total, expected.total))
        return false;
    for (std::size_t word = 0; word < counts_.size(); ++word)
        counts_.restore_sum(word, sums.of_words[word]);
    label_totals_ = std::move(sums.of_labels);
    total_ = sums.total;
    return true;
}

template <class T>
std::size_t ComplementBayes<T>::bytes() const {
    return counts_.bytes() + label_totals_.size() * sizeof(double);
}

template class ComplementBayes<float>;
template class ComplementBayes<double>;

}  // namespace tagalong
