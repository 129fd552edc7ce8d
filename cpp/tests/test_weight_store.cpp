// WeightStore: rows start at zero, never move in memory, and keep their numbers when labels are
// added.
#include <cstdint>
#include <vector>

#include "core/weight_store.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::weight_store_test {
namespace {

template <class T>
bool aligned(const T* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % kCacheLine == 0;
}

// A number that identifies row, plane and label, and that a float represents exactly.
template <class T>
T mark(std::size_t row, std::size_t plane, std::size_t label) {
    return static_cast<T>(1 + row * 4099 + plane * 2053 + label);
}

template <class T>
void fill(WeightStore<T>& store, std::size_t from_row, std::size_t from_label) {
    for (std::size_t r = 0; r < store.rows(); ++r)
        for (std::size_t plane = 0; plane < store.planes(); ++plane)
            for (std::size_t y = r < from_row ? from_label : 0; y < store.labels(); ++y)
                store.row(static_cast<std::int32_t>(r), plane)[y] = mark<T>(r, plane, y);
}

// Checks for marks in the first `labels` columns, and zeros from there to the end of the row.
template <class T>
void expect_marks(const WeightStore<T>& store, std::size_t rows, std::size_t labels) {
    for (std::size_t r = 0; r < store.rows(); ++r)
        for (std::size_t plane = 0; plane < store.planes(); ++plane) {
            const T* row = store.row(static_cast<std::int32_t>(r), plane);
            check(aligned(row), "a row does not start at a cache line");
            for (std::size_t y = 0; y < store.stride(); ++y)
                same(row[y], r < rows && y < labels ? mark<T>(r, plane, y) : T(0));
        }
}

template <class T>
void rows_start_at_zero(std::size_t planes, std::size_t labels) {
    const Note note("planes ", planes, ", labels ", labels);
    WeightStore<T> store(planes);
    same(store.bytes(), 0u);
    store.add_labels(labels);
    same(store.labels(), labels);
    same(store.stride(), padded<T>(labels));
    same(store.stride() * sizeof(T) % kCacheLine, 0u);
    for (int i = 0; i < 50; ++i) {
        same(store.find(7 * i), FeatureIndex::kAbsent);
        same(store.insert(7 * i), i);
        same(store.find(7 * i), i);
    }
    same(store.rows(), 50u);
    same(store.features()[49], 343);
    same(store.bytes(), 50 * planes * store.stride() * sizeof(T));
    expect_marks(store, 0, 0);
}

const Test zeroed{"weight store: rows start at zero, aligned, in every plane", [] {
                      for (const std::size_t planes : {1u, 2u, 3u})
                          for (const std::size_t labels : {1u, 7u, 8u, 16u, 17u, 100u}) {
                              rows_start_at_zero<float>(planes, labels);
                              rows_start_at_zero<double>(planes, labels);
                          }
                  }};

const Test no_overlap{"weight store: rows and planes do not overlap", [] {
                          WeightStore<float> store(3);
                          store.add_labels(33);
                          for (int i = 0; i < 40; ++i) store.insert(i);
                          fill(store, 0, 0);
                          expect_marks(store, 40, 33);
                      }};

// 80,000 rows of 1 kB are several chunks.
const Test stable{"weight store: a new row never moves existing rows in memory", [] {
                      WeightStore<double> store(2);
                      store.add_labels(64);
                      std::vector<double*> place;
                      for (int i = 0; i < 80000; ++i) {
                          const std::int32_t row = store.insert(3 * i);
                          place.push_back(store.row(row));
                          if (i % 100 == 0) place.back()[63] = i + 1;
                      }
                      for (int i = 0; i < 80000; ++i) {
                          check(store.row(i) == place[static_cast<std::size_t>(i)],
                                "a row has moved");
                          check(store.row(i, 1) == store.row(i) + store.stride(),
                                "the second plane does not follow the first");
                          if (i % 100 == 0) same(store.row(i)[63], i + 1);
                      }
                  }};

template <class T>
void widening_keeps_numbers(std::size_t planes) {
    const Note note("planes ", planes);
    Random random(planes);
    WeightStore<T> store(planes);
    store.add_labels(3);
    std::size_t rows = 0, labels = 3;
    for (int round = 0; round < 12; ++round) {
        for (int i = 0; i < 20; ++i) store.insert(static_cast<std::int32_t>(store.rows()) * 5 + 1);
        const auto count = static_cast<std::size_t>(random.below(30));
        store.add_labels(count);
        expect_marks(store, rows, labels);
        fill(store, rows, labels);
        rows = store.rows();
        labels += count;
        same(store.labels(), labels);
        for (std::size_t r = 0; r < rows; ++r)
            same(store.find(static_cast<std::int32_t>(r) * 5 + 1), static_cast<std::int32_t>(r));
    }
    expect_marks(store, rows, labels);
}

const Test widening{"weight store: new labels keep every number of every plane", [] {
                        widening_keeps_numbers<float>(1);
                        widening_keeps_numbers<float>(2);
                        widening_keeps_numbers<double>(1);
                        widening_keeps_numbers<double>(2);
                    }};

const Test declared{"weight store: labels declared in advance take no spare memory", [] {
                        WeightStore<float> store(1);
                        store.add_labels(10);
                        store.add_labels(91);
                        same(store.stride(), padded<float>(101));
                    }};

const Test amortised{"weight store: labels added one at a time rarely reallocate the rows", [] {
                         WeightStore<float> store(1);
                         store.add_labels(1);
                         store.insert(0);
                         int widenings = 0;
                         std::size_t stride = store.stride();
                         for (int label = 1; label < 20000; ++label) {
                             store.row(0)[label - 1] = static_cast<float>(label);
                             store.add_labels(1);
                             widenings += store.stride() != stride;
                             stride = store.stride();
                             at_most(static_cast<double>(stride), 1.5 * label + 48);
                         }
                         at_most(widenings, 24);
                         for (int label = 1; label < 20000; ++label)
                             same(store.row(0)[label - 1], static_cast<float>(label));
                     }};

const Test rows_first{"weight store: rows may be added before labels", [] {
                          WeightStore<double> store(2);
                          for (int i = 0; i < 30; ++i) same(store.insert(i), i);
                          same(store.bytes(), 0u);
                          store.add_labels(5);
                          expect_marks(store, 0, 0);
                          fill(store, 0, 0);
                          expect_marks(store, 30, 5);
                      }};

const Test long_rows{"weight store: rows longer than a chunk", [] {
                         constexpr std::size_t labels = 5'000'000;  // 40 MB per row
                         WeightStore<double> store(1);
                         store.add_labels(labels);
                         store.insert(0);
                         store.insert(1);
                         store.row(0)[labels - 1] = 1;
                         store.row(1)[0] = 2;
                         same(store.row(0)[labels - 1], 1.0);
                         same(store.row(1)[labels - 1], 0.0);
                     }};

}  // namespace
}  // namespace tagalong::test::weight_store_test
