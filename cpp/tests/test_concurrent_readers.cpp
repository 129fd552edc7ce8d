// Readers with the shared lock and one writer: readers see only complete rounds.
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "core/model_mutex.hpp"
#include "tests/check.hpp"
#include "tests/stream.hpp"

namespace tagalong::test::concurrent_readers_test {
namespace {

template <class T>
struct Sighting {
    std::int64_t rounds = 0;
    std::vector<T> scores;
    std::vector<std::int32_t> order;
};

template <class T>
Sighting<T> look(const LabelRanker<T>& ranker, ModelMutex& mutex,
                 typename LabelRanker<T>::Reader& reader, const Item& probe) {
    reader.x = probe.example();
    ranker.finish(reader.x);
    std::shared_lock lock(mutex);
    const auto scores = ranker.score(reader);
    Sighting<T> seen{ranker.certificate().rounds, {scores.begin(), scores.end()}, {}};
    const auto order = ranker.rank(reader, 5);
    seen.order.assign(order.begin(), order.end());
    return seen;
}

template <class T>
void readers_see_whole_rounds(const RankerConfig& config) {
    constexpr int kRounds = 250, kLooks = 250, kReaders = 3;
    // Labels and features are added during the stream, so rows are widened and added.
    Random random(1);
    std::vector<Item> items;
    for (int i = 0; i < kRounds; ++i)
        items.push_back(random_item(random, {.features = 20 + i, .labels = 4 + i / 5}));
    const Item probe = random_item(random, {.features = 60, .labels = 4, .length = 25});

    LabelRanker<T> ranker(config);
    ModelMutex mutex;
    std::vector<std::vector<Sighting<T>>> seen(kReaders);
    std::vector<std::thread> readers;
    for (auto& own : seen)
        readers.emplace_back([&] {
            typename LabelRanker<T>::Reader reader;
            for (int i = 0; i < kLooks; ++i) {
                own.push_back(look(ranker, mutex, reader, probe));
                std::this_thread::yield();
            }
        });
    for (const Item& item : items) {
        Example x = item.example();
        ranker.finish(x);
        {
            std::unique_lock lock(mutex);
            ranker.learn(x, item.relevant, item.unknown, item.weight);
        }
        std::this_thread::yield();
    }
    for (std::thread& reader : readers) reader.join();

    LabelRanker<T> replay(config);
    typename LabelRanker<T>::Reader reader;
    std::vector<Sighting<T>> expected{look(replay, mutex, reader, probe)};
    for (const Item& item : items) {
        learn(replay, item);
        expected.push_back(look(replay, mutex, reader, probe));
    }
    for (const auto& own : seen) {
        same(own.size(), static_cast<std::size_t>(kLooks));
        std::int64_t last = 0;
        for (const Sighting<T>& observation : own) {
            check(observation.rounds >= last, "a reader saw an earlier round after a later one");
            last = observation.rounds;
            const Sighting<T>& right = expected[static_cast<std::size_t>(observation.rounds)];
            same_bits(observation.scores, right.scores);
            check(observation.order == right.order, "rankings differ");
        }
    }
}

const Test linear_readers{
    "concurrent readers: readers see complete rounds, linear geometries", [] {
        RankerConfig config = config_of(Geometry::adaptive, "smooth");
        config.average = Average::chosen;
        readers_see_whole_rounds<float>(config);
        readers_see_whole_rounds<double>(config_of(Geometry::euclidean, "single"));
    }};

const Test entropic_readers{"concurrent readers: readers see complete rounds, entropic geometry",
                            [] {
                                RankerConfig config = config_of(Geometry::entropic, "single");
                                config.C = 10;
                                readers_see_whole_rounds<float>(config);
                                readers_see_whole_rounds<double>(config);
                            }};

}  // namespace
}  // namespace tagalong::test::concurrent_readers_test
