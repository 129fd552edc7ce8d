// Options of a round: whether it is judged, and where its prediction goes.
#pragma once

#include "predictions/judgement.hpp"

namespace tagalong {

template <class T>
struct RoundOptions {
    // How many items the answer stands for when confidence, cut-off and blend learn from it. 0: the
    // round changes weights only, because its item was seen before.
    double stands_for = 1;
    // If not null: receives the scores before the round; -infinity for new labels.
    T* scores = nullptr;
    // If not null: receives the judgement before the round; unchanged if the round is not judged.
    Judgement* judgement = nullptr;
};

}  // namespace tagalong
