#include "compact/compact_ranker.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tagalong {

static bool in_range(std::span<const float> numbers, double least) {
    return std::all_of(numbers.begin(), numbers.end(), [&](float number) {
        return number >= least && number <= CompactRanker::kLargest;
    });
}

bool CompactPart::sound(std::size_t rows, std::size_t label_count) const {
    if (offsets.size() != rows + 1 || scales.size() != rows || constant.size() != label_count ||
        (!bias.empty() && bias.size() != label_count) || values.size() != labels.size())
        return false;
    if (!(factor >= 0 && factor <= CompactRanker::kLargest) ||
        !(ratio >= 0 && ratio <= CompactRanker::kLargest))
        return false;
    if (!in_range(scales, 0) || !in_range(constant, -CompactRanker::kLargest) ||
        !in_range(bias, -CompactRanker::kLargest))
        return false;
    if (offsets[0] != 0 || offsets[rows] != labels.size()) return false;
    for (std::size_t row = 0; row < rows; ++row) {
        if (offsets[row] > offsets[row + 1] || offsets[row + 1] > labels.size()) return false;
        for (std::size_t i = offsets[row]; i < offsets[row + 1]; ++i)
            if (labels[i] >= label_count || (i > offsets[row] && labels[i] <= labels[i - 1]))
                return false;
    }
    return true;
}

double CompactPart::weight(std::size_t row, int label) const {
    const auto first = labels.begin() + offsets[row], last = labels.begin() + offsets[row + 1];
    const auto found = std::lower_bound(first, last, static_cast<std::uint16_t>(label));
    if (found == last || *found != label) return 0;
    return static_cast<double>(values[static_cast<std::size_t>(found - labels.begin())]) *
           static_cast<double>(scales[row]);
}

double CompactPart::sum(std::size_t row) const {
    std::int64_t sum = 0;
    for (std::size_t i = offsets[row]; i < offsets[row + 1]; ++i) sum += values[i];
    return static_cast<double>(sum) * static_cast<double>(scales[row]);
}

CompactRanker::CompactRanker(const CompactConfig& config)
    : config_(config),
      confidence_(config.centred ? Confidence(config.one_label, kFastLearner)
                                 : Confidence(config.one_label)) {
    ranker_config_.normalize = config.normalize;
    ranker_config_.constant = config.constant;
}

void CompactRanker::restore(std::size_t labels, double cutoff, FeatureStatistics statistics,
                            std::vector<CompactPart> parts, std::shared_ptr<const void> owner) {
    labels_ = labels;
    cutoff_ = cutoff;
    statistics_ = std::move(statistics);
    parts_ = std::move(parts);
    owner_ = std::move(owner);
    statistics_.keep_ascending(std::any_of(parts_.begin(), parts_.end(), [](const auto& part) {
        return part.scaling == Scaling::standard;
    }));
}

std::size_t CompactRanker::bytes() const {
    std::size_t sum = 0;
    for (const CompactPart& part : parts_)
        sum += part.offsets.size_bytes() + part.labels.size_bytes() + part.values.size_bytes() +
               part.scales.size_bytes() + part.constant.size_bytes() + part.bias.size_bytes();
    return sum;
}

const Example& CompactRanker::scaled(Reader& reader, const CompactPart& part) const {
    const Example& x = reader.scaled.get(part.scaling, statistics_, ranker_config_);
    statistics_.find(x, reader.places);
    return x;
}

double CompactRanker::score_scale(Reader& reader) const {
    const auto count = static_cast<double>(labels_);
    reader.scaled.start(reader.x, statistics_);
    reader.mixture.assign(labels_, 0.0);
    for (const CompactPart& part : parts_) {
        if (part.factor == 0) continue;
        const Example& x = scaled(reader, part);
        reader.sums.assign(labels_, 0.0);
        double* const sums = reader.sums.data();
        double mass = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (x.feature[i] == kConstantFeature) {
                for (std::size_t k = 0; k < labels_; ++k)
                    sums[k] += x.value[i] * static_cast<double>(part.constant[k]);
                continue;
            }
            if (!is_known(part, reader.places[i])) continue;
            const auto row = static_cast<std::size_t>(reader.places[i]);
            const double factor = x.value[i] * static_cast<double>(part.scales[row]);
            mass += x.value[i];
            for (std::size_t at = part.offsets[row]; at < part.offsets[row + 1]; ++at)
                sums[part.labels[at]] += factor * part.values[at];
        }
        if (!part.bias.empty())
            for (std::size_t k = 0; k < labels_; ++k)
                sums[k] += mass * static_cast<double>(part.bias[k]);
        const double mean =
            config_.centred ? std::accumulate(reader.sums.begin(), reader.sums.end(), 0.0) / count
                            : 0.0;
        for (std::size_t k = 0; k < labels_; ++k)
            reader.mixture[k] += part.factor * (sums[k] - mean);
    }
    double scale = 1;
    if (config_.centred && !confidence_.has_one_label()) {
        double sum = 0, squares = 0;
        for (const double score : reader.mixture) {
            sum += score;
            squares += score * score;
        }
        const double variance = squares / count - sum / count * (sum / count);
        if (variance > static_cast<double>(std::numeric_limits<float>::min())) {
            const double root = std::sqrt(std::sqrt(variance));
            scale = 1 / (root * std::sqrt(root));
        }
    }
    // Values of examples that are not normalised may be large.
    constexpr double kMost = std::numeric_limits<float>::max();
    reader.scores.resize(labels_);
    for (std::size_t k = 0; k < labels_; ++k)
        reader.scores[k] = static_cast<float>(std::clamp(scale * reader.mixture[k], -kMost, kMost));
    return scale;
}

std::span<const float> CompactRanker::score(Reader& reader) const {
    score_scale(reader);
    return reader.scores;
}

std::span<const std::int32_t> CompactRanker::rank(Reader& reader, std::size_t k) const {
    best_labels(score(reader), k, reader.best);
    return reader.best;
}

void CompactRanker::judge(Reader& reader, std::size_t k, const TieOrder& ties,
                          Judgement& out) const {
    const ScoredItem<float> item{score(reader), cutoff(), reader.scaled.known()};
    if (config_.probability) confidence_.judge(item, k, ties, out);
    else confidence_.rank_only(item, k, ties, out);
}

void CompactRanker::contributions(Reader& reader, int label, std::vector<double>& out) const {
    const double scale = score_scale(reader);
    const Example& raw = reader.x;
    const auto k = static_cast<std::size_t>(label);
    const auto count = static_cast<double>(labels_);
    const auto centred = [&](double weight, double sum) {
        return config_.centred ? weight - sum / count : weight;
    };
    const auto total = [](std::span<const float> numbers) {
        return std::accumulate(numbers.begin(), numbers.end(), 0.0);
    };
    out.assign(raw.size(), 0.0);
    for (const CompactPart& part : parts_) {
        if (part.factor == 0) continue;
        const Example& x = scaled(reader, part);
        const double bias =
            part.bias.empty() ? 0.0 : centred(static_cast<double>(part.bias[k]), total(part.bias));
        std::size_t at = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            double weight = 0;
            if (x.feature[i] == kConstantFeature) {
                weight = centred(static_cast<double>(part.constant[k]), total(part.constant));
            } else if (is_known(part, reader.places[i])) {
                const auto row = static_cast<std::size_t>(reader.places[i]);
                weight = centred(part.weight(row, label), part.sum(row)) + bias;
            }
            while (at < raw.size() && raw.feature[at] < x.feature[i]) ++at;
            const bool in_example = at < raw.size() && raw.feature[at] == x.feature[i];
            out[in_example ? at : 0] += part.factor * x.value[i] * weight;
        }
    }
    for (double& part : out) part *= scale;
}

void CompactRanker::weights(std::size_t row, std::vector<double>& out) const {
    out.assign(labels_, 0.0);
    const bool constant = row + 1 == rows();
    for (const CompactPart& part : parts_) {
        const auto slope =
            constant ? 1.0 : part.ratio * scaled_value(statistics_, row, part.scaling).slope;
        for (std::size_t k = 0; k < labels_; ++k) {
            double weight = 0;
            if (constant) weight = config_.constant * static_cast<double>(part.constant[k]);
            else if (!part.bias.empty() && part.scales[row] > 0)
                weight = static_cast<double>(part.bias[k]);
            out[k] += part.factor * slope * weight;
        }
        if (constant) continue;
        for (std::size_t at = part.offsets[row]; at < part.offsets[row + 1]; ++at)
            out[part.labels[at]] +=
                part.factor * slope * part.values[at] * static_cast<double>(part.scales[row]);
    }
}

}  // namespace tagalong
