// Runs the tests: core_tests [part of their name [first step]]. The last two deal the tests out to
// several processes.
#include <cstdlib>

#include "tests/check.hpp"

int main(int count, char** arguments) {
    const auto number = [&](int place, std::size_t otherwise) {
        return count > place ? std::strtoull(arguments[place], nullptr, 10) : otherwise;
    };
    return tagalong::test::Registry::instance().run(count > 1 ? arguments[1] : "", number(2, 0),
                                                    number(3, 1));
}
