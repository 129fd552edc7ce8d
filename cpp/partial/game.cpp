#include "partial/game.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/errors.hpp"

namespace tagalong {
namespace {

// The best `count` of some labels, in order.
void keep_first(const Standing& standing, bool by_margin, std::size_t count,
                std::vector<std::int32_t>& order) {
    const double* p = standing.probability.data();
    const double* margin = standing.margin.data();
    const auto before = [=](std::int32_t a, std::int32_t b) {
        if (p[a] != p[b]) return p[a] > p[b];
        if (by_margin && margin[a] != margin[b]) return margin[a] > margin[b];
        return a < b;
    };
    constexpr std::size_t kFew = 16;
    if (count > kFew) {
        std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count),
                          order.end(), before);
        order.resize(count);
        return;
    }
    // A few of many, the usual case: most labels are worse than all of the best so far, and pass by.
    std::size_t kept = 0;
    for (std::size_t next = 0; next < order.size() && count > 0; ++next) {
        const std::int32_t label = order[next];
        if (kept == count && !before(label, order[kept - 1])) continue;
        std::size_t at = kept < count ? kept++ : kept - 1;
        for (; at > 0 && before(label, order[at - 1]); --at) order[at] = order[at - 1];
        order[at] = label;
    }
    order.resize(count);
}

}  // namespace

SlotCosts::SlotCosts(std::vector<double> table)
    : kind_(Kind::table), table_(std::move(table)), sizes_(0) {
    std::size_t count = 0;
    while (count < table_.size()) count += ++sizes_;
    if (count != table_.size()) throw InputError("slot costs must be 1 + 2 + ... + n numbers");
}

bool SlotCosts::strictly_decreasing() const {
    if (kind_ != Kind::table) return kind_ == Kind::decreasing;
    for (std::size_t size = 2; size <= sizes_; ++size)
        for (std::size_t place = 1; place < size; ++place)
            if (!((*this)(place, size) > (*this)(place + 1, size))) return false;
    return true;
}

Game::Game(GameConfig config) : config_(std::move(config)) {
    ranking_ = config_.miss_weight == 1 && config_.costs.strictly_decreasing();
}

std::size_t Game::best_size(std::span<const double> sorted) const {
    if (ranking_) return sorted.size();
    std::size_t best = 0;
    double least = 0;
    for (std::size_t size = 1; size <= sorted.size(); ++size) {
        double cost = 0;
        for (std::size_t place = 1; place <= size; ++place)
            cost += wrong(place, size) - stake(place, size) * sorted[place - 1];
        if (cost < least) {
            least = cost;
            best = size;
        }
    }
    return best;
}

void Game::keep_best(const Standing& standing, std::size_t most,
                     std::vector<std::int32_t>& order) const {
    const std::size_t count = std::min({most, order.size(), config_.costs.sizes()});
    keep_first(standing, config_.ties_by_width, count, order);
    std::vector<double> sorted;
    sorted.reserve(count);
    for (const std::int32_t label : order)
        sorted.push_back(standing.probability[static_cast<std::size_t>(label)]);
    order.resize(best_size(sorted));
}

void Game::choose(const Standing& standing, std::size_t most,
                  std::vector<std::int32_t>& out) const {
    out.resize(standing.probability.size());
    std::iota(out.begin(), out.end(), 0);
    keep_best(standing, most, out);
}

void Game::choose_within_budget(const Standing& standing, std::span<const std::int32_t> plain,
                                std::size_t most, std::vector<std::int32_t>& out) const {
    std::vector<char> is_plain(standing.probability.size(), 0);
    for (const std::int32_t label : plain) is_plain[static_cast<std::size_t>(label)] = 1;
    // The likeliest of the others, as many as there may be.
    std::vector<std::int32_t> others;
    for (std::size_t i = 0; i < is_plain.size(); ++i)
        if (!is_plain[i]) others.push_back(static_cast<std::int32_t>(i));
    const std::size_t budget =
        std::min(others.size(), static_cast<std::size_t>(config_.max_explore));
    keep_first(standing, config_.ties_by_width, budget, others);
    out.assign(plain.begin(), plain.end());
    out.insert(out.end(), others.begin(), others.end());
    keep_best(standing, most, out);
}

}  // namespace tagalong
