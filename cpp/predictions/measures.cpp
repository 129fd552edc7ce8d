#include "predictions/measures.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "core/score_kernels.hpp"

namespace tagalong {

Measures::Measures(std::size_t k, std::size_t window)
    : k_(k), window_(window), discounts_(k + 1, 0.0) {
    for (std::size_t i = 1; i <= k; ++i)
        discounts_[i] = discounts_[i - 1] + 1 / std::log2(static_cast<double>(i) + 1);
}

Measures::Row Measures::recent_sums() const {
    Row sums{};
    for (const Row& row : recent_)
        for (std::size_t i = 0; i < kValues; ++i) sums[i] += row[i];
    return sums;
}

double Measures::macro_f1(const std::vector<PerLabel>& counts) {
    double sum = 0;
    std::int64_t known = 0;
    for (const PerLabel& label : counts) {
        const std::int64_t either = label.chosen + label.relevant;
        known += either > 0;
        if (label.hits > 0) sum += static_cast<double>(label.hits) / static_cast<double>(either);
    }
    return known == 0 ? std::numeric_limits<double>::quiet_NaN()
                      : 2 * sum / static_cast<double>(known);
}

template <class T>
void Measures::observe(std::span<const T> scores, std::span<const std::int32_t> relevant,
                       std::span<const std::int32_t> unknown, double cutoff) {
    while (!scores.empty() && scores.back() == -std::numeric_limits<T>::infinity())
        scores = scores.first(scores.size() - 1);
    row_marks_.clear();
    const std::span<const T> known = load(scores, relevant, unknown, cutoff);
    Row row{};
    const std::size_t R = relevant.size();
    if (R > 0 && R < known.size()) measure_ranking(row, known);
    measure_set(row, R, known.size());
    for (std::size_t i = 0; i < kValues; ++i) totals_[i] += row[i];
    for (const Mark& mark : row_marks_) count(mark, per_label_, 1);
    if (window_ > 0) replace_oldest(row);
}

void Measures::restore(const Row& totals, std::vector<PerLabel> per_label, std::vector<Row> recent,
                       std::vector<std::vector<Mark>> marks, std::size_t next) {
    totals_ = totals;
    per_label_ = std::move(per_label);
    recent_ = std::move(recent);
    marks_ = std::move(marks);
    next_ = next;
    recent_per_label_.clear();
    for (const auto& row : marks_)
        for (const Mark& mark : row) count(mark, recent_per_label_, 1);
}

template <class T>
std::span<const T> Measures::load(std::span<const T> scores, std::span<const std::int32_t> relevant,
                                  std::span<const std::int32_t> unknown, double cutoff) {
    std::size_t labels = scores.size();
    for (const std::int32_t label : relevant) labels = std::max<std::size_t>(labels, label + 1);
    if (per_label_.size() < labels) per_label_.resize(labels);
    if (labels > scores.size() || !unknown.empty()) {
        auto& copy = std::get<std::vector<T>>(copies_);
        copy.assign(scores.begin(), scores.end());
        copy.resize(labels, -std::numeric_limits<T>::infinity());
        scores = copy;
    }
    hits_ = 0;
    relevant_.clear();
    for (const std::int32_t label : relevant) {
        relevant_.push_back(static_cast<double>(scores[label]));
        const bool hit = relevant_.back() >= cutoff;
        hits_ += hit;
        row_marks_.push_back({label, hit, true});
    }
    std::sort(relevant_.begin(), relevant_.end(), std::greater<>());
    if (!unknown.empty()) scores = remove_unknown<T>(unknown, cutoff);
    else choose(scores, cutoff);
    return scores;
}

template <class T>
void Measures::choose(std::span<const T> scores, double cutoff) {
    constexpr T lowest = -std::numeric_limits<T>::infinity();
    chosen_ = 0;
    // The largest number of type T below the cut-off: score > below means score >= cutoff.
    T below = static_cast<T>(cutoff);
    if (static_cast<double>(below) >= cutoff) below = std::nextafter(below, lowest);
    const bool all = cutoff == -std::numeric_limits<double>::infinity();  // no number is below it
    const auto next = [&](std::size_t from) {
        return all ? from : kernels::first_above(scores.data(), below, from, scores.size());
    };
    for (std::size_t label = next(0); label < scores.size(); label = next(label + 1))
        add_chosen(label);
}

template <class T>
std::span<const T> Measures::remove_unknown(std::span<const std::int32_t> unknown, double cutoff) {
    unknown_.assign(unknown.begin(), unknown.end());
    std::sort(unknown_.begin(), unknown_.end());
    auto& copy = std::get<std::vector<T>>(copies_);
    chosen_ = 0;
    std::size_t kept = 0;
    auto skip = unknown_.begin();
    for (std::size_t label = 0; label < copy.size(); ++label) {
        if (skip != unknown_.end() && static_cast<std::size_t>(*skip) == label) {
            ++skip;
            continue;
        }
        if (static_cast<double>(copy[label]) >= cutoff) add_chosen(label);
        copy[kept++] = copy[label];
    }
    return std::span<const T>(copy).first(kept);
}

template <class T>
void Measures::measure_ranking(Row& row, std::span<const T> known) {
    const std::size_t K = known.size(), R = relevant_.size();
    double misplaced = 0, precision = 0, first_places = 0, gain = 0, top = 0;
    // Relevant labels by descending score; those from i to before `last` have equal scores.
    for (std::size_t i = 0, last = 0; i < R; i = last) {
        const auto score = static_cast<T>(relevant_[i]);
        while (last < R && relevant_[last] == relevant_[i]) ++last;
        const auto equal_relevant = static_cast<double>(last - i);
        const auto counts = kernels::count_bound(known.data(), score, K);
        const double from = counts.at_least, above = counts.above;
        const double tied = from - above;
        misplaced += equal_relevant * (from - static_cast<double>(last));
        precision += equal_relevant * static_cast<double>(last) / from;
        first_places += equal_relevant * static_cast<double>(place(from) - place(above)) / tied;
        gain += equal_relevant * (discounts_[place(from)] - discounts_[place(above)]) / tied;
        if (above == 0) top = equal_relevant / tied;
        row[coverage] = from;  // after the loop: of the lowest relevant label
    }
    const auto count = static_cast<double>(R);
    row[ranked] = 1;
    row[any_mistake] = misplaced > 0;
    row[one_error] = 1 - top;
    row[ranking_loss] = misplaced / (count * (static_cast<double>(K) - count));
    row[average_precision] = precision / count;
    row[precision_at_k] = first_places / static_cast<double>(k_);
    row[ndcg_at_k] = gain / discounts_[std::min(R, k_)];
}

template void Measures::observe(std::span<const float>, std::span<const std::int32_t>,
                                std::span<const std::int32_t>, double);
template void Measures::observe(std::span<const double>, std::span<const std::int32_t>,
                                std::span<const std::int32_t>, double);

}  // namespace tagalong
