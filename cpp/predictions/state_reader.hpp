// Reads saved numbers in order, and checks that each is finite and within its range.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

namespace tagalong {

class StateReader {
  public:
    explicit StateReader(std::span<const double> state) : state_(state) {}

    // The next number; the lowest allowed one if it is missing or out of range.
    double number(double least, double most) {
        if (state_.empty() || !(state_.front() >= least && state_.front() <= most)) {
            sound_ = false;
            return least;
        }
        const double value = state_.front();
        state_ = state_.subspan(1);
        return value;
    }
    // The next number, which has to be whole.
    std::int64_t whole(double least, double most) {
        const double value = number(least, most);
        if (value != std::floor(value)) refuse();
        return static_cast<std::int64_t>(value);
    }
    // Marks the state as invalid, because numbers contradict each other.
    void refuse() { sound_ = false; }
    // Whether all numbers so far were there and within their ranges.
    bool sound() const { return sound_; }
    std::span<const double> rest() const { return state_; }

  private:
    std::span<const double> state_;
    bool sound_ = true;
};

}  // namespace tagalong
