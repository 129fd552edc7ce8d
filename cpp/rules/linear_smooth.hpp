// The smooth step (smooth.hpp) for the linear geometries. There the equation of a label,
//     T log b + q b = level + key,   q = |x|^2,   key = -score if relevant, score if irrelevant,
// is solved by the Lambert W function: b = (T/q) W(z), z = (q/T) exp((level + key) / T).
#pragma once

#include "core/aligned.hpp"
#include "rules/linear_water_filling.hpp"
#include "rules/smooth.hpp"
#include "rules/step.hpp"

namespace tagalong {

// One side of the problem. For labels with a small z, called light, a few terms of the series of W
// are enough: their mass at any level is a polynomial of the power sums of exp(key / T), which are
// computed once. The equations of the other labels, called heavy, are solved at each level.
class LinearSmoothSide {
  public:
    // A key of -infinity gives the amount 0.
    void start(std::span<const double> keys, double q, double temperature);
    // Divides the labels into light and heavy ones for levels near this one.
    void separate(double level);

    ValueSlope at(double level);
    bool exact() const { return heavy_state_ == Heavy::exact || heavy_count_ == 0; }
    // The effective number of labels, (sum p)^2 / sum p^2 with p = exp(key / T), and the level at
    // which that many equal labels move a given mass.
    double effective_labels() const { return effective_; }
    double equal_labels_level(double mass) const;
    double lower(double mass) const;
    double upper(double mass) const;

    // log of the sum of exp(key / T)
    double log_sum() const { return log_sum_ + largest_ / temperature_; }

    struct Amounts {
        double mass = 0;
        double weighted_keys = 0;  // sum of key b
        double squares = 0;        // sum of b^2
    };
    // Writes the amounts of all labels, light and heavy, at the last level.
    Amounts amounts(double* out) const;

  private:
    enum class Heavy { unknown, rough, near, exact };
    static constexpr int kTerms = 8;
    // The largest z of a light label in separate(), and the factors by which it may grow or shrink
    // with the level before the labels are divided again.
    static constexpr double kLight = 0.02;
    static constexpr double kSlack = 1.5;
    static constexpr double kLeastGrowth = 1e-6;

    std::span<const double> keys_;
    double q_ = 1;
    double temperature_ = 1;
    double largest_ = 0;  // largest key
    double count_ = 0;    // number of keys
    double log_sum_ = 0;  // log of the sum of exp((key - largest) / T)
    double effective_ = 1;

    double anchor_ = 0;
    AlignedVector<double> power_;     // exp((key - anchor) / T)
    double threshold_ = 0;            // the largest power of a light label
    double separated_level_ = 0;      // the level at which the threshold has z = kLight
    double power_sums_[kTerms] = {};  // power sums of power / threshold over the light labels
    double threshold_z_ = 0;          // z at the threshold, at the last level

    ValueSlope heavy_at(double level);
    Heavy heavy_state_ = Heavy::unknown;
    double heavy_level_ = 0;
    std::size_t heavy_count_ = 0;  // number of heavy labels; the arrays have room for all labels
    std::vector<int> heavy_;
    AlignedVector<double> heavy_y_;  // log z at level 0
    AlignedVector<double> heavy_power_;
    AlignedVector<double> heavy_w_;  // W(z) at heavy_level_
    AlignedVector<double> heavy_u_;  // 1 / (1 + W(z))
};

class LinearSmooth {
  public:
    void step(const Sides& sides, double q, const RuleParameters& rule, Step& out);

  private:
    SmoothPoint estimate(const Sides& sides, double q, const RuleParameters& rule,
                         double log_loss) const;

    LinearSmoothSide relevant_;
    LinearSmoothSide irrelevant_;
    std::vector<double> relevant_keys_;
    AlignedVector<double> relevant_amounts_;
    AlignedVector<double> irrelevant_amounts_;
    LinearWaterFilling water_filling_;
};

}  // namespace tagalong
