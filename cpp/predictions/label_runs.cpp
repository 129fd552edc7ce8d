#include "predictions/label_runs.hpp"

#include <bit>

#include "predictions/state_reader.hpp"

namespace tagalong {

// SplitMix64: the first random number with this seed.
static std::uint64_t mixed(std::uint64_t seed) {
    std::uint64_t z = seed + 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

static bool any_common(std::span<const int> a, std::span<const int> b) {
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i] == b[j]) return true;
        if (a[i] < b[j]) ++i;
        else ++j;
    }
    return false;
}

double LabelRuns::observe(std::span<const int> labels) {
    double evidence = 1;
    if (answers_ > 0) {
        const bool in_alarm = alarm();
        const bool repeats = any_common(labels, previous_);
        std::uint64_t slots = 0;
        for (const int label : labels)
            if (static_cast<std::size_t>(label) < slots_with_.size()) slots |= slots_with_[label];
        const auto sampled = static_cast<double>(std::min<std::int64_t>(answers_, kSampled));
        const double chance = (std::popcount(slots) + 0.5) / (sampled + 1);
        observed_ = kFade * observed_ + (repeats ? 1 : 0);
        expected_ = kFade * expected_ + chance;
        total_ = kFade * total_ + 1;
        variance_ = kFade * kFade * variance_ + chance * (1 - chance);
        if (in_alarm && repeats) evidence = odds();
        quiet_ = alarm() ? 0 : std::min(quiet_ + 1, kQuiet);
    }
    sample(labels);
    previous_.assign(labels.begin(), labels.end());
    ++answers_;
    return evidence;
}

// Reservoir sampling: after n answers each of them is in the sample with the same probability.
void LabelRuns::sample(std::span<const int> labels) {
    auto slot = static_cast<std::uint64_t>(answers_);
    if (slot >= kSampled) slot = mixed(slot) % (slot + 1);
    if (slot >= kSampled) return;
    for (const int label : sampled_[slot]) slots_with_[label] &= ~(std::uint64_t{1} << slot);
    sampled_[slot].assign(labels.begin(), labels.end());
    mark(slot);
}

void LabelRuns::mark(std::size_t slot) {
    for (const int label : sampled_[slot]) {
        if (static_cast<std::size_t>(label) >= slots_with_.size()) slots_with_.resize(label + 1, 0);
        slots_with_[label] |= std::uint64_t{1} << slot;
    }
}

void LabelRuns::select(const Selection& selection, std::size_t labels_before) {
    const auto targets = selection.targets(labels_before);
    const auto renumber = [&](std::vector<int>& labels) {
        for (int& label : labels) label = targets[label];
        std::erase(labels, -1);
        std::sort(labels.begin(), labels.end());
        labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    };
    renumber(previous_);
    slots_with_.clear();
    for (std::size_t slot = 0; slot < kSampled; ++slot) {
        renumber(sampled_[slot]);
        mark(slot);
    }
}

void LabelRuns::write(std::vector<double>& out) const {
    out.insert(out.end(), {static_cast<double>(answers_), static_cast<double>(quiet_), observed_,
                           expected_, total_, variance_});
    const auto write_labels = [&](const std::vector<int>& labels) {
        out.push_back(static_cast<double>(labels.size()));
        out.insert(out.end(), labels.begin(), labels.end());
    };
    write_labels(previous_);
    for (const auto& labels : sampled_) write_labels(labels);
}

bool LabelRuns::read(std::span<const double>& state, std::size_t labels) {
    StateReader reader(state);
    const double answers = reader.number(0, 9e15);
    const double quiet = reader.number(0, static_cast<double>(kQuiet));
    const double observed = reader.number(0, 101), expected = reader.number(0, 101);
    const double total = reader.number(0, 101), variance = reader.number(0, 101);
    std::array<std::vector<int>, kSampled + 1> lists;
    for (auto& list : lists) {
        const auto size = static_cast<std::size_t>(reader.number(0, static_cast<double>(labels)));
        for (std::size_t i = 0; i < size && reader.sound(); ++i) {
            list.push_back(static_cast<int>(reader.number(0, static_cast<double>(labels) - 1)));
            if (i > 0 && list[i] <= list[i - 1]) return false;
        }
    }
    if (!reader.sound() || observed > total || expected > total) return false;
    answers_ = static_cast<std::int64_t>(answers);
    quiet_ = static_cast<std::int64_t>(quiet);
    observed_ = observed;
    expected_ = expected;
    total_ = total;
    variance_ = variance;
    previous_ = lists[0];
    slots_with_.clear();
    for (std::size_t slot = 0; slot < kSampled; ++slot) {
        sampled_[slot] = lists[slot + 1];
        mark(slot);
    }
    state = reader.rest();
    return true;
}

}  // namespace tagalong
