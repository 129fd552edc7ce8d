#include "grades/grade_ranker.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace tagalong {

template <class T>
void GradeRanker<T>::add_labels(std::size_t count) {
    if (count == 0) return;
    if (rounds() > 0) throw InputError("grades must be declared before the first example");
    if (grades_ + count > kMostGrades)
        throw InputError("there can be at most " + std::to_string(kMostGrades) + " grades, got " +
                         std::to_string(grades_ + count));
    grades_ += count;
}

template <class T>
void GradeRanker<T>::finish(Example& x) const {
    x.finish(Norm::none, 1);
    if (x.feature.back() > std::numeric_limits<std::int32_t>::max() - kFirstFeature)
        throw InputError("feature " + std::to_string(x.feature.back()) + " is above the limit of " +
                         std::to_string(std::numeric_limits<std::int32_t>::max() - kFirstFeature));
}

template <class T>
void GradeRanker<T>::scale(Reader& reader) const {
    if (config_.scaled) return scaling_.scale(reader.x, reader.scaled);
    reader.scaled.clear();
    for (std::size_t i = 0; i < reader.x.size(); ++i)
        if (reader.x.feature[i] != kConstantFeature)
            reader.scaled.add(reader.x.feature[i], reader.x.value[i]);
}

template <class T>
double GradeRanker<T>::latent(const Reader& reader) const {
    double sum = 0;
    for (std::size_t i = 0; i < reader.scaled.size(); ++i)
        sum += feature_weight(reader.scaled.feature[i]) * reader.scaled.value[i];
    return sum;
}

template <class T>
void GradeRanker<T>::thresholds(std::vector<double>& out) const {
    out.clear();
    for (std::size_t j = 0; j + 1 < grades_; ++j)
        out.push_back(block_.feature_weight(static_cast<std::int32_t>(j)));
}

template <class T>
std::span<const T> GradeRanker<T>::score(Reader& reader) const {
    scale(reader);
    const double value = latent(reader);
    thresholds(reader.thresholds);
    std::sort(reader.thresholds.begin(), reader.thresholds.end());
    reader.scores.assign(grades_, T(0));
    for (std::size_t grade = 0; grade < grades_; ++grade) {
        double nearest = std::numeric_limits<double>::infinity();
        if (grade > 0) nearest = value - reader.thresholds[grade - 1];
        if (grade + 1 < grades_) nearest = std::min(nearest, reader.thresholds[grade] - value);
        if (grades_ > 1) reader.scores[grade] = static_cast<T>(nearest);
    }
    return reader.scores;
}

template <class T>
std::span<const std::int32_t> GradeRanker<T>::rank(Reader& reader, std::size_t k) const {
    best_labels(score(reader), k, reader.best);
    return reader.best;
}

// The number of features of an example with weights, without the constant feature.
template <class T>
static std::int32_t known_features(const GradeRanker<T>& ranker, const Example& x) {
    std::int32_t count = 0;
    for (const std::int32_t feature : x.feature)
        count += feature != kConstantFeature &&
                 ranker.block().feature_weight(GradeRanker<T>::kFirstFeature + feature) != 0;
    return count;
}

template <class T>
void GradeRanker<T>::judge(Reader& reader, std::size_t k, const TieOrder& ties,
                           Judgement& out) const {
    const std::span<const T> scores = score(reader);
    confidence_.judge<T>({scores, cutoff(), known_features(*this, reader.x)}, k, ties, out);
}

template <class T>
void GradeRanker<T>::contributions(Reader& reader, int grade, std::vector<double>& out) const {
    score(reader);
    const double value = latent(reader);
    const auto& thresholds = reader.thresholds;
    const auto at = static_cast<std::size_t>(grade);
    // The nearer threshold of the grade: the lower one, or else the upper one with opposite signs.
    const bool is_lower =
        at > 0 && (at + 1 == grades_ || value - thresholds[at - 1] <= thresholds[at] - value);
    const double sign = is_lower ? 1 : -1;
    out.assign(reader.x.size(), 0.0);
    if (grades_ < 2) return;
    double others = -thresholds[is_lower ? at - 1 : at];
    std::size_t i = 0;
    for (std::size_t s = 0; s < reader.scaled.size(); ++s) {
        const std::int32_t feature = reader.scaled.feature[s];
        const double part = feature_weight(feature) * reader.scaled.value[s];
        while (i < reader.x.size() && reader.x.feature[i] < feature) ++i;
        if (i < reader.x.size() && reader.x.feature[i] == feature) out[i] = sign * part;
        else others += part;
    }
    out[0] = sign * others;  // the constant feature
}

template <class T>
void GradeRanker<T>::learn(Example& x, std::span<const std::int32_t> relevant,
                           std::span<const std::int32_t> unknown, double weight,
                           const RoundOptions<T>& options) {
    if (relevant.size() != 1 || !unknown.empty())
        throw InputError("an example must have exactly one grade");
    if (relevant[0] < 0 || static_cast<std::size_t>(relevant[0]) >= grades_)
        throw InputError("there is no grade number " + std::to_string(relevant[0]));
    std::swap(scratch_.x, x);
    const std::span<const T> predicted = score(scratch_);
    if (options.scores) std::copy(predicted.begin(), predicted.end(), options.scores);
    if (weight > 0) {
        if (options.stands_for > 0) {
            const double cutoff_before = cutoff();
            const int grade = relevant[0];
            const std::span<const int> right(&grade, 1);
            cutoff_.observe(predicted, right, std::span<const int>());
            confidence_.observe<T>({predicted, cutoff_before, known_features(*this, scratch_.x)},
                                   right, std::span<const int>(), options.stands_for,
                                   options.judgement);
        }
        rows_.clear();
        for (std::size_t j = 0; j + 1 < grades_; ++j) {
            const double sign = static_cast<std::int32_t>(j) < relevant[0] ? 1 : -1;
            rows_.add(static_cast<std::int32_t>(j), -sign);
            for (std::size_t i = 0; i < scratch_.scaled.size(); ++i)
                rows_.add(kFirstFeature + scratch_.scaled.feature[i],
                          sign * scratch_.scaled.value[i]);
            rows_.end_row();
        }
        block_.learn(rows_, {}, {}, weight);
        if (config_.scaled) scaling_.observe(scratch_.x);
    }
    std::swap(scratch_.x, x);
}

template <class T>
std::size_t GradeRanker<T>::rows() const {
    std::size_t count = 0;
    for (const std::int32_t feature : block_.features()) count += feature >= kFirstFeature;
    return count;
}

template <class T>
void GradeRanker<T>::rebuild(const Selection& selection) {
    if (selection.keeps_all_rows()) throw InputError("grades cannot be forgotten or merged");
    std::vector<char> kept;
    std::size_t row = 0;
    for (const std::int32_t feature : block_.features())
        kept.push_back(feature < kFirstFeature || selection.keeps(row++));
    const std::size_t rows = kept.size();
    block_.select(Selection::of_rows(std::move(kept), rows, 1));
    restart_certificate();
}

template class GradeRanker<float>;
template class GradeRanker<double>;

}  // namespace tagalong
