// The judgements of rows as arrays for Python.
#pragma once

#include <algorithm>
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
    PlaceArrays(std::size_t rows, std::size_t k) : k_(k), places_(rows * k), facts_(rows) {}

    std::size_t rows() const { return facts_.size(); }
    std::size_t k() const { return k_; }
    const Place& place(std::size_t row, std::size_t i) const { return places_[row * k_ + i]; }

    // Facts about a whole row.
    struct Facts {
        double whole = 0;
        std::int32_t known = 0;
        bool in_runs = false;
    };
    const Facts& facts(std::size_t row) const { return facts_[row]; }

    void write(std::size_t row, const Judgement& judged) {
        std::copy_n(judged.places.begin(), std::min(k_, judged.places.size()),
                    places_.begin() + static_cast<std::ptrdiff_t>(row * k_));
        facts_[row] = {judged.whole, judged.known, judged.in_runs};
    }

    void write_checked(std::size_t row, const Judgement& judged) {
        if (row >= rows()) throw InputError("there is no row " + std::to_string(row));
        write(row, judged);
    }

    // Copies arrays like those that `take` returns.
    template <class V>
    using Table = nb::ndarray<const V, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    void fill(const Table<std::int32_t>& labels, const Table<double>& scores,
              const Table<double>& probabilities, const Table<double>& assured,
              const Table<bool>& chosen, const VectorOf<double>& whole,
              const VectorOf<std::int32_t>& known, const VectorOf<bool>& in_runs) {
        for (const std::size_t size :
             {labels.size(), scores.size(), probabilities.size(), assured.size(), chosen.size()})
            check_size(size, places_.size());
        for (const std::size_t size : {whole.size(), known.size(), in_runs.size()})
            check_size(size, rows());
        for (std::size_t i = 0; i < places_.size(); ++i)
            places_[i] = {labels.data()[i], scores.data()[i], probabilities.data()[i],
                          assured.data()[i], chosen.data()[i]};
        for (std::size_t row = 0; row < rows(); ++row)
            facts_[row] = {whole.data()[row], known.data()[row], in_runs.data()[row]};
    }

    // The arrays by name; the object is empty afterwards.
    nb::typed<nb::dict, nb::str, nb::any> take() {
        nb::typed<nb::dict, nb::str, nb::any> out;
        const auto places = [&](const char* name, auto member) {
            out[name] = column(places_, {rows(), k_}, member);
        };
        places("labels", &Place::label);
        places("scores", &Place::score);
        places("probabilities", &Place::probability);
        places("assured", &Place::assured);
        places("chosen", &Place::chosen);
        out["whole"] = column(facts_, {rows()}, &Facts::whole);
        out["known"] = column(facts_, {rows()}, &Facts::known);
        out["in_runs"] = column(facts_, {rows()}, &Facts::in_runs);
        places_.clear();
        facts_.clear();
        k_ = 0;
        return out;
    }

  private:
    static void check_size(std::size_t given, std::size_t expected) {
        if (given != expected)
            throw InputError("an array of places has " + std::to_string(given) +
                             " numbers instead of " + std::to_string(expected));
    }

    // One member of all entries as an array.
    template <class Entry, class V>
    static NumPy<V> column(const std::vector<Entry>& entries, std::vector<std::size_t> shape,
                           V Entry::* member) {
        Owned<V> out(std::move(shape));
        for (std::size_t i = 0; i < entries.size(); ++i) out.data[i] = entries[i].*member;
        return out.array;
    }

    std::size_t k_;
    std::vector<Place> places_;  // k per row
    std::vector<Facts> facts_;   // one per row
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
