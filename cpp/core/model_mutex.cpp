#include "core/model_mutex.hpp"

#include <chrono>
#include <mutex>
#include <new>
#include <pthread.h>
#include <stdexcept>
#include <thread>

namespace tagalong {

using namespace std::chrono_literals;

static constexpr auto kForkPatience = 10s;
static constexpr auto kBetweenTries = 50us;

// The list of all locks, and what fork() does with them.
class ForkGuard {
  public:
    // Never destroyed: models can outlive the static objects.
    static ForkGuard& instance() {
        static auto* guard = new ForkGuard;
        return *guard;
    }

    void add(ModelMutex& mutex) {
        const std::lock_guard lock(list_);
        mutex.next_ = first_;
        if (first_ != nullptr) first_->previous_ = &mutex;
        first_ = &mutex;
    }

    void remove(ModelMutex& mutex) {
        const std::lock_guard lock(list_);
        if (mutex.previous_ != nullptr) mutex.previous_->next_ = mutex.next_;
        if (mutex.next_ != nullptr) mutex.next_->previous_ = mutex.previous_;
        if (first_ == &mutex) first_ = mutex.next_;
    }

  private:
    ForkGuard() {
        pthread_atfork([] { instance().before(); }, [] { instance().after_in_parent(); },
                       [] { instance().after_in_child(); });
    }

    void before() {
        list_.lock();
        const auto end = std::chrono::steady_clock::now() + kForkPatience;
        for (ModelMutex* each = first_; each != nullptr; each = each->next_) {
            while (!(each->is_held_by_fork_ = each->mutex_.try_lock_shared())) {
                if (std::chrono::steady_clock::now() >= end) break;
                std::this_thread::sleep_for(kBetweenTries);
            }
        }
    }

    void after_in_parent() {
        for (ModelMutex* each = first_; each != nullptr; each = each->next_) {
            if (each->is_held_by_fork_) each->mutex_.unlock_shared();
            each->is_held_by_fork_ = false;
        }
        list_.unlock();
    }

    // The locks are made anew and not unlocked, since threads that do not exist here may have
    // waited for them.
    void after_in_child() {
        for (ModelMutex* each = first_; each != nullptr; each = each->next_) {
            new (&each->mutex_) std::shared_mutex;
            each->is_abandoned_ |= !each->is_held_by_fork_;
            each->is_held_by_fork_ = false;
        }
        new (&list_) std::mutex;
    }

    std::mutex list_;
    ModelMutex* first_ = nullptr;
};

ModelMutex::ModelMutex() { ForkGuard::instance().add(*this); }

ModelMutex::~ModelMutex() { ForkGuard::instance().remove(*this); }

void ModelMutex::throw_abandoned() {
    throw std::runtime_error(
        "another thread was changing this model when the process was forked, so that its copy here "
        "is incomplete: load the model from a file, or start processes with spawn");
}

}  // namespace tagalong
