// The same game in dual variables (P3, Remark 3): x may be mapped to any space with a kernel k.
//
// A label was updated with the rows z_1..z_N. With weights v_j in A = I + sum of v_j z_j z_j', the
// matrix I + G of their scaled products, G_ij = sqrt(v_i v_j) k(z_i, z_j), has the Cholesky factor F, to
// which every update appends a row; nothing drifts. With k_j = sqrt(v_j) k(z_j, x) and l = F^-1 k,
//
//     x.A^-1 x = k(x, x) - |l|^2        A^-1 x = x - sum_j (F^-T l)_j sqrt(v_j) z_j
//
// so that w is a sum of rows, those of its projections included. Everything is in double precision.
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
    KernelCovariance(Kernel kernel, double memory_limit) : kernel_(kernel), limit_(memory_limit) {}

    struct Label {
        std::vector<std::int32_t> rows;     // which rows w is made of, in the order of their coming
        std::vector<double> parts;          // and how much of each
        std::vector<std::int32_t> updates;  // which of them are in A, by their place in `rows`
        std::vector<double> roots;          // sqrt(v_j) of each update
        std::vector<double> factor;         // F, row by row without the zeros
    };
    // The rows that some label has been updated with, sparse; features by their place.
    struct Rows {
        std::vector<std::int64_t> starts = {0};
        std::vector<std::int32_t> places;
        std::vector<double> values;
        std::vector<double> squares;
        std::size_t size() const { return squares.size(); }
    };
    struct Scratch {
        std::vector<double> x;         // by place
        std::vector<double> products;  // k(z, x) for all rows z
        std::vector<double> own;       // of one label, and l
        double square = 0;             // k(x, x)
    };

    std::size_t labels() const { return labels_.size(); }
    void add_labels(std::size_t count) { labels_.resize(labels_.size() + count); }
    const FeatureIndex& features() const { return index_; }
    const Kernel& kernel() const { return kernel_; }

    // As FullCovariance.
    void look(const Example& x, Scratch& scratch) const;
    void margins(Scratch& scratch, std::vector<T>& out) const;
    void forms(Scratch& scratch, std::vector<double>& out) const;
    void prepare(const Example& x, const Scratch& looked, std::span<const std::int32_t> labels);
    double begin(std::int32_t label);
    void project(double amount) { move(-amount); }
    double include(double weight);
    void step(double amount) { move(amount / stretch_); }

    // For the linear kernel: the weight of every feature, by place, of a label.
    std::vector<double> weights(std::size_t label) const;
    std::size_t bytes() const;

    const std::vector<Label>& state() const { return labels_; }
    const Rows& rows() const { return rows_; }
    // Into a new object. False if it does not fit together.
    bool restore(std::span<const std::int32_t> features, Rows rows);
    bool restore_label(std::size_t label, Label state);

  private:
    double form(const Label& label, Scratch& scratch) const;
    std::int32_t own_row();
    void move(double amount);

    Kernel kernel_;
    double limit_;
    FeatureIndex index_;
    Rows rows_;
    std::vector<Label> labels_;

    // Scratch of the writer: the row at hand, which is kept with the first update or projection.
    Scratch now_;
    Example x_;
    std::int32_t row_ = -1;
    Label* label_ = nullptr;
    std::vector<double> solved_;  // F^-T l
    double form_ = 0, stretch_ = 1;
};

extern template class KernelCovariance<float>;
extern template class KernelCovariance<double>;

}  // namespace tagalong
