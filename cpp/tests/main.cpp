// Runs the tests: core_tests [part of the name [first step]]. `first` and `step` distribute the
// tests over several processes.
#include <cstdlib>

#include "tests/check.hpp"

int main(int count, char** arguments) {
    const auto number = [&](int index, std::size_t fallback) {
        return count > index ? std::strtoull(arguments[index], nullptr, 10) : fallback;
    };
    return tagalong::test::Registry::instance().run(count > 1 ? arguments[1] : "", number(2, 0),
                                                    number(3, 1));
}
