#include "predtron/predtron.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/errors.hpp"
#include "core/score_kernels.hpp"

namespace tagalong {
namespace {

// sum_i direction_i x_i over the documents of a query.
void sum_rows(std::span<const Example> documents, std::span<const double> direction, Example& sum) {
    sum.clear();
    FeatureIndex index;
    for (std::size_t i = 0; i < documents.size(); ++i) {
        const Example& document = documents[i];
        for (std::size_t j = 0; direction[i] != 0 && j < document.size(); ++j) {
            const double part = direction[i] * document.value[j];
            const std::int32_t at = index.find(document.feature[j]);
            if (at != FeatureIndex::kAbsent) {
                sum.value[static_cast<std::size_t>(at)] += part;
                continue;
            }
            index.insert(document.feature[j]);
            sum.add(document.feature[j], part);
        }
    }
    sum.merge();
}

}  // namespace

template <class T>
typename Predtron<T>::Geometry Predtron<T>::make_geometry(const PredtronConfig& config) {
    if (config.norm == PredtronNorm::kernel)
        return KernelGeometry(config.kernel, config.budget, config.average);
    if (config.norm == PredtronNorm::l1 || config.norm == PredtronNorm::group)
        // With a single weight vector, each group has one entry, so both forms are equal.
        return LinkGeometry<T>(config.norm == PredtronNorm::l1 && !config.queries, config.average);
    return LinearGeometry<T>(0, config.average);
}

template <class T>
Predtron<T>::Predtron(const PredtronConfig& config)
    : config_(config),
      rule_(config.problem),
      geometry_(make_geometry(config)),
      confidence_(rule_.single_class() ? OneLabel::yes : OneLabel::noticed) {
    if (config.queries) add_dimensions(1);
    if (config.dimension > 0) add_dimensions(config.dimension);
}

template <class T>
void Predtron<T>::add_dimensions(std::size_t count) {
    std::visit([&](auto& geometry) { geometry.add_labels(count); }, geometry_);
}

template <class T>
std::size_t Predtron<T>::scores_per_row() const {
    if (const auto* kernel = std::get_if<KernelGeometry>(&geometry_)) return kernel->labels();
    return store()->labels();
}

template <class T>
void Predtron<T>::add_labels(std::size_t count) {
    if (count == 0) return;
    if (config_.problem.kind == ProblemKind::binary && labels_ + count > 2)
        throw InputError("a binary problem has two classes, not " +
                         std::to_string(labels_ + count));
    if (single_score()) {
        if (labels_ == 0) add_dimensions(1);
    } else {
        add_dimensions(count);
    }
    labels_ += count;
}

template <class T>
const WeightStore<T>* Predtron<T>::store() const {
    if (const auto* linear = std::get_if<LinearGeometry<T>>(&geometry_)) return &linear->store();
    if (const auto* link = std::get_if<LinkGeometry<T>>(&geometry_)) return &link->store();
    return nullptr;
}

template <class T>
std::size_t Predtron<T>::bytes() const {
    if (const auto* kernel = std::get_if<KernelGeometry>(&geometry_)) return kernel->bytes();
    return store()->bytes();
}

template <class T>
void Predtron<T>::finish(Example& x) const {
    Norm norm = Norm::none;
    if (config_.normalize)
        norm = std::holds_alternative<LinkGeometry<T>>(geometry_) ? Norm::largest : Norm::euclidean;
    x.finish(norm, config_.constant);
}

template <class T>
double Predtron<T>::norm_of(const Example& x) const {
    if (const auto* kernel = std::get_if<KernelGeometry>(&geometry_)) return kernel->norm(x);
    if (!std::holds_alternative<LinkGeometry<T>>(geometry_)) return euclidean_length(x.value);
    double largest = 0;
    for (const double value : x.value) largest = std::max(largest, std::abs(value));
    return largest;
}

template <class T>
double Predtron<T>::cutoff() const {
    if (config_.problem.kind == ProblemKind::multilabel)
        return std::numeric_limits<T>::denorm_min();
    return cutoff_.value();
}

template <class T>
double Predtron<T>::mean_factor() const {
    return config_.average && counts_.rounds > 0 ? 1 / static_cast<double>(counts_.rounds) : 0;
}

template <class T>
double Predtron<T>::weight(std::int32_t row, int label) const {
    // If two classes share one score, the weights of the first are the negative of the second's.
    const bool opposite = single_score() && label == 0;
    const int at = single_score() ? 0 : label;
    double found = 0;
    if (const auto* linear = std::get_if<LinearGeometry<T>>(&geometry_))
        found = linear->weight(row, at, mean_factor());
    else if (const auto* link = std::get_if<LinkGeometry<T>>(&geometry_))
        found = link->weight(row, at, mean_factor());
    return opposite ? -found : found;
}

template <class T>
void Predtron<T>::score_rows(const Example& x, bool means, RowLookup<T>& at) const {
    if (const auto* linear = std::get_if<LinearGeometry<T>>(&geometry_))
        linear->score(x, means, at);
    else if (const auto* link = std::get_if<LinkGeometry<T>>(&geometry_)) link->score(x, means, at);
    else std::get<KernelGeometry>(geometry_).score(x, means, at);
}

// A kernel compares all features of an example.
template <class T>
std::int32_t Predtron<T>::known(const Example& x, const RowLookup<T>& at) const {
    return store() ? at.known(x) : static_cast<std::int32_t>(x.size());
}

template <class T>
void Predtron<T>::judge(Reader& reader, std::size_t k, const TieOrder& ties, Judgement& out) const {
    const std::span<const T> scores = score(reader);
    confidence_.judge<T>({scores, cutoff(), known(reader.x, reader.at)}, k, ties, out);
}

template <class T>
void Predtron<T>::apply_averaging(RowLookup<T>& at) const {
    const auto factor = static_cast<T>(mean_factor());
    if (factor == 0) return;
    kernels::minus_scaled(at.sums.data(), at.mean_sums.data(), factor, at.sums.data(),
                          at.sums.size());
}

template <class T>
std::span<const T> Predtron<T>::label_scores(std::span<const T> raw, std::vector<T>& out) const {
    if (!single_score()) return raw;
    out.clear();
    for (std::size_t label = 0; label < labels_; ++label)
        out.push_back(label == 0 ? -raw[0] : raw[0]);
    return out;
}

template <class T>
std::span<const T> Predtron<T>::raw_score(Reader& reader, bool predicting) const {
    score_rows(reader.x, predicting && config_.average, reader.at);
    if (predicting) apply_averaging(reader.at);
    return {reader.at.sums.data(), scores_per_row()};
}

template <class T>
std::span<const T> Predtron<T>::score(Reader& reader) const {
    return label_scores(raw_score(reader, true), reader.labels);
}

template <class T>
std::span<const std::int32_t> Predtron<T>::rank(Reader& reader, std::size_t k) const {
    best_labels(score(reader), k, reader.best);
    return reader.best;
}

template <class T>
void Predtron<T>::contributions(Reader& reader, int label, std::vector<double>& out) const {
    if (store() == nullptr)
        throw InputError(
            "explaining a score needs a learner without a kernel: the score of a kernel is not a "
            "sum over features");
    reader.at.find(*store(), reader.x);
    out.clear();
    for (std::size_t i = 0; i < reader.x.size(); ++i)
        out.push_back(reader.x.value[i] * weight(reader.at.row[i], label));
}

template <class T>
void Predtron<T>::set_dimension(double p) {
    counts_.dimension = p;
    if (auto* link = std::get_if<LinkGeometry<T>>(&geometry_)) link->set_dimension(p);
}

template <class T>
double Predtron<T>::link_factor() const {
    if (!has_link() || counts_.dimension <= 0) return 1;
    const double s = std::max(2.0, std::log(counts_.dimension));
    return std::pow(counts_.dimension, 2 / s) * (s - 1);
}

template <class T>
bool Predtron<T>::has_link() const {
    return std::holds_alternative<LinkGeometry<T>>(geometry_) ||
           config_.norm == PredtronNorm::trace;
}

// Sets the dimension p of the link at the first round with a loss. For l1 every label has separate
// entries; otherwise p counts the features and the constant feature.
template <class T>
void Predtron<T>::set_link_dimension() {
    if (counts_.dimension != 0 || !has_link()) return;
    const double features = static_cast<double>(config_.n_features) + (config_.constant != 0);
    const double scores = static_cast<double>(scores_per_row());
    if (config_.norm == PredtronNorm::trace)
        set_dimension(std::max(1.0, std::min(features, scores)));
    else set_dimension(features * (config_.norm == PredtronNorm::l1 ? scores : 1.0));
}

// The configured step, or the step of the theory.
template <class T>
double Predtron<T>::step_size() const {
    const PredtronCounts& c = counts_;
    double step = config_.step;
    if (step == 0)
        step = config_.by_loss ? 1.0 : c.least_loss / (4 * link_factor() * c.radius * c.radius);
    // For very short rows the step of the theory would overflow.
    constexpr double largest_step = sizeof(T) == 4 ? 1e30 : 1e150;
    return std::min(step, largest_step / std::max(c.radius, 1.0));
}

template <class T>
double Predtron<T>::count(double norm, double loss, double weight, std::size_t size) {
    counts_.count_round(weight, norm);
    if (!(loss > 0)) return 0;
    set_link_dimension();
    counts_.loss += weight * loss;
    counts_.least_loss = rule_.least_loss(size, counts_.top_grade);
    const double step = step_size();
    counts_.count_mistake(step);
    return step * weight * (config_.by_loss ? loss : 1.0);
}

template <class T>
void Predtron<T>::rebuild(const Selection& selection) {
    const bool changes_labels = selection.keeps_all_rows();
    if (changes_labels && width() != labels_)
        throw InputError("labels that share one score cannot be merged or forgotten");
    if (auto* linear = std::get_if<LinearGeometry<T>>(&geometry_))
        geometry_ = linear->rebuilt(selection);
    else if (auto* link = std::get_if<LinkGeometry<T>>(&geometry_))
        geometry_ = link->rebuilt(selection, static_cast<double>(counts_.rounds));
    else
        throw InputError(
            "with a kernel, labels cannot be merged or forgotten, nor features pruned");
    if (changes_labels) {
        confidence_.select(selection, labels_);
        labels_ = selection.labels();
    }
    restart_certificate();
}

template <class T>
void Predtron<T>::restart_certificate() {
    const PredtronCounts before = counts_;
    counts_ = {};
    counts_.rounds = counts_.earlier = before.rounds;
    counts_.radius = before.radius;
    counts_.top_grade = before.top_grade;
    counts_.dimension = before.dimension;
}

template <class T>
void Predtron<T>::observe(std::span<const T> predicted, std::span<const std::int32_t> relevant,
                          std::span<const std::int32_t> unknown) {
    cutoff_.observe(predicted, relevant, unknown);
    calibration_.observe(predicted, relevant, unknown);
}

// `item` has the scores of the labels that existed before the round, `predicted` those of all.
template <class T>
void Predtron<T>::observe_labels(const ScoredItem<T>& item, std::span<const T> predicted,
                                 std::span<const std::int32_t> relevant,
                                 std::span<const std::int32_t> unknown,
                                 const RoundOptions<T>& options) {
    // The reject option compares costs at the scores of the present weights: it is calibrated in
    // every pass.
    calibration_.observe(predicted, relevant, unknown);
    if (!(options.stands_for > 0)) return;
    cutoff_.observe(predicted, relevant, unknown);
    confidence_.observe(item, relevant, unknown, options.stands_for, options.judgement);
}

// Applies step_ along the rows found in at_.
template <class T>
void Predtron<T>::apply(const Example& x) {
    if (step_.empty() || x.size() == 0) return;
    const auto rounds_before = static_cast<double>(counts_.rounds - 1);
    if (auto* linear = std::get_if<LinearGeometry<T>>(&geometry_))
        linear->apply(x, step_, rounds_before, at_);
    else if (auto* link = std::get_if<LinkGeometry<T>>(&geometry_))
        link->apply(x, step_, rounds_before, at_);
    else std::get<KernelGeometry>(geometry_).apply(x, step_, rounds_before);
}

// Sorts the given labels, and adds new ones.
template <class T>
void Predtron<T>::set_answer(std::span<const std::int32_t> relevant,
                             std::span<const std::int32_t> unknown) {
    relevant_.assign(relevant.begin(), relevant.end());
    unknown_.assign(unknown.begin(), unknown.end());
    std::sort(relevant_.begin(), relevant_.end());
    std::sort(unknown_.begin(), unknown_.end());
    const int last = std::max(relevant_.empty() ? -1 : relevant_.back(),
                              unknown_.empty() ? -1 : unknown_.back());
    if (last >= static_cast<int>(labels()))
        add_labels(static_cast<std::size_t>(last) + 1 - labels());
}

template <class T>
void Predtron<T>::learn(Example& x, std::span<const std::int32_t> relevant,
                        std::span<const std::int32_t> unknown, double weight,
                        const RoundOptions<T>& options) {
    if (relevant.size() > 1 && rule_.single_class())
        throw InputError("this problem has one class per row, not " +
                         std::to_string(relevant.size()));
    const std::size_t labels_before = labels();
    set_answer(relevant, unknown);

    score_rows(x, config_.average, at_);
    const std::size_t d = scores_per_row();
    scores_.resize(d);
    kernels::to_finite_doubles(at_.sums.data(), scores_.data(), d);
    apply_averaging(at_);
    const auto predicted = label_scores({at_.sums.data(), d}, predicted_scores_);
    if (options.scores) {
        std::copy(predicted.begin(), predicted.end(), options.scores);
        std::fill(options.scores + labels_before, options.scores + labels(),
                  -std::numeric_limits<T>::infinity());
    }
    if (!(weight > 0)) return;
    observe_labels({predicted.first(labels_before), cutoff(), known(x, at_)}, predicted, relevant_,
                   unknown_, options);
    step_.clear(d);
    const double loss = rule_.judge(scores_, relevant_, unknown_, config_.by_loss, step_);
    const double step = count(norm_of(x), loss, weight, labels());
    for (const int label : step_.touched) step_.alpha[label] *= step;
    apply(x);
}

template <class T>
void Predtron<T>::move(const Example& x, std::span<const double> direction) {
    step_.clear(direction.size());
    for (std::size_t k = 0; k < direction.size(); ++k) step_.set(static_cast<int>(k), direction[k]);
    if (store()) at_.find(*store(), x);
    apply(x);
}

template <class T>
void Predtron<T>::score_documents(std::span<const Example> documents, bool predicting,
                                  std::vector<T>& out) const {
    RowLookup<T> at;
    out.clear();
    for (const Example& document : documents) {
        score_rows(document, predicting && config_.average, at);
        if (predicting) apply_averaging(at);
        out.push_back(at.sums[0]);
    }
}

template <class T>
void Predtron<T>::update_top_grade(std::span<const double> grades) {
    for (const double grade : grades) counts_.top_grade = std::max(counts_.top_grade, grade);
}

template <class T>
double Predtron<T>::learn_query(std::span<const Example> documents, std::span<const double> grades,
                                double norm, double weight, T* scores) {
    score_documents(documents, false, current_scores_);
    if (scores) {
        if (config_.average) score_documents(documents, true, predicted_scores_);
        const std::vector<T>& predicted = config_.average ? predicted_scores_ : current_scores_;
        std::copy(predicted.begin(), predicted.end(), scores);
    }
    if (!(weight > 0)) return 0;
    scores_.resize(documents.size());
    kernels::to_finite_doubles(current_scores_.data(), scores_.data(), scores_.size());
    update_top_grade(grades);
    step_.clear(documents.size());
    const double loss = rule_.judge_grades(scores_, grades, config_.by_loss, step_);
    const double step = count(norm, loss, weight, documents.size());
    std::vector<double> direction(documents.size(), 0.0);
    for (const int i : step_.touched) direction[i] = step_.alpha[i];
    move_query(documents, direction, step);
    return loss;
}

template <class T>
void Predtron<T>::learn_judged_query(std::span<const Example> documents,
                                     std::span<const double> grades, double loss,
                                     std::span<const double> direction, double norm,
                                     double weight) {
    update_top_grade(grades);
    move_query(documents, direction, count(norm, loss, weight, documents.size()));
}

template <class T>
void Predtron<T>::move_query(std::span<const Example> documents, std::span<const double> direction,
                             double step) {
    if (step == 0) return;
    sum_rows(documents, direction, sum_);
    move(sum_, std::span(&step, 1));
}

template class Predtron<float>;
template class Predtron<double>;

}  // namespace tagalong
