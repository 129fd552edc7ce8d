#include "predictions/place_probabilities.hpp"

#include <algorithm>
#include <array>

namespace tagalong {

double pool_increases(std::span<Place> places) {
    struct Pool {
        double sum;
        std::size_t count;
        double mean() const { return sum / static_cast<double>(count); }
    };
    std::array<Pool, kJudgedPlaces> pools;
    std::size_t last = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        Pool pool{places[i].probability, 1};
        while (last > 0 && pools[last - 1].mean() < pool.mean()) {
            --last;
            pool.sum += pools[last].sum;
            pool.count += pools[last].count;
        }
        pools[last++] = pool;
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < last; ++i)
        for (std::size_t j = 0; j < pools[i].count; ++j) places[at++].probability = pools[i].mean();
    return places.back().probability;
}

void make_exclusive(std::span<Place> places, std::size_t labels) {
    if (places.empty()) return;
    const std::size_t head = std::min(labels, kJudgedPlaces);
    const auto tail = static_cast<double>(labels - head);
    std::array<double, kJudgedPlaces + 1>
        share{};  // of places 2 to 10, and of one label after them
    std::array<double, kJudgedPlaces + 1> count{};
    double all = 0;
    for (std::size_t i = 0; i < head; ++i) {
        share[i] = places[i].probability;
        count[i] = 1;
        all += share[i];
    }
    if (tail > 0) {
        share[head] = std::clamp((1 - all) / tail, 0.0, share[head - 1]);
        count[head] = tail;
    }
    const double first = std::max(share[0], (1 + 1e-6) / static_cast<double>(labels));
    const double most = first * (1 - 1e-9);  // the first place stays the only best one
    const std::size_t kinds = head + (tail > 0 ? 1 : 0);
    double rest = 1 - first;  // for the places from `next` on; shares do not increase
    for (std::size_t next = 1; next < kinds; ++next) {
        double weight = 0;
        for (std::size_t i = next; i < kinds; ++i) weight += count[i] * (share[i] + 1e-12);
        const double factor = rest / weight;
        if ((share[next] + 1e-12) * factor <= most) {
            for (std::size_t i = next; i < kinds; ++i) share[i] = (share[i] + 1e-12) * factor;
            rest = 0;
            break;
        }
        share[next] = most;
        rest = std::max(0.0, rest - count[next] * most);
    }
    share[0] = first + rest;
    for (std::size_t i = 0; i < places.size(); ++i)
        places[i].probability = share[std::min(i, head)];
}

}  // namespace tagalong
