// The reader-writer lock of a model, which is not left locked in a forked process.
#pragma once

#include <shared_mutex>

namespace tagalong {

// fork() copies a lock, but not the thread that holds it: the copy would stay locked forever, and
// the model could be halfway through a change. Therefore fork() waits until no thread changes a
// model, and the new process begins with unlocked models. A change that takes longer than
// kForkPatience is left alone; the new process then throws std::runtime_error when it uses the
// model.
//
// A thread that holds the lock for writing must neither fork nor wait for the GIL: the thread that
// forks holds it.
class ModelMutex {
  public:
    ModelMutex();
    ~ModelMutex();
    ModelMutex(const ModelMutex&) = delete;
    ModelMutex& operator=(const ModelMutex&) = delete;

    void lock() {
        check_usable();
        mutex_.lock();
    }
    void unlock() { mutex_.unlock(); }
    void lock_shared() {
        check_usable();
        mutex_.lock_shared();
    }
    void unlock_shared() { mutex_.unlock_shared(); }

  private:
    friend class ForkGuard;

    void check_usable() const {
        if (is_abandoned_) throw_abandoned();
    }
    [[noreturn]] static void throw_abandoned();

    std::shared_mutex mutex_;
    bool is_abandoned_ = false;     // a thread that does not exist here was changing the model
    bool is_held_by_fork_ = false;  // between the two halves of fork()
    ModelMutex* previous_ = nullptr;
    ModelMutex* next_ = nullptr;  // all locks of the process, as a list
};

}  // namespace tagalong
