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

#include "kernels.hpp"
#include "located.hpp"
#include "rules/step.hpp"

namespace tagalong {

template <class T>
class LinearGeometry {
  public:
    LinearGeometry(double rate, bool averaged, Steps steps = Steps::any)
        : store_(averaged ? 2 : 1, steps), rate_(rate) {}

    // Per feature row, beside its weights.
    struct Row {
        double S = 1;
        double scale = 1;  // 1 / sqrt(S)
        double norm2 = 0;  // |theta_j|^2
        double base2 = 0;  // the same when the certificate was restarted
    };

    const WeightStore<T>& store() const { return store_; }
    const std::vector<Row>& row_state() const { return rows_; }
    double complexity() const { return complexity_; }  // G(theta) - G(theta at the restart)
    void add_labels(std::size_t count) { store_.add_labels(count); }

    // To be called by the writer: rows that lag behind in columns are slower to score.
    void catch_up(const RowView& x) {
        if (!store_.sharing()) return;
        for (const std::int32_t feature : x.feature)
            if (const std::int32_t row = store_.find(feature); row != FeatureIndex::kAbsent) store_.catch_up(row);
    }

    // Finds the rows and scores the example: with theta, and with u if `means`.
    void score(const RowView& x, bool means, Located<T>& at) const {
        at.find(store_, x);
        if (!store_.all_whole()) {
            score_mixed(x, 0, at, at.sums);
            if (means) score_mixed(x, 1, at, at.mean_sums);
            return;
        }
        at.multiplier.resize(x.size());
        at.rows.resize(x.size());
        at.reach.clear();
        std::size_t count = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (at.row[i] == FeatureIndex::kAbsent) continue;
            if (store_.sharing()) at.reach.push_back(store_.reach(at.row[i]));
            at.multiplier[count] = static_cast<T>(x.value[i] * scale(at.row[i]));
            at.rows[count++] = store_.row(at.row[i]);
        }
        score_whole(count, at, at.sums);
        if (!means) return;
        for (std::size_t i = 0; i < count; ++i) at.rows[i] += store_.stride();
        score_whole(count, at, at.mean_sums);
    }

    double squared_norm(const RowView& x, const Located<T>& at) const {
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double factor = at.row[i] == FeatureIndex::kAbsent ? 1.0 : scale(at.row[i]);
            sum += x.value[i] * x.value[i] * factor;
        }
        return sum;
    }

    // theta += alpha (x) x, the means with it, then S.
    void apply(const RowView& x, const Step& label_step, double rounds_before, Located<T>& at) {
        const Step& step = store_.sharing() ? in_columns(label_step) : label_step;
        // A step on few labels touches single numbers; a step on many, whole rows: a number takes
        // about as many instructions as sixteen that lie together.
        const bool whole_rows = step.touched.size() * 16 > store_.width();
        load(step, whole_rows, rounds_before);
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (whole_rows && i + 1 < x.size() && at.row[i + 1] != FeatureIndex::kAbsent) fetch(at.row[i + 1]);
            if (at.row[i] == FeatureIndex::kAbsent) {
                at.row[i] = store_.insert(x.feature[i]);
                rows_.emplace_back();
            }
            store_.catch_up(at.row[i]);
            Row& row = rows_[at.row[i]];
            const double before = (row.norm2 - row.base2) * row.scale;
            const T value = static_cast<T>(x.value[i]);
            if (whole_rows) add_row(at.row[i], value, row);
            else add_numbers(at.row[i], value, row);
            if (rate_ > 0) {
                row.S += rate_ * x.value[i] * x.value[i];
                row.scale = 1 / std::sqrt(row.S);
            }
            complexity_ += 0.5 * ((row.norm2 - row.base2) * row.scale - before);
        }
    }

    // With a share of the means subtracted; zero for a feature without a row.
    double weight(std::int32_t row, int label, double mean_factor) const {
        if (row == FeatureIndex::kAbsent) return 0;
        const double means = mean_factor != 0 ? mean_factor * static_cast<double>(store_.value(row, 1, label)) : 0;
        return (static_cast<double>(store_.value(row, 0, label)) - means) * rows_[row].scale;
    }

    // G from the stored theta, to check the running value against.
    double recompute_complexity() const {
        double sum = 0;
        std::vector<T> theta(store_.labels());
        for (std::size_t r = 0; r < store_.rows(); ++r) {
            store_.read(static_cast<std::int32_t>(r), 0, theta.data());
            double norm2 = 0;
            for (std::size_t k = 0; k < store_.labels(); ++k)
                norm2 += static_cast<double>(theta[k]) * static_cast<double>(theta[k]);
            sum += 0.5 * (norm2 - rows_[r].base2) / std::sqrt(rows_[r].S);
        }
        return sum;
    }

    // From now on the dual problem is centred on the present weights: its F is
    // 1/2 sum_j sqrt(S_j) |w_j - theta0_j / sqrt(S_j)|^2.
    void restart() {
        for (Row& row : rows_) row.base2 = row.norm2;
        complexity_ = 0;
    }

    // For loading a saved model: which labels share their weights, before the first row; then
    // a row as it was, with its numbers or with a place for them.
    bool restore_columns(std::span<const std::int32_t> columns) { return store_.restore_columns(columns); }
    void restore_row(std::int32_t feature, const Row& row, const T* theta, const T* means) {
        const std::int32_t number = store_.insert(feature);
        rows_.push_back(row);
        store_.write_columns(number, 0, theta);
        if (means) store_.write_columns(number, 1, means);
    }
    T* restore_row(std::int32_t feature, const Row& row) {
        const std::int32_t number = store_.insert(feature);
        rows_.push_back(row);
        return store_.row(number);
    }
    void restore_complexity(double value) { complexity_ = value; }

  private:
    // Without a rate it is one, and the row's numbers need not be fetched for it.
    double scale(std::int32_t row) const { return rate_ > 0 ? rows_[row].scale : 1.0; }

    // One plane of the rows that were found.
    void score_whole(std::size_t count, Located<T>& at, AlignedVector<T>& sums) const {
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
    void score_mixed(const RowView& x, std::size_t plane, Located<T>& at, AlignedVector<T>& sums) const {
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
        labels_ = step.touched.data();
        const auto load_into = [&](AlignedVector<T>& out, double factor) {
            if (whole_rows) {
                out.resize(store_.used());
                kernels::narrow(step.alpha.data(), factor, out.data(), step.alpha.size());
                std::fill(out.begin() + static_cast<std::ptrdiff_t>(step.alpha.size()), out.end(), T(0));
            } else {
                out.resize(step.touched.size());
                for (std::size_t i = 0; i < out.size(); ++i)
                    out[i] = static_cast<T>(factor * step.alpha[step.touched[i]]);
            }
        };
        load_into(alpha_, 1);
        if (store_.planes() > 1) load_into(mean_alpha_, rounds_before);
    }
    // Asks for the beginning of a row; the processor notices the rest by itself.
    void fetch(std::int32_t number) const {
        if (!store_.whole(number)) return;
        for (std::size_t plane = 0; plane < store_.planes(); ++plane)
            for (std::size_t line = 0; line < 4; ++line)
                __builtin_prefetch(store_.row(number, plane) + line * kCacheLine / sizeof(T), 1);
    }
    void add_row(std::int32_t number, T value, Row& row) {
        const std::size_t n = store_.used();
        store_.make_whole(number);
        row.norm2 = kernels::add_scaled_norm(store_.row(number), alpha_.data(), value, n);
        if (store_.sharing()) {
            const double shared = static_cast<double>(store_.row(number)[LabelColumns::kShared]);
            row.norm2 = std::max(0.0, row.norm2 + (copies(LabelColumns::kShared) - 1) * shared * shared);
        }
        if (store_.planes() > 1) kernels::add_scaled(store_.row(number, 1), mean_alpha_.data(), value, n);
    }
    void add_numbers(std::int32_t number, T value, Row& row) {
        double gain;
        if (store_.whole(number)) {
            T* const first = store_.row(number);
            gain = add_each(value, store_.stride(), [=](int label) { return first + label; });
        } else {
            const auto touch = [&](int label) { return store_.touch(number, static_cast<std::size_t>(label)); };
            gain = add_each(value, SparseRows<T>::kBlock, touch);
            store_.settle(number);
        }
        row.norm2 = std::max(0.0, row.norm2 + gain);
    }
    // How many labels a number stands for.
    double copies(int column) const {
        const bool shared = column == LabelColumns::kShared && store_.sharing();
        return shared ? static_cast<double>(store_.columns().sharers()) : 1.0;
    }
    // Moves the labels of the step, whose numbers are where `at` says; what the squares grow by.
    template <class At>
    double add_each(T value, std::size_t next_plane, At&& at) {
        const bool means = store_.planes() > 1;
        double gain = 0;
        for (std::size_t i = 0; i < alpha_.size(); ++i) {
            T* weight = at(labels_[i]);
            const double old = *weight;
            *weight += alpha_[i] * value;
            gain += copies(labels_[i]) * (*weight - old) * (*weight + old);
            if (means) weight[next_plane] += mean_alpha_[i] * value;
        }
        return gain;
    }

    WeightStore<T> store_;
    std::vector<Row> rows_;
    double rate_;
    double complexity_ = 0;
    Step column_step_;
    // The step in the storage type, as apply() needs it.
    AlignedVector<T> alpha_;
    AlignedVector<T> mean_alpha_;
    const int* labels_ = nullptr;
};

}  // namespace tagalong
