#include "partial/list_chooser.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/errors.hpp"

namespace tagalong {
namespace {

// Keeps the first `count` labels in sorted order.
void keep_top(const LabelEstimates& estimates, bool by_margin, std::size_t count,
              std::vector<std::int32_t>& labels) {
    const double* p = estimates.probability.data();
    const double* margin = estimates.margin.data();
    const auto precedes = [=](std::int32_t a, std::int32_t b) {
        if (p[a] != p[b]) return p[a] > p[b];
        if (by_margin && margin[a] != margin[b]) return margin[a] > margin[b];
        return a < b;
    };
    constexpr std::size_t kInsertionSize = 16;
    if (count > kInsertionSize) {
        std::partial_sort(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(count),
                          labels.end(), precedes);
        labels.resize(count);
        return;
    }
    // Insertion into a short sorted list, the usual case: most labels are worse than all of its
    // entries.
    std::size_t size = 0;
    for (std::size_t next = 0; next < labels.size() && count > 0; ++next) {
        const std::int32_t label = labels[next];
        if (size == count && !precedes(label, labels[size - 1])) continue;
        std::size_t at = size < count ? size++ : size - 1;
        for (; at > 0 && precedes(label, labels[at - 1]); --at) labels[at] = labels[at - 1];
        labels[at] = label;
    }
    labels.resize(count);
}

}  // namespace

SlotCosts::SlotCosts(std::vector<double> table)
    : kind_(Kind::table), table_(std::move(table)), max_size_(0) {
    std::size_t count = 0;
    while (count < table_.size()) count += ++max_size_;
    if (count != table_.size())
        throw InputError("slot_cost: a table must have 1 + 2 + ... + n costs, not " +
                         std::to_string(table_.size()));
}

bool SlotCosts::strictly_decreasing() const {
    if (kind_ != Kind::table) return kind_ == Kind::decreasing;
    for (std::size_t size = 2; size <= max_size_; ++size)
        for (std::size_t slot = 1; slot < size; ++slot)
            if (!((*this)(slot, size) > (*this)(slot + 1, size))) return false;
    return true;
}

ListChooser::ListChooser(ListChooserConfig config) : config_(std::move(config)) {
    ranking_ = config_.miss_weight == 1 && config_.costs.strictly_decreasing();
}

std::size_t ListChooser::best_size(std::span<const double> sorted) const {
    if (ranking_) return sorted.size();
    std::size_t best = 0;
    double least_cost = 0;
    for (std::size_t size = 1; size <= sorted.size(); ++size) {
        double cost = 0;
        for (std::size_t slot = 1; slot <= size; ++slot)
            cost += false_positive_cost(slot, size) - hit_gain(slot, size) * sorted[slot - 1];
        if (cost < least_cost) {
            least_cost = cost;
            best = size;
        }
    }
    return best;
}

void ListChooser::keep_best(const LabelEstimates& estimates, std::size_t max_size,
                            std::vector<std::int32_t>& labels) const {
    const std::size_t count = std::min({max_size, labels.size(), config_.costs.max_size()});
    keep_top(estimates, config_.ties_by_width, count, labels);
    std::vector<double> sorted;
    sorted.reserve(count);
    for (const std::int32_t label : labels)
        sorted.push_back(estimates.probability[static_cast<std::size_t>(label)]);
    labels.resize(best_size(sorted));
}

void ListChooser::choose(const LabelEstimates& estimates, std::size_t max_size,
                         std::vector<std::int32_t>& out) const {
    out.resize(estimates.probability.size());
    std::iota(out.begin(), out.end(), 0);
    keep_best(estimates, max_size, out);
}

void ListChooser::choose_within_budget(const LabelEstimates& estimates,
                                       std::span<const std::int32_t> plain, std::size_t max_size,
                                       std::vector<std::int32_t>& out) const {
    std::vector<char> is_plain(estimates.probability.size(), 0);
    for (const std::int32_t label : plain) is_plain[static_cast<std::size_t>(label)] = 1;
    // The most probable labels outside `plain`, as many as may be explored.
    std::vector<std::int32_t> others;
    for (std::size_t i = 0; i < is_plain.size(); ++i)
        if (!is_plain[i]) others.push_back(static_cast<std::int32_t>(i));
    const std::size_t budget =
        std::min(others.size(), static_cast<std::size_t>(config_.max_explore));
    keep_top(estimates, config_.ties_by_width, budget, others);
    out.assign(plain.begin(), plain.end());
    out.insert(out.end(), others.begin(), others.end());
    keep_best(estimates, max_size, out);
}

}  // namespace tagalong
