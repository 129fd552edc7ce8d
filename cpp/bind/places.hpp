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

    Place place(std::size_t row, std::size_t i) const {
        const std::size_t at = row * k_ + i;
        Place out;
        out.label = labels_[at];
        out.score = scores_[at];
        out.probability = probabilities_[at];
        out.assured = assured_[at];
        out.chosen = chosen_[at] != 0;
        return out;
    }
    void set_place(std::size_t row, std::size_t i, const Place& place) {
        const std::size_t at = row * k_ + i;
        labels_[at] = place.label;
        scores_[at] = place.score;
        probabilities_[at] = place.probability;
        assured_[at] = place.assured;
        chosen_[at] = place.chosen;
    }
    // What is known about whole rows, as Python lists: whole, known, in_runs.
    nb::typed<nb::tuple, nb::typed<nb::list, double>, nb::typed<nb::list, int>,
              nb::typed<nb::list, bool>>
    facts() const {
        nb::list whole, known, in_runs;
        for (std::size_t row = 0; row < rows_; ++row) {
            whole.append(whole_[row]);
            known.append(known_[row]);
            in_runs.append(nb::bool_(in_runs_[row] != 0));
        }
        return nb::make_tuple(whole, known, in_runs);
    }

    void write(std::size_t row, const Judgement& judged) {
        for (std::size_t i = 0; i < std::min(k_, judged.places.size()); ++i)
            set_place(row, i, judged.places[i]);
        whole_[row] = judged.whole;
        known_[row] = judged.known;
        in_runs_[row] = judged.in_runs;
    }

    void write_checked(std::size_t row, const Judgement& judged) {
        if (row >= rows_) throw InputError("there is no row " + std::to_string(row));
        write(row, judged);
    }

    // Copies the arrays that `take` returns.
    template <class V>
    using Table = nb::ndarray<const V, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    void fill(const Table<std::int32_t>& labels, const Table<double>& scores,
              const Table<double>& probabilities, const Table<double>& assured,
              const Table<bool>& chosen, const VectorOf<double>& whole,
              const VectorOf<std::int32_t>& known, const VectorOf<bool>& in_runs) {
        copy(labels, labels_);
        copy(scores, scores_);
        copy(probabilities, probabilities_);
        copy(assured, assured_);
        copy(chosen, chosen_);
        copy(whole, whole_);
        copy(known, known_);
        copy(in_runs, in_runs_);
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
    template <class Array, class Values>
    static void copy(const Array& from, Values& to) {
        if (from.size() != to.size()) throw InputError("an array of places has another size");
        std::copy_n(from.data(), to.size(), to.data());
    }

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
