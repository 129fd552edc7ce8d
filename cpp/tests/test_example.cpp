// Example: the same numbers in any order and form give the same example.
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "core/example.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::example_test {
namespace {

using Pairs = std::vector<std::pair<std::int32_t, double>>;

Example finished(const Pairs& pairs, Norm norm = Norm::none, double constant = 0) {
    Example x;
    for (const auto& [feature, value] : pairs) x.add(feature, value);
    x.finish(norm, constant);
    return x;
}

void expect(const Example& x, const Pairs& pairs, const Where& where = Where::current()) {
    same(x.size(), pairs.size(), where);
    same(x.value.size(), x.feature.size(), where);
    for (std::size_t i = 0; i < pairs.size() && i < x.size(); ++i) {
        same(x.feature[i], pairs[i].first, where);
        same(bits(x.value[i]), bits(pairs[i].second), where);
    }
}

const Test sorted{"example: sorted by feature", [] {
                      expect(finished({{5, 1.0}, {2, 2.0}, {9, 3.0}}),
                             {{2, 2.0}, {5, 1.0}, {9, 3.0}});
                      expect(finished({{2, 2.0}, {5, 1.0}}), {{2, 2.0}, {5, 1.0}});
                      expect(finished({}), {});
                  }};

const Test duplicates{"example: duplicates are summed in the order of arrival", [] {
                          expect(finished({{4, 1.0}, {1, 3.0}, {4, 0.5}}), {{1, 3.0}, {4, 1.5}});
                          expect(finished({{7, 1e16}, {7, 3.0}, {7, -1e16}}), {{7, 4.0}});
                          expect(finished({{7, 1e16}, {7, -1e16}, {7, 3.0}}), {{7, 3.0}});
                      }};

const Test zeros{"example: zeros are dropped, whether given or the result of a sum", [] {
                     expect(finished({{1, 0.0}, {2, 1.0}, {3, -0.0}}), {{2, 1.0}});
                     expect(finished({{1, 2.0}, {2, 1.0}, {1, -2.0}}), {{2, 1.0}});
                     expect(finished({{1, 0.0}}), {});
                     expect(finished({{1, 0.0}}, Norm::euclidean), {});
                     expect(finished({{1, 0.0}}, Norm::largest), {});
                 }};

const Test reuse{"example: an example can be cleared and reused", [] {
                     Example x = finished({{5, 1.0}, {2, 2.0}, {5, 1.0}}, Norm::none, 1);
                     x.clear();
                     x.add(3, 1.0);
                     x.add(1, 4.0);
                     x.finish(Norm::none, 0);
                     expect(x, {{1, 4.0}, {3, 1.0}});
                 }};

const Test shuffled{"example: distinct features in any order give the same bits", [] {
                        Random random(1);
                        for (int round = 0; round < 300; ++round) {
                            std::map<std::int32_t, double> distinct;
                            for (int i = random.below(40); i >= 0; --i)
                                distinct[random.below(100)] = random.normal();
                            Pairs pairs(distinct.begin(), distinct.end());
                            for (const Norm norm : {Norm::none, Norm::euclidean, Norm::largest}) {
                                const Example first = finished(pairs, norm, 0.5);
                                Pairs other = pairs;
                                other.emplace_back(200, 0.0);
                                random.shuffle(other);
                                const Example second = finished(other, norm, 0.5);
                                check(first.feature == second.feature, "features differ");
                                same_bits(first.value, second.value);
                            }
                        }
                    }};

const Test euclidean{"example: scaled to unit Euclidean length, tiny and huge values too", [] {
                         Random random(2);
                         for (const double size : {1e-300, 1e-200, 1e-140, 1e-3, 1.0, 1e5, 1e139,
                                                   1e141, 1e200, 1e300}) {
                             const Note note("size ", size);
                             Pairs pairs;
                             for (int i = 0; i < 20; ++i)
                                 pairs.emplace_back(i, size * random.between(0.1, 1));
                             const Example x = finished(pairs, Norm::euclidean);
                             same(x.size(), 20u);
                             double squares = 0;
                             for (const double value : x.value) squares += value * value;
                             near(squares, 1, 1e-14);
                             for (std::size_t i = 1; i < 20; ++i)
                                 near(x.value[i] / x.value[0], pairs[i].second / pairs[0].second,
                                      1e-14 * x.value[i] / x.value[0]);
                         }
                     }};

const Test largest{
    "example: scaled to the largest value", [] {
        for (const double size : {1e-300, 1e-200, 1.0, 1e200, 1e300})
            expect(finished({{1, 0.25 * size}, {2, -size}, {3, 0.5 * size}}, Norm::largest),
                   {{1, (0.25 * size) / size}, {2, -1.0}, {3, (0.5 * size) / size}});
    }};

const Test lengths{"example: the Euclidean length", [] {
                       same(euclidean_length({}), 0.0);
                       same(euclidean_length(std::vector<double>{0.0, 0.0}), 0.0);
                       same(euclidean_length(std::vector<double>{3.0, -4.0}), 5.0);
                       near(euclidean_length(std::vector<double>{3e-200, 4e-200}), 5e-200, 1e-215);
                       near(euclidean_length(std::vector<double>{3e300, 4e300}), 5e300, 1e285);
                       near(euclidean_length(std::vector<double>{1e-170, 1e-160}), 1e-160, 1e-175);
                   }};

const Test constant{"example: the constant feature comes first and is not scaled", [] {
                        expect(finished({{0, 3.0}, {4, 4.0}}, Norm::euclidean, 2),
                               {{kConstantFeature, 2.0}, {0, 3.0 / 5}, {4, 4.0 / 5}});
                        expect(finished({}, Norm::euclidean, 2), {{kConstantFeature, 2.0}});
                        expect(finished({}, Norm::euclidean, 0), {});
                        expect(finished({{3, -2.0}}, Norm::largest, -1),
                               {{kConstantFeature, -1.0}, {3, -1.0}});
                    }};

// In a row with the value 1e150, the value 1e-200 underflows to zero when it is scaled.
const Test vanishing{"example: zeros that appear by scaling are dropped", [] {
                         for (const Norm norm : {Norm::euclidean, Norm::largest})
                             expect(finished({{1, 1e-200}, {2, 1e150}}, norm), {{2, 1.0}});
                     }};

}  // namespace
}  // namespace tagalong::test::example_test
