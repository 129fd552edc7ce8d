// The judgements of rows as arrays for Python.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bind/arrays.hpp"
#include "predictions/judgement.hpp"
#include "predictions/ranking.hpp"

namespace tagalong::bind {

class PlaceArrays {
  public:
    PlaceArrays(std::size_t rows, std::size_t k)
        : rows_(rows),
          k_(k),
          labels_(rows * k, -1),
          scores_(rows * k, 0),
          probabilities_(rows * k, 0),
          assured_(rows * k, 0),
          chosen_(rows * k, 0),
          whole_(rows, 0),
          known_(rows, 0),
          in_runs_(rows, 0) {}

    std::size_t rows() const { return rows_; }
    std::size_t k() const { return k_; }

    void write(std::size_t row, const Judgement& judged) {
        for (std::size_t i = 0; i < std::min(k_, judged.places.size()); ++i) {
            const Place& place = judged.places[i];
            labels_[row * k_ + i] = place.label;
            scores_[row * k_ + i] = place.score;
            probabilities_[row * k_ + i] = place.probability;
            assured_[row * k_ + i] = place.assured;
            chosen_[row * k_ + i] = place.chosen;
        }
        whole_[row] = judged.whole;
        known_[row] = judged.known;
        in_runs_[row] = judged.in_runs;
    }

    void write_checked(std::size_t row, const Judgement& judged) {
        if (row >= rows_) throw InputError("there is no row " + std::to_string(row));
        write(row, judged);
    }

    // The arrays by name; the object is empty afterwards.
    nb::typed<nb::dict, nb::str, nb::any> take() {
        nb::typed<nb::dict, nb::str, nb::any> out;
        const std::vector<std::size_t> places = {rows_, k_}, row = {rows_};
        out["labels"] = adopted_as<std::int32_t>(std::move(labels_), places);
        out["scores"] = adopted_as<double>(std::move(scores_), places);
        out["probabilities"] = adopted_as<double>(std::move(probabilities_), places);
        out["assured"] = adopted_as<double>(std::move(assured_), places);
        out["chosen"] = adopted_as<bool>(Flags(std::move(chosen_)), places);
        out["whole"] = adopted_as<double>(std::move(whole_), row);
        out["known"] = adopted_as<std::int32_t>(std::move(known_), row);
        out["in_runs"] = adopted_as<bool>(Flags(std::move(in_runs_)), row);
        rows_ = k_ = 0;
        return out;
    }

  private:
    // Bytes 0 and 1, which NumPy reads as bool.
    struct Flags : std::vector<std::uint8_t> {
        explicit Flags(std::vector<std::uint8_t> values)
            : std::vector<std::uint8_t>(std::move(values)) {}
        bool* data() { return reinterpret_cast<bool*>(std::vector<std::uint8_t>::data()); }
    };

    std::size_t rows_, k_;
    std::vector<std::int32_t> labels_;
    std::vector<double> scores_, probabilities_, assured_;
    std::vector<std::uint8_t> chosen_;
    std::vector<double> whole_;
    std::vector<std::int32_t> known_;
    std::vector<std::uint8_t> in_runs_;
};

// The order of labels with equal scores, from counts and last items per label.
using TieArray = std::optional<VectorOf<std::int64_t>>;
inline TieOrder tie_order(const TieArray& count, const TieArray& last, std::size_t labels) {
    if (!count || !last) return {};
    check_row_count(static_cast<std::int64_t>(labels), count->shape(0), "count");
    check_row_count(static_cast<std::int64_t>(labels), last->shape(0), "last");
    return {{count->data(), labels}, {last->data(), labels}};
}

}  // namespace tagalong::bind
