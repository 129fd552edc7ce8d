// The interface of the native learners, and its Python methods: weights, state, restore, bytes.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <cstddef>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <type_traits>

#include "bind/arrays.hpp"
#include "bind/saved_state.hpp"
#include "core/model_mutex.hpp"

namespace tagalong::bind {

// The prediction weights: the stored features (-1 is the constant feature), their weights, and the
// weights of a feature that is not stored.
struct FeatureWeights {
    NumPy<std::int32_t> features;
    NumPy<> weights;
    std::optional<NumPy<>> unseen;
};

// The dictionaries "arrays" and "numbers", as in model files.
using State = nb::typed<nb::dict, nb::str, nb::typed<nb::dict, nb::str, nb::any>>;

// Base class of the native learners. Its methods are bound to Python once and not once per learner,
// so that they are compiled once. Callers of the functions below hold the lock.
class AnyLearner {
  public:
    virtual ~AnyLearner() = default;
    virtual ModelMutex& mutex() const = 0;
    virtual FeatureWeights weights() const = 0;
    virtual void write(nb::dict& arrays, nb::dict& numbers) const = 0;
    virtual void read(const SavedState& saved) = 0;
    virtual std::size_t bytes() const = 0;
    // The rounds whose solver reached its limit since the learner was made or loaded.
    virtual std::int64_t unsolved_rounds() const = 0;
};

// Implements the interface for a learner of the core by the functions weights_of, write_state,
// read_state and bytes_of, which are overloaded for every learner. The interface must be the first
// base class: nanobind uses the address of a learner as the address of its interface.
template <class Learner, class Interface = AnyLearner>
class Bound : public Interface, public Learner {
  public:
    using Learner::Learner;

    ModelMutex& mutex() const override { return mutex_; }
    FeatureWeights weights() const override { return weights_of(*this); }
    void write(nb::dict& arrays, nb::dict& numbers) const override {
        write_state(*this, arrays, numbers);
    }
    void read(const SavedState& saved) override { read_state(*this, saved); }
    std::size_t bytes() const override { return bytes_of(*this); }
    std::int64_t unsolved_rounds() const override {
        if constexpr (requires { Learner::unsolved(); }) return Learner::unsolved();
        else return 0;
    }

  private:
    // Learners have none themselves: a race makes contestants while fork() waits for its lock, and
    // a new lock would wait for fork().
    mutable ModelMutex mutex_;
};

// Each learner class has a different type of certificate.
template <class Learner, class Interface>
void add_certificate(nb::class_<Learner, Interface>& type) {
    type.def("certificate", [](const Learner& self) {
        std::shared_lock lock(self.mutex());
        return certificate_of(self);
    });
}

// A class with a read-only attribute for each field that the struct names.
template <class Facts>
nb::class_<Facts> add_facts(nb::module_& module, const char* name) {
    nb::class_<Facts> type(module, name);
    const Facts probe{};
    const auto* begin = reinterpret_cast<const char*>(&probe);
    Facts::fields(probe, [&](const char* field, const auto& value) {
        using Value = std::remove_cvref_t<decltype(value)>;
        const auto offset = reinterpret_cast<const char*>(&value) - begin;
        type.def_prop_ro(field, [offset](const Facts& facts) {
            return *reinterpret_cast<const Value*>(reinterpret_cast<const char*>(&facts) + offset);
        });
    });
    return type;
}

}  // namespace tagalong::bind
