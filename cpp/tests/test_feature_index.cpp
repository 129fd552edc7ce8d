// FeatureIndex against std::unordered_map.
#include <limits>
#include <unordered_map>

#include "core/feature_index.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::feature_index_test {
namespace {

constexpr std::int32_t kLast = std::numeric_limits<std::int32_t>::max();

// Inserts new ids as a learner would, and compares after every step.
class Twin {
  public:
    void visit(std::int32_t id) {
        const auto known = map_.find(id);
        const std::int32_t row = index_.find(id);
        same(row, known == map_.end() ? FeatureIndex::kAbsent : known->second);
        if (row != FeatureIndex::kAbsent) return;
        const auto next = static_cast<std::int32_t>(map_.size());
        same(index_.insert(id), next);
        map_.emplace(id, next);
    }
    void compare_all() const {
        same(index_.size(), map_.size());
        for (const auto& [id, row] : map_) {
            same(index_.find(id), row);
            same(index_.ids()[static_cast<std::size_t>(row)], id);
        }
    }
    const FeatureIndex& index() const { return index_; }

  private:
    FeatureIndex index_;
    std::unordered_map<std::int32_t, std::int32_t> map_;
};

const Test empty{"feature index: an empty index contains no feature", [] {
                     const FeatureIndex index;
                     same(index.size(), 0u);
                     for (const std::int32_t id : {0, 1, -1, kLast})
                         same(index.find(id), FeatureIndex::kAbsent);
                 }};

const Test ends{"feature index: the first, the last and the constant feature", [] {
                    Twin twin;
                    for (const std::int32_t id :
                         {0, kLast, -1, 1, kLast - 1, std::numeric_limits<std::int32_t>::min()}) {
                        twin.visit(id);
                        twin.visit(id);
                    }
                    twin.compare_all();
                }};

const Test random_ids{"feature index: random ids while the table grows", [] {
                          Random random(1);
                          Twin twin;
                          for (int round = 0; round < 60000; ++round) {
                              const bool wide = random.chance(0.5);
                              twin.visit(wide
                                             ? static_cast<std::int32_t>(random.bits() & 0x7fffffff)
                                             : random.below(20000));
                          }
                          twin.compare_all();
                          for (int round = 0; round < 1000; ++round) {
                              const std::int32_t id = -2 - random.below(1000000);
                              same(twin.index().find(id), FeatureIndex::kAbsent);
                          }
                      }};

const Test neighbours{"feature index: runs of neighbouring ids", [] {
                          Twin twin;
                          for (std::int32_t id = 5000; id >= 0; --id) twin.visit(id);
                          for (std::int32_t id = kLast - 5000; id < kLast; ++id) twin.visit(id);
                          twin.compare_all();
                      }};

// The products of these ids with the multiplier of the hash differ only in the low bits, so they
// share their first slot in every table size of this test. The probe sequence wraps around the end.
const Test collisions{
    "feature index: ids that all collide", [] {
        std::uint32_t inverse = 1;
        for (int step = 0; step < 5; ++step) inverse *= 2 - 2654435769u * inverse;
        same(inverse * 2654435769u, 1u);
        Twin twin;
        for (std::uint32_t low = 0; low < 700; ++low) {
            twin.visit(static_cast<std::int32_t>((0xffff0000u + low) * inverse));
            same(twin.index().find(static_cast<std::int32_t>((0xffff0000u + low + 1) * inverse)),
                 FeatureIndex::kAbsent);
        }
        twin.compare_all();
    }};

}  // namespace
}  // namespace tagalong::test::feature_index_test
