// What a learner counts over its rounds. With the complexity of the weights these numbers give the
// dual value: a lower bound on what any fixed weights could have achieved on the stream so far.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tagalong {

struct Certificate {
    std::int64_t rounds = 0;   // since the learner began
    std::int64_t earlier = 0;  // those before the certificate was restarted
    std::int64_t mistakes = 0;
    double loss = 0;          // cumulative hinge loss, weighted
    double gain = 0;          // sum of gamma * mass + entropy
    double curvature = 0;     // B
    double least_weight = 1;  // of the examples so far
    double most_weight = 1;
    std::int64_t solver_rounds = 0;
    std::int64_t solver_iterations = 0;
    std::int64_t solver_most_iterations = 0;

    // A round with an example of this weight, whether or not it has a pair of labels to rank.
    void count_round(double weight) {
        const bool first = rounds == earlier;
        least_weight = first ? weight : std::min(least_weight, weight);
        most_weight = first ? weight : std::max(most_weight, weight);
        ++rounds;
    }
    void count_ranking(double round_curvature, bool mistake, double round_loss) {
        curvature = std::max(curvature, round_curvature);
        mistakes += mistake;
        loss += round_loss;
    }
    // Iterations of an iterative solver; rules in closed form make none.
    void count_solver(std::int64_t iterations) {
        if (iterations == 0) return;
        ++solver_rounds;
        solver_iterations += iterations;
        solver_most_iterations = std::max(solver_most_iterations, iterations);
    }
    // All but the rounds begins anew.
    void restart() {
        Certificate anew;
        anew.rounds = anew.earlier = rounds;
        *this = anew;
    }

    // Every number under its name in files and in Python.
    template <class Counts, class Visit>
    static void fields(Counts& counts, Visit&& visit) {
        visit("rounds", counts.rounds);
        visit("earlier", counts.earlier);
        visit("mistakes", counts.mistakes);
        visit("loss", counts.loss);
        visit("gain", counts.gain);
        visit("curvature", counts.curvature);
        visit("least_weight", counts.least_weight);
        visit("most_weight", counts.most_weight);
        visit("solver_rounds", counts.solver_rounds);
        visit("solver_iterations", counts.solver_iterations);
        visit("solver_most_iterations", counts.solver_most_iterations);
    }
};

}  // namespace tagalong
