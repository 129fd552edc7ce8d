// Probabilities of the places of one item that fit together.
#pragma once

#include <span>
#include <vector>

#include "predictions/judgement.hpp"

namespace tagalong {

// Makes the probabilities of at most kJudgedPlaces places not increase with the place, by replacing
// them with means over adjacent places: the closest such sequence, with the same sum. Returns the
// last probability.
double pool_increases(std::span<Place> places);

// Makes the probabilities of exclusive labels sum to 1. `places` has the first of them, at least
// kJudgedPlaces unless there are fewer labels. The first place keeps its probability, unless it is
// below 1 / labels; the others share the rest in proportion, none above the first. Labels after the
// first kJudgedPlaces share what those leave, equally.
void make_exclusive(std::span<Place> places, std::size_t labels);

}  // namespace tagalong
