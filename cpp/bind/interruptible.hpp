// Long loops without the GIL that Ctrl-C can end.
#pragma once

#include <cstdint>

namespace tagalong::bind {

// A type-erased function of a row number. The loops below are compiled once, whatever the function does;
// the function must outlive them.
class RowWork {
  public:
    template <class Work>
    RowWork(const Work& work)
        : work_(&work),
          call_([](const void* given, std::int64_t i) { (*static_cast<const Work*>(given))(i); }) {}
    void operator()(std::int64_t i) const { call_(work_, i); }

  private:
    const void* work_;
    void (*call_)(const void*, std::int64_t);
};

// One row after the other.
void for_rows(std::int64_t rows, RowWork work);

// The same on all cores, for rows that have nothing to do with each other: which thread does a row, and
// when, makes no difference to it. Threads take the next few rows when they are done with theirs; the
// calling one takes part, and looks for Ctrl-C in between.
void for_independent_rows(std::int64_t rows, RowWork work);

}  // namespace tagalong::bind
