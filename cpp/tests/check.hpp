// A minimal test framework. A test is a constant at namespace scope,
//
//     const Test adds{"numbers: one and one make two", [] { same(1 + 1, 2); }};
//
// A failed check prints its location, the values, and the active notes. The test continues.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <source_location>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tagalong::test {

using Where = std::source_location;

class Registry {
  public:
    static Registry& instance() {
        static Registry registry;
        return registry;
    }

    void add(const char* name, void (*run)()) { tests_.push_back({name, run}); }

    // Runs every `step`th test from index `first` on whose name contains `part`. Returns the exit
    // code of the program.
    int run(std::string_view part, std::size_t first, std::size_t step) {
        int passed = 0, failed = 0;
        for (std::size_t index = first; index < tests_.size(); index += step) {
            const Entry& test = tests_[index];
            if (std::string_view(test.name).find(part) == std::string_view::npos) continue;
            name_ = test.name;
            failures_ = 0;
            try {
                test.run();
            } catch (const std::exception& error) {
                fail(std::string("unexpected exception: ") + error.what(), Where::current());
            }
            if (failures_ > kShown) std::printf("  ... %d failed checks in total\n", failures_);
            ++(failures_ == 0 ? passed : failed);
        }
        std::printf("%d passed, %d failed\n", passed, failed);
        return failed == 0 && passed > 0 ? 0 : 1;
    }

    void fail(const std::string& message, const Where& where) {
        if (failures_++ == 0) std::printf("FAILED %s\n", name_);
        if (failures_ > kShown) return;
        std::printf("  %s:%u: %s\n", where.file_name(), static_cast<unsigned>(where.line()),
                    message.c_str());
        for (const std::string& note : notes_) std::printf("    with %s\n", note.c_str());
        std::fflush(stdout);
    }

    std::vector<std::string>& notes() { return notes_; }

  private:
    struct Entry {
        const char* name;
        void (*run)();
    };
    static constexpr int kShown = 5;

    std::vector<Entry> tests_;
    std::vector<std::string> notes_;
    const char* name_ = "";
    int failures_ = 0;
};

struct Test {
    Test(const char* name, void (*run)()) { Registry::instance().add(name, run); }
};

template <class V>
std::string text(const V& value) {
    std::ostringstream out;
    out.precision(17);
    out << value;
    return out.str();
}

// Context that failed checks of the enclosing block print: Note note("round ", 3, ", C ", 0.1).
class Note {
  public:
    template <class... Parts>
    explicit Note(const Parts&... parts) {
        Registry::instance().notes().push_back((text(parts) + ...));
    }
    ~Note() { Registry::instance().notes().pop_back(); }
    Note(const Note&) = delete;
    Note& operator=(const Note&) = delete;
};

inline void check(bool condition, std::string_view message, const Where& where = Where::current()) {
    if (!condition) Registry::instance().fail(std::string(message), where);
}

template <class A, class B>
void same(const A& actual, const B& expected, const Where& where = Where::current()) {
    if (!(actual == expected)) check(false, text(actual) + " instead of " + text(expected), where);
}

// Checks that two numbers differ by at most `distance`; fails for NaN.
inline void near(double actual, double expected, double distance,
                 const Where& where = Where::current()) {
    if (actual == expected || std::abs(actual - expected) <= distance) return;
    check(false,
          text(actual) + " instead of " + text(expected) + ", off by " + text(actual - expected) +
              ", allowed " + text(distance),
          where);
}

inline void at_most(double actual, double bound, const Where& where = Where::current()) {
    if (!(actual <= bound)) check(false, text(actual) + " exceeds " + text(bound), where);
}

template <class V>
auto bits(V value) {
    return std::bit_cast<std::conditional_t<sizeof(V) == 4, std::uint32_t, std::uint64_t>>(value);
}

template <class V>
void same_bits(std::span<const V> actual, std::span<const V> expected,
               const Where& where = Where::current()) {
    if (actual.size() != expected.size()) {
        check(false, text(actual.size()) + " numbers instead of " + text(expected.size()), where);
        return;
    }
    for (std::size_t i = 0; i < actual.size(); ++i)
        if (bits(actual[i]) != bits(expected[i])) {
            check(false, text(actual[i]) + " instead of " + text(expected[i]) + " at " + text(i),
                  where);
            return;
        }
}
template <class V>
void same_bits(const std::vector<V>& actual, const std::vector<V>& expected,
               const Where& where = Where::current()) {
    same_bits(std::span<const V>(actual), std::span<const V>(expected), where);
}

template <class Error, class Action>
void throws(Action&& action, std::string_view message, const Where& where = Where::current()) {
    try {
        action();
    } catch (const Error& error) {
        same(std::string_view(error.what()), message, where);
        return;
    }
    check(false, "no exception; expected: " + std::string(message), where);
}

}  // namespace tagalong::test
