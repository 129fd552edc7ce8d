// The loops over the rows for a block of sixteen labels (m3l/block.hpp), and for one label on dense
// rows (m3l/dense_label.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "m3l/dense_label_loops.hpp"
#include "m3l/lanes.hpp"
#include "m3l/rows.hpp"

namespace tagalong::m3l {

// The part of a block that the loops use. Arrays over labels have kLanes numbers. The numbers of
// unused lanes do not matter, since no variable of an unused lane has known relevance.
template <class T>
struct BlockView {
    alignas(64) T target_relevant[kLanes];    // t of relevant rows
    alignas(64) T target_irrelevant[kLanes];  // t of irrelevant rows, negative
    alignas(64) T bound_relevant[kLanes];
    alignas(64) T bound_irrelevant[kLanes];
    alignas(64) T scale[kLanes];                   // 2 R_ll
    alignas(64) T inverse_curvature[kLanes];       // 1 / (4 R_ll), for a row of unit norm
    alignas(64) T prior_in_block[kLanes][kLanes];  // [l][k]: 2 R_kl
    // A variable at a bound is shrunk if its derivative points out of the bound by more than this.
    alignas(64) T threshold[kLanes];
    alignas(64) T violation[kLanes];  // output: the largest projected derivative found
    alignas(64) double gap[kLanes], value[kLanes];  // output of check(): duality gap, dual value
    bool coupled = false;                           // whether the prior couples labels of the block
    std::size_t rows = 0;
    const T* row_weight = nullptr;            // factor of C; null if all are 1
    const T* squared_norm = nullptr;          // |x_i|^2
    const T* inverse_squared_norm = nullptr;  // 1 / |x_i|^2
    // t per variable; null if target_relevant and target_irrelevant hold it.
    const T* target = nullptr;
    const Mask* relevant = nullptr;  // relevant labels, per row
    const Mask* known = nullptr;     // labels of known relevance, per row
    Mask* active = nullptr;          // labels with an active variable, per row
    T* dual = nullptr;               // b, kLanes per row
    T* weights = nullptr;            // z, kLanes per feature
    Mask unconverged = 0;            // labels to make steps on
    std::uint32_t* order = nullptr;  // rows to visit; rows without an active variable are removed
    std::size_t count = 0;
};

// One step on every active variable, row by row. If the block's labels are not coupled, the
// derivatives of all variables of a row come from the same weights. Otherwise the labels are
// updated one by one.
void visit(const NarrowRows<float>&, BlockView<float>&);
void visit(const WideRows<float>&, BlockView<float>&);
void visit(const DenseRows<float>&, BlockView<float>&);
void visit(const NarrowRows<double>&, BlockView<double>&);
void visit(const WideRows<double>&, BlockView<double>&);
void visit(const DenseRows<double>&, BlockView<double>&);

// Violation, duality gap and dual value over all variables at the current weights; changes no
// variable. Recomputes the active set: every variable of known relevance that cannot be shrunk.
void check(const NarrowRows<float>&, BlockView<float>&);
void check(const WideRows<float>&, BlockView<float>&);
void check(const DenseRows<float>&, BlockView<float>&);
void check(const NarrowRows<double>&, BlockView<double>&);
void check(const WideRows<double>&, BlockView<double>&);
void check(const DenseRows<double>&, BlockView<double>&);

// sums_j += sum_i b_i x_ij for the labels of a block.
void collect(const NarrowRows<float>&, std::size_t rows, const float* dual, double* sums);
void collect(const WideRows<float>&, std::size_t rows, const float* dual, double* sums);
void collect(const DenseRows<float>&, std::size_t rows, const float* dual, double* sums);
void collect(const NarrowRows<double>&, std::size_t rows, const double* dual, double* sums);
void collect(const WideRows<double>&, std::size_t rows, const double* dual, double* sums);
void collect(const DenseRows<double>&, std::size_t rows, const double* dual, double* sums);

// t - 2 s for all variables, where s is the score with the block's weights.
void anchored_targets(const NarrowRows<float>&, const BlockView<float>&, float* out);
void anchored_targets(const WideRows<float>&, const BlockView<float>&, float* out);
void anchored_targets(const DenseRows<float>&, const BlockView<float>&, float* out);
void anchored_targets(const NarrowRows<double>&, const BlockView<double>&, double* out);
void anchored_targets(const WideRows<double>&, const BlockView<double>&, double* out);
void anchored_targets(const DenseRows<double>&, const BlockView<double>&, double* out);

// visit(), check() and collect() for a single label on dense rows.
void visit(const DenseRows<float>&, DenseLabelView<float>&);
void visit(const DenseRows<double>&, DenseLabelView<double>&);
void check(const DenseRows<float>&, DenseLabelView<float>&);
void check(const DenseRows<double>&, DenseLabelView<double>&);
void collect(const DenseRows<float>&, const DenseLabelView<float>&, double* sums);
void collect(const DenseRows<double>&, const DenseLabelView<double>&, double* sums);

// The change of a block's v, for the features that changed; kLanes numbers per feature.
template <class T>
struct Changes {
    // Features per part; their weights fit in the first-level cache.
    static constexpr std::size_t kPart = 256;

    std::vector<std::uint32_t> feature;
    std::vector<Mask> lanes;  // the labels whose v changed, per feature
    AlignedVector<T> delta;
    std::vector<std::size_t> start;  // index of each part's first entry

    void clear() {
        feature.clear();
        lanes.clear();
        delta.clear();
        start.clear();
    }
};

// Collects the nonzero sums, and sets them to zero.
void extract_changes(AlignedVector<float>& sums, Changes<float>& out);
void extract_changes(AlignedVector<double>& sums, Changes<double>& out);

// z_j += sum_k delta_jk r_k for the changed features j of a part. r has kLanes numbers per label k;
// they are all zero for labels outside `coupled_labels`.
void propagate(const Changes<float>&, std::size_t part, const float* r, Mask coupled_labels,
               float* weights);
void propagate(const Changes<double>&, std::size_t part, const double* r, Mask coupled_labels,
               double* weights);

// sums_j += sum_i (b_i - before_i) x_ij over the rows i of the list; before has kLanes numbers per
// entry of the list.
void add_dual_changes(const NarrowRows<float>&, const std::uint32_t* row_list, std::size_t count,
                      const float* before, const float* dual, float* sums);
void add_dual_changes(const WideRows<float>&, const std::uint32_t* row_list, std::size_t count,
                      const float* before, const float* dual, float* sums);
void add_dual_changes(const DenseRows<float>&, const std::uint32_t* row_list, std::size_t count,
                      const float* before, const float* dual, float* sums);
void add_dual_changes(const NarrowRows<double>&, const std::uint32_t* row_list, std::size_t count,
                      const double* before, const double* dual, double* sums);
void add_dual_changes(const WideRows<double>&, const std::uint32_t* row_list, std::size_t count,
                      const double* before, const double* dual, double* sums);
void add_dual_changes(const DenseRows<double>&, const std::uint32_t* row_list, std::size_t count,
                      const double* before, const double* dual, double* sums);

}  // namespace tagalong::m3l
