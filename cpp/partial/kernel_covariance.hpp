// Dual form of FullCovariance (P3, Remark 3): x may be mapped to any feature space by a kernel k.
//
// Let z_1..z_N be the rows that a label was updated with, and v_j their weights in A = I + sum of
// v_j z_j z_j'. The matrix I + G of scaled products, G_ij = sqrt(v_i v_j) k(z_i, z_j), has the
// Cholesky factor F. Every update appends a row to F, so no error accumulates in an inverse. With
// k_j = sqrt(v_j) k(z_j, x) and l = F^-1 k,
//
//     x.A^-1 x = k(x, x) - |l|^2        A^-1 x = x - sum_j (F^-T l)_j sqrt(v_j) z_j.
//
// So w is a linear combination of rows, including the rows of projections. All numbers are in
// double precision.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/example.hpp"
#include "core/feature_index.hpp"

namespace tagalong {

struct Kernel {
    enum class Kind { linear, gaussian };
    Kind kind = Kind::linear;
    double gamma = 1;  // exp(-gamma |x - z|^2)
};

template <class T>
class KernelCovariance {
  public:
    KernelCovariance(Kernel kernel, double memory_limit)
        : kernel_(kernel), memory_limit_(memory_limit) {}

    struct Label {
        // The rows in the linear combination w, in order of arrival.
        std::vector<std::int32_t> rows;
        std::vector<double> parts;          // their coefficients
        std::vector<std::int32_t> updates;  // the rows that are in A, as positions in `rows`
        std::vector<double> roots;          // sqrt(v_j), per update
        std::vector<double> factor;         // F, lower triangle, row by row
    };
    // The rows that any label was updated with, sparse; features by position.
    struct Rows {
        std::vector<std::int64_t> starts = {0};
        std::vector<std::int32_t> places;
        std::vector<double> values;
        std::vector<double> squares;
        std::size_t size() const { return squares.size(); }
    };
    struct Scratch {
        std::vector<double> x;         // by feature position
        std::vector<double> products;  // k(z, x) for all rows z
        std::vector<double> forward;   // l = F^-1 k of one label
        double square = 0;             // k(x, x)
    };

    std::size_t labels() const { return labels_.size(); }
    void add_labels(std::size_t count) { labels_.resize(labels_.size() + count); }
    const FeatureIndex& features() const { return index_; }
    const Kernel& kernel() const { return kernel_; }

    // As in FullCovariance.
    void load_example(const Example& x, Scratch& scratch) const;
    void compute_margins(Scratch& scratch, std::vector<T>& out) const;
    void compute_variances(Scratch& scratch, std::vector<double>& out) const;
    void prepare(const Example& x, const Scratch& scratch, std::span<const std::int32_t> labels);
    double select_label(std::int32_t label);
    void project(double amount) { move_weights(-amount); }
    double add_outer_product(double weight);
    void step(double amount) { move_weights(amount / determinant_ratio_); }

    // For the linear kernel: the weights of a label, by feature position.
    std::vector<double> weights(std::size_t label) const;
    std::size_t bytes() const;

    const std::vector<Label>& state() const { return labels_; }
    const Rows& rows() const { return rows_; }
    // Restore a saved state into a new object. Return false if its parts are inconsistent.
    bool restore(std::span<const std::int32_t> features, Rows rows);
    bool restore_label(std::size_t label, Label state);

  private:
    double variance(const Label& label, Scratch& scratch) const;
    std::int32_t store_row();
    void move_weights(double amount);

    Kernel kernel_;
    double memory_limit_;
    FeatureIndex index_;
    Rows rows_;
    std::vector<Label> labels_;

    // Working memory of the writer: the current row, which the first update or projection stores.
    Scratch current_;
    Example x_;
    std::int32_t row_ = -1;
    Label* label_ = nullptr;
    std::vector<double> backward_;  // F^-T l
    double variance_ = 0, determinant_ratio_ = 1;
};

extern template class KernelCovariance<float>;
extern template class KernelCovariance<double>;

}  // namespace tagalong
