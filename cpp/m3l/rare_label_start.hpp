// A start for labels that are rarely relevant. The problem of such a label is nearly that of a label
// which is never relevant, and if labels differ in nothing else, that one is the same for all of them:
// it is solved once. Each rare label starts with its dual variables, or a share of them where the
// prior couples labels, and with zero on its few relevant rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "m3l/linear_task.hpp"

namespace tagalong::m3l {

template <class T>
class RareLabelStart {
  public:
    explicit RareLabelStart(const LinearTask<T>& task) : task_(task), problem_(task.problem) {}

    // Sets dual variables of the solution that are all zero.
    void set() {
        if (problem_.tied) return;  // the loss differs between labels
        find_rare();
        if (!model_ ||
            static_cast<std::size_t>(std::count(rare_.begin(), rare_.end(), 1)) < kFewest)
            return;
        const std::vector<T> never = solve_never_relevant();
        const std::vector<double> share = shares_of(never);
        for (std::size_t place = 0; place < task_.ordered().size(); ++place) {
            const std::int32_t label = task_.ordered()[place];
            if (!rare_[label]) continue;
            T* const dual = task_.place_dual(place);
            const auto part = static_cast<T>(share[label]);
            for (std::size_t i = 0; i < never.size(); ++i) dual[i * kLanes] = part * never[i];
        }
        clear_relevant();
    }

  private:
    static constexpr double kRare = 0.1;  // of the rows: a label relevant for fewer is rare
    static constexpr std::size_t kFewest = kLanes;  // labels for which the start pays
    static constexpr int kRoundsOfShares = 20;

    bool alike(std::size_t l, std::size_t k) const {
        return problem_.margin_no[l] == problem_.margin_no[k] &&
               problem_.bound_no[l] == problem_.bound_no[k] && problem_.r(l, l) == problem_.r(k, k);
    }

    // The rare labels of known relevance that are like the first of them, the model.
    void find_rare() {
        std::vector<std::size_t> relevant(problem_.labels, 0);
        rare_.assign(problem_.labels, 1);
        for (const std::int32_t label : problem_.relevant.label) ++relevant[label];
        for (const std::int32_t label : problem_.unknown.label) rare_[label] = 0;
        const double fewer = kRare * static_cast<double>(task_.rows.size());
        for (const std::int32_t label : task_.ordered()) {
            const auto l = static_cast<std::size_t>(label);
            rare_[l] &= static_cast<double>(relevant[l]) < fewer;
            if (!rare_[l]) continue;
            if (!model_) model_ = label;
            rare_[l] = alike(l, static_cast<std::size_t>(*model_));
        }
    }

    // The dual variables of the model if it were never relevant. They are found in the memory of a block
    // that has not begun.
    std::vector<T> solve_never_relevant() const {
        T* const dual = task_.block_dual(task_.blocks() - 1);
        BlockSpace<T> space(task_.rows.features());
        Block<T> block = task_.block_of(std::span(&*model_, 1), dual, space);
        block.forget_relevant();
        Shuffle shuffle = task_.shuffle(task_.blocks());
        Standing standing;
        block.solve(task_.settings.tolerance, task_.settings.most_passes, shuffle, task_.progress,
                    standing);
        std::vector<T> out(task_.rows.size());
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = dual[i * kLanes];
        std::fill_n(dual, task_.rows.size() * kLanes, T{0});
        return out;
    }

    // Labels that the prior couples would together have too much of it: how much each takes, from none to
    // all. If label l has s_l of the variables b, the dual objective is a sum_l s_l - c s'R s / 2 with
    // a = t'b and c = 4 |v|^2, of which coordinate steps find nearly the maximum.
    std::vector<double> shares_of(const std::vector<T>& never) const {
        std::vector<double> share(rare_.begin(), rare_.end());
        if (!problem_.coupled()) return share;
        const double gain = gain_of(never), curvature = curvature_of(never);
        for (int round = 0; round < kRoundsOfShares; ++round)
            for (std::size_t l = 0; l < share.size(); ++l) {
                if (!rare_[l]) continue;
                double pulled = 0;
                for (std::size_t k = 0; k < share.size(); ++k)
                    pulled += problem_.r(l, k) * share[k];
                const double steep = curvature * problem_.r(l, l);
                if (steep > 0)
                    share[l] = std::clamp(share[l] + (gain - curvature * pulled) / steep, 0.0, 1.0);
            }
        return share;
    }
    // a = t'b.
    double gain_of(const std::vector<T>& dual) const {
        double sum = 0;
        for (const T each : dual)
            sum -=
                problem_.margin_no[static_cast<std::size_t>(*model_)] * static_cast<double>(each);
        return sum;
    }
    // c = 4 |v|^2.
    double curvature_of(const std::vector<T>& dual) const {
        AlignedVector<double> v(task_.rows.features(), 0.0);
        for (std::size_t i = 0; i < dual.size(); ++i)
            std::visit(
                [&](const auto& rows) { rows.add_to(i, static_cast<double>(dual[i]), v.data()); },
                task_.rows.any());
        double curvature = 0;
        for (const double each : v) curvature += 4 * each * each;
        return curvature;
    }

    void clear_relevant() const {
        for (std::size_t i = 0; i < task_.rows.size(); ++i)
            for (const std::int32_t label : problem_.relevant.row(i))
                if (rare_[label])
                    task_.place_dual(
                        static_cast<std::size_t>(task_.solution.place[label]))[i * kLanes] = T{0};
    }

    const LinearTask<T>& task_;
    const Problem& problem_;
    std::vector<char> rare_;             // per label
    std::optional<std::int32_t> model_;  // the label whose problem stands for that of the others
};

}  // namespace tagalong::m3l
