// The geometries in which the weights are the dual vectors, rescaled: Euclidean and adaptive.
//
//     F(w) = 1/2 sum_j sqrt(S_j) |w_j|^2,   G(theta) = 1/2 sum_j |theta_j|^2 / sqrt(S_j),
//     w_j = theta_j / sqrt(S_j),            S_j = 1 + rate * sum of x_j^2 over its updates.
// Rate 0 is the Euclidean geometry. A round's scores and |x|^2 use S as it was before the
// round; S grows after the step. As S only grows, G falls when it does, and the dual value with
// today's S stays a lower bound of the problem with today's S.
//
// With `averaged`, a second plane makes the mean of theta over the rounds available: after T
// rounds it is theta - u/T, where u collects (rounds before the update) * alpha x.
#pragma once

#include <cmath>
#include <vector>

#include "core/kernels.hpp"
#include "geometry/row_lookup.hpp"
#include "rules/step.hpp"
#include "core/score_kernels.hpp"

namespace tagalong {

template <class T>
class LinearGeometry {
  public:
    LinearGeometry(double rate, bool averaged, Steps steps = Steps::any)
        : store_(averaged ? 2 : 1, steps), rate_(rate) {}

    // Per feature row, beside its weights.
    struct Row {
        double S = 1;
        double norm2 = 0;  // |theta_j|^2, kept where S grows
        double base2 = 0;  // the same when the certificate was restarted
    };

    const WeightStore<T>& store() const { return store_; }
    Row row_state(std::size_t row) const {
        Row found = rows_[row];
        if (rate_ == 0) found.norm2 = sum_of_squares(row);
        return found;
    }
    double scale(std::int32_t row) const { return rate_ > 0 ? scales_[static_cast<std::size_t>(row)] : 1.0; }
    double complexity() const { return complexity_; }  // G(theta) - G(theta at the restart)
    void add_labels(std::size_t count) { store_.add_labels(count); }

    // To be called by the writer: rows that lag behind in columns are slower to score.
    void catch_up(const RowView& x) {
        if (!store_.sharing()) return;
        for (const std::int32_t feature : x.feature)
            if (const std::int32_t row = store_.find(feature); row != FeatureIndex::kAbsent) store_.catch_up(row);
    }

    // Finds the rows and scores the example: with theta, and with u if `means`.
    void score(const RowView& x, bool means, RowLookup<T>& at) const {
        if (!store_.all_whole()) {
            at.find(store_, x);
            score_mixed(x, 0, at, at.sums);
            if (means) score_mixed(x, 1, at, at.mean_sums);
            return;
        }
        const std::size_t count = point_at_rows(x, at);
        score_whole(count, at, at.sums);
        if (!means) return;
        for (std::size_t i = 0; i < count; ++i) at.rows[i] += store_.stride();
        score_whole(count, at, at.mean_sums);
    }

    double squared_norm(const RowView& x, const RowLookup<T>& at) const {
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double factor = at.row[i] == FeatureIndex::kAbsent ? 1.0 : scale(at.row[i]);
            sum += x.value[i] * x.value[i] * factor;
        }
        return sum;
    }

    // What the step is about to add to G, from the scores in `at`: as long as S stays as it is, the
    // rows need not be looked at for it. Where S grows, apply() sees to it.
    void account(const Step& step, double q, const RowLookup<T>& at) {
        if (rate_ > 0) return;
        double along = 0, squares = 0;
        for (const int label : step.touched) {
            const double alpha = step.alpha[label];
            along += alpha * kernels::widened(at.sums[static_cast<std::size_t>(label)]);
            squares += alpha * alpha;
        }
        complexity_ += along + 0.5 * q * squares;
    }

    // theta += alpha (x) x, the means with it, then S.
    void apply(const RowView& x, const Step& label_step, double rounds_before, RowLookup<T>& at) {
        const Step& step = store_.sharing() ? in_columns(label_step) : label_step;
        // A step on few labels touches single numbers; a step on many, whole rows: a number takes
        // about as many instructions as sixteen that lie together.
        const bool whole_rows = step.touched.size() * 16 > store_.width();
        load(step, whole_rows, rounds_before);
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (at.row[i] == FeatureIndex::kAbsent) {
                at.row[i] = store_.insert(x.feature[i]);
                keep_row({});
            }
            if (store_.sharing()) store_.catch_up(at.row[i]);
        }
        const auto move = [&](auto&& one) {
            for (std::size_t i = 0; i < x.size(); ++i) {
                if (whole_rows && i + 1 < x.size()) fetch(at.row[i + 1]);
                one(at.row[i], x.value[i]);
            }
        };
        if (rate_ > 0) move([&](std::int32_t row, double value) { move_and_grow(row, value, whole_rows); });
        else if (whole_rows) move([&](std::int32_t row, double value) { add_row<false>(row, static_cast<T>(value)); });
        else move([&](std::int32_t row, double value) { add_numbers<false>(row, static_cast<T>(value)); });
    }

    // With a share of the means subtracted; zero for a feature without a row.
    double weight(std::int32_t row, int label, double mean_factor) const {
        if (row == FeatureIndex::kAbsent) return 0;
        const double means = mean_factor != 0 ? mean_factor * static_cast<double>(store_.value(row, 1, label)) : 0;
        return (static_cast<double>(store_.value(row, 0, label)) - means) * scale(row);
    }

    // G from the stored theta, to check the running value against.
    double recompute_complexity() const {
        double sum = 0;
        for (std::size_t r = 0; r < rows_.size(); ++r)
            sum += 0.5 * (sum_of_squares(r) - rows_[r].base2) / std::sqrt(rows_[r].S);
        return sum;
    }

    // From now on the dual problem is centred on the present weights: its F is
    // 1/2 sum_j sqrt(S_j) |w_j - theta0_j / sqrt(S_j)|^2.
    void restart() {
        for (std::size_t r = 0; r < rows_.size(); ++r) rows_[r].base2 = row_state(r).norm2;
        complexity_ = 0;
    }

    // For loading a saved model: which labels share their weights, before the first row; then
    // a row as it was, with its numbers or with a place for them.
    bool restore_columns(std::span<const std::int32_t> columns) { return store_.restore_columns(columns); }
    void restore_row(std::int32_t feature, const Row& row, const T* theta, const T* means) {
        const std::int32_t number = store_.insert(feature);
        keep_row(row);
        store_.write_columns(number, 0, theta);
        if (means) store_.write_columns(number, 1, means);
    }
    T* restore_row(std::int32_t feature, const Row& row) {
        const std::int32_t number = store_.insert(feature);
        keep_row(row);
        return store_.row(number);
    }
    void restore_complexity(double value) { complexity_ = value; }

  private:
    void keep_row(const Row& row) {
        rows_.push_back(row);
        if (rate_ > 0) scales_.push_back(1 / std::sqrt(row.S));
    }

    // Finds the rows there are and what they are multiplied by; how many.
    std::size_t point_at_rows(const RowView& x, RowLookup<T>& at) const {
        at.row.resize(x.size());
        at.multiplier.resize(x.size());
        at.rows.resize(x.size());
        const bool scaled = rate_ > 0;
        std::int32_t* const found = at.row.data();
        T* const multiplier = at.multiplier.data();
        const T** const rows = at.rows.data();
        std::size_t count = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const std::int32_t row = found[i] = store_.find(x.feature[i]);
            if (row == FeatureIndex::kAbsent) continue;
            multiplier[count] = static_cast<T>(scaled ? x.value[i] * scales_[static_cast<std::size_t>(row)] : x.value[i]);
            rows[count] = store_.row(row);
            // The first group of rows has nobody before it that could ask for them (see kernels::score_rows).
            for (std::size_t line = 0; count < 8 && line < 4; ++line)
                __builtin_prefetch(rows[count] + line * kLine<T>);
            ++count;
        }
        at.reach.clear();
        if (!store_.sharing()) return count;
        for (const std::int32_t row : at.row)
            if (row != FeatureIndex::kAbsent) at.reach.push_back(store_.reach(row));
        return count;
    }

    double sum_of_squares(std::size_t row) const {
        std::vector<T> theta(store_.labels());
        store_.read(static_cast<std::int32_t>(row), 0, theta.data());
        double sum = 0;
        for (const T number : theta) sum += static_cast<double>(number) * static_cast<double>(number);
        return sum;
    }

    // One plane of the rows that were found.
    void score_whole(std::size_t count, RowLookup<T>& at, AlignedVector<T>& sums) const {
        const std::size_t n = store_.used();
        if (!store_.sharing()) {
            sums.resize(n);
            kernels::score_rows(sums.data(), at.rows.data(), at.multiplier.data(), count, n);
            return;
        }
        at.columns.assign(n, T(0));
        for (std::size_t i = 0; i < count;) {
            // Rows with all columns together, one that lacks some by itself: the order stays.
            std::size_t next = i;
            while (next < count && at.reach[next] == store_.width()) ++next;
            const bool lacking = next == i;
            next += lacking;
            kernels::add_rows(at.columns.data(), at.rows.data() + i, at.multiplier.data() + i, next - i, n);
            const T rest = at.multiplier[i] * at.rows[i][LabelColumns::kShared];
            for (std::size_t k = at.reach[i]; lacking && k < store_.width(); ++k) at.columns[k] += rest;
            i = next;
        }
        sums.resize(padded<T>(store_.labels()));
        const auto& of_label = store_.columns().of_labels();
        for (std::size_t label = 0; label < of_label.size(); ++label)
            sums[label] = at.columns[static_cast<std::size_t>(of_label[label])];
    }

    // The step of each column; labels that share one and are to be treated otherwise leave it.
    const Step& in_columns(const Step& step) {
        const auto& of_label = store_.columns().of_labels();
        const double common = common_step(step);
        for (std::size_t label = 0; label < of_label.size(); ++label)
            if (of_label[label] == LabelColumns::kShared && step.alpha[label] != common) store_.separate(label);
        column_step_.clear(store_.width());
        if (store_.columns().sharers() > 0) column_step_.set(LabelColumns::kShared, common);
        for (const int label : step.touched)
            if (const std::int32_t column = of_label[static_cast<std::size_t>(label)]; column != LabelColumns::kShared)
                column_step_.set(column, step.alpha[label]);
        return column_step_;
    }

    // Of the labels that share a column those that are irrelevant go down alike, as their scores are equal,
    // those of unknown relevance stay, and one that is relevant goes up: what most of them do.
    double common_step(const Step& step) const {
        const auto& of_label = store_.columns().of_labels();
        double lowest = 0;
        std::size_t down = 0, still = 0;
        for (std::size_t label = 0; label < of_label.size(); ++label) {
            if (of_label[label] != LabelColumns::kShared) continue;
            lowest = std::min(lowest, step.alpha[label]);
            down += step.alpha[label] < 0;
            still += step.alpha[label] == 0;
        }
        return down > still ? lowest : 0.0;
    }

    // One plane, row by row in the order of the features: runs of whole rows, and blocks of sparse ones.
    void score_mixed(const RowView& x, std::size_t plane, RowLookup<T>& at, AlignedVector<T>& sums) const {
        const std::size_t n = store_.used();
        sums.assign(n, T(0));
        at.rows.clear();
        at.multiplier.clear();
        at.blocks.clear();
        const auto add = [&] {
            kernels::add_rows(sums.data(), at.rows.data(), at.multiplier.data(), at.rows.size(), n);
            kernels::add_blocks(sums.data(), at.blocks.data(), at.blocks.size());
            at.rows.clear();
            at.multiplier.clear();
            at.blocks.clear();
        };
        for (std::size_t i = 0; i < x.size(); ++i) {
            const std::int32_t row = at.row[i];
            if (row == FeatureIndex::kAbsent) continue;
            const auto multiplier = static_cast<T>(x.value[i] * scale(row));
            if (store_.whole(row)) {
                if (!at.blocks.empty()) add();
                at.rows.push_back(store_.row(row, plane));
                at.multiplier.push_back(multiplier);
            } else {
                // Whole rows before these blocks are added before them, by the same call.
                store_.sparse().visit(row, [&](std::size_t label, const T* numbers) {
                    at.blocks.push_back({numbers + plane * SparseRows<T>::kBlock, multiplier,
                                         static_cast<std::uint32_t>(label)});
                });
            }
        }
        add();
    }

    void load(const Step& step, bool whole_rows, double rounds_before) {
        rounds_ = static_cast<T>(rounds_before);
        labels_ = step.touched.data();
        if (whole_rows) {
            alpha_.resize(store_.used());
            kernels::narrow(step.alpha.data(), alpha_.data(), step.alpha.size());
            std::fill(alpha_.begin() + static_cast<std::ptrdiff_t>(step.alpha.size()), alpha_.end(), T(0));
        } else {
            alpha_.resize(step.touched.size());
            for (std::size_t i = 0; i < alpha_.size(); ++i) alpha_[i] = static_cast<T>(step.alpha[step.touched[i]]);
        }
    }
    // Asks for the beginning of a row; the processor notices the rest by itself.
    void fetch(std::int32_t number) const {
        if (!store_.whole(number)) return;
        for (std::size_t plane = 0; plane < store_.planes(); ++plane)
            for (std::size_t line = 0; line < 4; ++line)
                __builtin_prefetch(store_.row(number, plane) + line * kLine<T>, 1);
    }
    // The row, then its S; what G changes by with both.
    void move_and_grow(std::int32_t number, double value, bool whole_rows) {
        Row& row = rows_[static_cast<std::size_t>(number)];
        double& scale = scales_[static_cast<std::size_t>(number)];
        const double before = (row.norm2 - row.base2) * scale;
        if (whole_rows) row.norm2 = add_row<true>(number, static_cast<T>(value));
        else row.norm2 += add_numbers<true>(number, static_cast<T>(value));
        row.norm2 = std::max(0.0, row.norm2);
        row.S += rate_ * value * value;
        scale = 1 / std::sqrt(row.S);
        complexity_ += 0.5 * ((row.norm2 - row.base2) * scale - before);
    }
    // The sum of the squares after it, if that is wanted.
    template <bool kSquares>
    double add_row(std::int32_t number, T value) {
        const std::size_t n = store_.used();
        store_.make_whole(number);
        T* const row = store_.row(number);
        double squares = 0;
        if (store_.planes() > 1)
            squares = kernels::add_scaled_norm(row, store_.row(number, 1), alpha_.data(), value, rounds_, n);
        else if (kSquares) squares = kernels::add_scaled_norm(row, alpha_.data(), value, n);
        else kernels::add_scaled(row, alpha_.data(), value, n);
        if (kSquares && store_.sharing()) {
            const double shared = static_cast<double>(row[LabelColumns::kShared]);
            squares += (copies(LabelColumns::kShared) - 1) * shared * shared;
        }
        return squares;
    }
    // What the squares grow by, if that is wanted.
    template <bool kSquares>
    double add_numbers(std::int32_t number, T value) {
        if (store_.whole(number)) {
            T* const first = store_.row(number);
            return add_each<kSquares>(value, store_.stride(), [=](int label) { return first + label; });
        }
        const auto touch = [&](int label) { return store_.touch(number, static_cast<std::size_t>(label)); };
        const double gain = add_each<kSquares>(value, SparseRows<T>::kBlock, touch);
        store_.settle(number);
        return gain;
    }
    // How many labels a number stands for.
    double copies(int column) const {
        const bool shared = column == LabelColumns::kShared && store_.sharing();
        return shared ? static_cast<double>(store_.columns().sharers()) : 1.0;
    }
    // Moves the labels of the step, whose numbers are where `at` says.
    template <bool kSquares, class At>
    double add_each(T value, std::size_t next_plane, At&& at) {
        const bool means = store_.planes() > 1, sharing = store_.sharing();
        const T* const alpha = alpha_.data();
        double gain = 0;
        for (std::size_t i = 0, count = alpha_.size(); i < count; ++i) {
            T* const weight = at(labels_[i]);
            const T step = alpha[i] * value, old = *weight, moved = old + step;
            *weight = moved;
            if constexpr (kSquares) {
                const double wide = moved, before = old;
                const double growth = (wide - before) * (wide + before);
                gain += sharing ? copies(labels_[i]) * growth : growth;
            }
            if (means) weight[next_plane] += rounds_ * step;
        }
        return gain;
    }

    WeightStore<T> store_;
    std::vector<Row> rows_;
    std::vector<double> scales_;  // 1 / sqrt(S) where S grows: scoring needs it of every row
    double rate_;
    double complexity_ = 0;
    Step column_step_;
    // The step in the storage type, as apply() needs it.
    AlignedVector<T> alpha_;
    T rounds_ = 0;
    const int* labels_ = nullptr;
};

}  // namespace tagalong
