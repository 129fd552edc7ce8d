// The loops over rows of a block of sixteen labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "m3l/label_loops.hpp"
#include "m3l/lanes.hpp"
#include "m3l/rows.hpp"

namespace tagalong::m3l {

// What the loops see of a block. Arrays over labels have kLanes numbers; those of unused lanes do
// not matter, as no variable of theirs is known.
template <class T>
struct BlockView {
    alignas(64) T target_yes[kLanes];  // t of relevant rows
    alignas(64) T target_no[kLanes];   // t of the others, negative
    alignas(64) T bound_yes[kLanes];
    alignas(64) T bound_no[kLanes];
    alignas(64) T scale[kLanes];           // 2 R_ll
    alignas(64) T inverse[kLanes];         // 1 / (4 R_ll)
    alignas(64) T inside[kLanes][kLanes];  // inside[l]: 2 R_kl for the labels k of the block
    alignas(64) T threshold[kLanes];       // a variable at its bound with a larger derivative rests
    alignas(64) T violation[kLanes];       // out: the largest projected derivative met
    alignas(64) double gap[kLanes], value[kLanes];  // out of a check
    bool coupled = false;                           // whether labels of the block move each other
    std::size_t rows = 0;
    const T* row_weight = nullptr;   // null for ones
    const T* squared = nullptr;      // |x_i|^2
    const T* row_inverse = nullptr;  // 1 / |x_i|^2
    const T* target = nullptr;       // t a variable; null where target_yes and target_no say it
    const Mask* yes = nullptr;       // the relevant labels of a row
    const Mask* known = nullptr;     // those whose relevance is known
    Mask* active = nullptr;          // those whose variables take part
    T* dual = nullptr;               // b, kLanes a row
    T* weights = nullptr;            // z, kLanes a feature
    Mask live = 0;                   // labels that take part
    std::uint32_t* order = nullptr;  // rows to visit; those without active variables are taken out
    std::size_t count = 0;
};

// One step on every active variable, row after row. The derivative of all variables of a row comes
// from the same weights where labels do not move each other; else labels take turns.
void visit(const NarrowRows<float>&, BlockView<float>&);
void visit(const WideRows<float>&, BlockView<float>&);
void visit(const DenseRows<float>&, BlockView<float>&);
void visit(const NarrowRows<double>&, BlockView<double>&);
void visit(const WideRows<double>&, BlockView<double>&);
void visit(const DenseRows<double>&, BlockView<double>&);

// Violation, gap and dual value of all variables at the present weights; changes no variable. Those
// that rest at their bound leave the active ones, all others join.
void check(const NarrowRows<float>&, BlockView<float>&);
void check(const WideRows<float>&, BlockView<float>&);
void check(const DenseRows<float>&, BlockView<float>&);
void check(const NarrowRows<double>&, BlockView<double>&);
void check(const WideRows<double>&, BlockView<double>&);
void check(const DenseRows<double>&, BlockView<double>&);

// sums_j = sum_i b_i x_ij for the labels of a block, from zero.
void collect(const NarrowRows<float>&, std::size_t rows, const float* dual, double* sums);
void collect(const WideRows<float>&, std::size_t rows, const float* dual, double* sums);
void collect(const DenseRows<float>&, std::size_t rows, const float* dual, double* sums);
void collect(const NarrowRows<double>&, std::size_t rows, const double* dual, double* sums);
void collect(const WideRows<double>&, std::size_t rows, const double* dual, double* sums);
void collect(const DenseRows<double>&, std::size_t rows, const double* dual, double* sums);

// The same for a label that is solved by itself.
void visit(const DenseRows<float>&, LabelView<float>&);
void visit(const DenseRows<double>&, LabelView<double>&);
void check(const DenseRows<float>&, LabelView<float>&);
void check(const DenseRows<double>&, LabelView<double>&);
void collect(const DenseRows<float>&, const LabelView<float>&, double* sums);
void collect(const DenseRows<double>&, const LabelView<double>&, double* sums);

// What a block has changed of v: the features where it has, and by how much, kLanes numbers each.
template <class T>
struct Changes {
    static constexpr std::size_t kPart = 256;  // features whose weights stay in the nearest cache

    std::vector<std::uint32_t> feature;
    std::vector<Mask> lanes;  // the labels that have changed there
    AlignedVector<T> by;
    std::vector<std::size_t> start;  // of each part of the features

    void clear() {
        feature.clear();
        lanes.clear();
        by.clear();
        start.clear();
    }
};

// From sums over all features, which are set to zero.
void take_changes(AlignedVector<float>& sums, Changes<float>& out);
void take_changes(AlignedVector<double>& sums, Changes<double>& out);

// z_j += sum_k by_jk r_k for the changed features j of a part: r has kLanes numbers for each of the kLanes
// labels k, zeros but for those that are bound.
void pull(const Changes<float>&, std::size_t part, const float* r, Mask bound, float* weights);
void pull(const Changes<double>&, std::size_t part, const double* r, Mask bound, double* weights);

// sums_j += sum_i (b_i - before_i) x_ij over the rows i that are listed; before has kLanes numbers for
// each of the list.
void add_changes(const NarrowRows<float>&, const std::uint32_t* which, std::size_t count,
                 const float* before, const float* dual, float* sums);
void add_changes(const WideRows<float>&, const std::uint32_t* which, std::size_t count,
                 const float* before, const float* dual, float* sums);
void add_changes(const DenseRows<float>&, const std::uint32_t* which, std::size_t count,
                 const float* before, const float* dual, float* sums);
void add_changes(const NarrowRows<double>&, const std::uint32_t* which, std::size_t count,
                 const double* before, const double* dual, double* sums);
void add_changes(const WideRows<double>&, const std::uint32_t* which, std::size_t count,
                 const double* before, const double* dual, double* sums);
void add_changes(const DenseRows<double>&, const std::uint32_t* which, std::size_t count,
                 const double* before, const double* dual, double* sums);

}  // namespace tagalong::m3l
