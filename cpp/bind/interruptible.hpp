// Loops over rows that release the GIL and stop at Ctrl-C.
#pragma once

#include <cstdint>

namespace tagalong::bind {

// A type-erased function of a row number, so that the loops below are compiled once for all
// functions. The function must outlive the loop.
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

// Calls work(i) for one row after the other.
void for_rows(std::int64_t rows, RowWork work);

// Calls work(i) for all rows on all cores. Requires that results do not depend on the order of the
// rows. Each thread takes the next chunk of rows when it has finished one. The calling thread takes
// part, and checks for Ctrl-C between its chunks.
void for_independent_rows(std::int64_t rows, RowWork work);

}  // namespace tagalong::bind
