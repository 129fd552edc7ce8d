// The smooth step for the linear geometries, where a label's equation
//     T log b + |x|^2 b = level + key        (key = -score if relevant, score if irrelevant)
// is solved by Lambert's W: b = (T/q) W(z), z = (q/T) exp((level + key) / T), q = |x|^2.
#pragma once

#include "core/aligned.hpp"
#include "rules/linear_filling.hpp"
#include "rules/smooth.hpp"
#include "rules/step.hpp"

namespace tagalong {

// One side. Labels far from the level have a z so small that the series of W needs only a few
// terms; their mass at any level then follows from the power sums of exp(key / T), taken once.
// Only the others, the heavy ones, are solved at each level.
class LinearSmoothSide {
  public:
    // Keys of -infinity move nothing.
    void start(std::span<const double> keys, double q, double temperature);
    // Into light and heavy labels, for levels around this one.
    void separate(double level);

    ValueSlope at(double level);
    bool exact() const { return heavy_state_ == Heavy::exact || heavies_ == 0; }
    // The number of equal labels that would weigh as much, and the level at which they move a mass.
    double effective_labels() const { return effective_; }
    double level_of_equals(double mass) const;
    double lower(double mass) const;
    double upper(double mass) const;

    // log of the sum of exp(key / T)
    double log_sum() const { return log_sum_ + largest_ / temperature_; }

    struct Amounts {
        double mass = 0;
        double weighted_keys = 0;  // sum of key b
        double squares = 0;        // sum of b^2
    };
    // All amounts at the last level, light ones included.
    Amounts amounts(double* out) const;

  private:
    enum class Heavy { unknown, rough, near, exact };
    static constexpr int kTerms = 8;
    static constexpr double kLight = 0.02;        // z up to here is light when separating ...
    static constexpr double kSlack = 1.5;         // ... and may grow by this factor afterwards ...
    static constexpr double kLeastGrowth = 1e-6;  // ... or shrink by this

    std::span<const double> keys_;
    double q_ = 1;
    double temperature_ = 1;
    double largest_ = 0;  // key
    double count_ = 0;    // of keys
    double log_sum_ = 0;  // log of the sum of exp((key - largest) / T)
    double effective_ = 1;

    double anchor_ = 0;
    AlignedVector<double> power_;     // exp((key - anchor) / T)
    double threshold_ = 0;            // light labels have a power up to here
    double separated_level_ = 0;      // the level at which the threshold has z = kLight
    double power_sums_[kTerms] = {};  // of power / threshold, over the light labels
    double threshold_z_ = 0;          // z at the threshold, at the last level

    ValueSlope heavy_at(double level);
    Heavy heavy_state_ = Heavy::unknown;
    double heavy_level_ = 0;
    std::size_t heavies_ = 0;  // how many; the arrays have room for all labels
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
    LinearFilling filling_;
};

}  // namespace tagalong
