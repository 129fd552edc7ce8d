// Runs the tests; with an argument, those that have it in their name.
#include "check.hpp"

int main(int count, char** arguments) {
    return tagalong::test::Registry::instance().run(count > 1 ? arguments[1] : "");
}
