#include "race/standings.hpp"

#include <algorithm>

namespace tagalong {

void Standings::remove(std::size_t contestant) {
    const std::size_t n = size();
    std::vector<double> squares;
    for (std::size_t e = 0; e < n; ++e)
        for (std::size_t f = 0; f < n; ++f)
            if (e != contestant && f != contestant) squares.push_back(squares_[e * n + f]);
    squares_ = std::move(squares);
    gain_.erase(gain_.begin() + static_cast<std::ptrdiff_t>(contestant));
    total_.erase(total_.begin() + static_cast<std::ptrdiff_t>(contestant));
}

void Standings::observe(std::span<const double> gains) {
    const std::size_t n = size();
    rounds_ += 1;
    for (std::size_t e = 0; e < n; ++e) {
        gain_[e] = kDiscount * gain_[e] + gains[e];
        total_[e] += gains[e];
        for (std::size_t f = 0; f < n; ++f) {
            const double difference = gains[e] - gains[f];
            squares_[e * n + f] += difference * difference;
        }
    }
}

void Standings::weights(std::vector<double>& out) const {
    const std::size_t n = size();
    const double remembered = (1 - std::pow(kDiscount, rounds_)) / (1 - kDiscount);
    const double rate = std::sqrt(8 * std::log(static_cast<double>(n)) / std::max(1.0, remembered));
    const double best = n > 0 ? gain_[leader()] : 0;
    out.resize(n);
    double sum = 0;
    for (std::size_t e = 0; e < n; ++e) sum += out[e] = std::exp(rate * (gain_[e] - best));
    for (double& weight : out) weight /= sum;
}

Standings::Difference Standings::difference(std::size_t e, std::size_t f) const {
    const double mean = (total_[e] - total_[f]) / rounds_;
    const double variance = std::max(0.0, squares_[e * size() + f] / rounds_ - mean * mean);
    return {mean, std::sqrt(variance / rounds_)};
}

double Standings::lead(std::size_t e, std::size_t f) const {
    const auto [mean, error] = difference(e, f);
    return error > 0 ? mean / error : 0;
}

double Standings::largest_difference(std::size_t e, std::size_t f) const {
    const auto [mean, error] = difference(e, f);
    return std::abs(mean) + 2 * error;
}

std::size_t Standings::leader() const {
    return static_cast<std::size_t>(std::max_element(gain_.begin(), gain_.end()) - gain_.begin());
}

void Standings::write(std::vector<double>& out) const {
    out.push_back(rounds_);
    out.insert(out.end(), gain_.begin(), gain_.end());
    out.insert(out.end(), total_.begin(), total_.end());
    out.insert(out.end(), squares_.begin(), squares_.end());
}

void Standings::read(StateReader& state, std::size_t contestants) {
    begin_heat(contestants);
    rounds_ = state.number(0, 1e15);
    for (double& gain : gain_) gain = state.number(0, 1 / (1 - kDiscount) + 1);
    for (double& total : total_) total = state.number(0, rounds_ * (1 + 1e-9));
    for (double& square : squares_) square = state.number(0, rounds_ * (1 + 1e-9));
}

}  // namespace tagalong
