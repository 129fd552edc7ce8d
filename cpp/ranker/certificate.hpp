// Counts over the rounds of a learner. The dual value is D = gain - complexity of the weights. By
// weak duality D is a lower bound of F(w) + C (cumulative loss of w) for every fixed w (P1, Eqs. 3
// and 5).
#pragma once

#include <algorithm>
#include <cstdint>

namespace tagalong {

struct Certificate {
    std::int64_t rounds = 0;   // all rounds of the learner
    std::int64_t earlier = 0;  // rounds before the last restart of the certificate
    std::int64_t mistakes = 0;
    double loss = 0;          // cumulative hinge loss, weighted
    double gain = 0;          // sum of gamma * mass + entropy
    double curvature = 0;     // B, the largest curvature bound of a round
    double least_weight = 1;  // the smallest and the largest weight of an example
    double most_weight = 1;
    std::int64_t solver_rounds = 0;
    std::int64_t solver_iterations = 0;
    std::int64_t solver_most_iterations = 0;
    std::int64_t unsolved = 0;  // rounds in which a solver reached its limit
    // The rankers that were mixed (Mixture), each of which has learnt from scratch; 1 if there was
    // no mixing; 0 if rounds have been learnt since, or before. Then lambda times the mistakes is at
    // most rankers * F(w) + C (loss of w) for every w.
    std::int64_t rankers = 1;

    // Counts a round with an example of this weight, with or without a pair of labels to rank.
    void count_round(double weight) {
        const bool first = rounds == earlier;
        least_weight = first ? weight : std::min(least_weight, weight);
        most_weight = first ? weight : std::max(most_weight, weight);
        ++rounds;
        if (rankers > 1) rankers = 0;
    }
    // Counts the ranking of a round with at least one pair of labels.
    void count_ranking(double round_curvature, bool mistake, double round_loss) {
        curvature = std::max(curvature, round_curvature);
        mistakes += mistake;
        loss += round_loss;
    }
    // Counts the iterations of an iterative solver; closed-form rules have 0.
    void count_solver(std::int64_t iterations, bool solved) {
        unsolved += !solved;
        if (iterations == 0) return;
        ++solver_rounds;
        solver_iterations += iterations;
        solver_most_iterations = std::max(solver_most_iterations, iterations);
    }
    // Whether numbers from a file can be those of a learner.
    bool consistent() const {
        return earlier <= rounds && mistakes <= rounds - earlier && least_weight <= most_weight &&
               least_weight >= 0 && curvature >= 0 && solver_rounds <= rounds - earlier &&
               solver_most_iterations <= solver_iterations && unsolved <= rounds - earlier &&
               rankers >= 0;
    }
    // Resets everything except the number of rounds.
    void restart() {
        Certificate anew;
        anew.rounds = anew.earlier = rounds;
        *this = anew;
    }

    // Visits every number with its name in model files and in Python.
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
        visit("unsolved", counts.unsolved);
    }
};

}  // namespace tagalong
