// A geometry selected when a learner is constructed.
#pragma once

#include <variant>

#include "geometry/entropic.hpp"
#include "geometry/linear.hpp"

namespace tagalong {

template <class T>
using AnyGeometry = std::variant<LinearGeometry<T>, EntropicGeometry<T>>;

}  // namespace tagalong
