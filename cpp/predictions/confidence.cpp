#include "predictions/confidence.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/score_kernels.hpp"
#include "predictions/place_probabilities.hpp"

namespace tagalong {

namespace {

constexpr double kFewAnswers = 10;     // fewer answers of a kind are no evidence
constexpr std::int64_t kNoticed = 20;  // answers after which one label per item is noticed
// The first place learns from every answer. The others, and the chance of the whole answer, learn
// from all of the first answers, then from a sample: they matter less and cost as much.
constexpr std::int64_t kAllPlaces = 1000;
constexpr std::int64_t kSampleOfRest = 8;
// Probabilities follow the outcomes in steps of this many answers, those of further places in steps
// of four times as many.
constexpr std::int64_t kEarlyAnswers = 512;
constexpr std::int64_t kEarlyStep = 4;
constexpr std::int64_t kStep = 16;

double logit_of(double share, double least) {
    const double clipped = std::clamp(share, least, 1 - least);
    return std::log(clipped / (1 - clipped));
}

bool contains(std::span<const int> sorted, std::int32_t label) {
    return std::binary_search(sorted.begin(), sorted.end(), label);
}

std::size_t known_bucket(std::int32_t known) {
    return static_cast<std::size_t>(std::bit_width(static_cast<std::uint32_t>(known)));
}

// The lowest score of type T that reaches a cut-off in double precision.
template <class T>
T lowest_chosen(double cutoff) {
    auto bound = static_cast<T>(cutoff);
    if (static_cast<double>(bound) < cutoff)
        bound = std::nextafter(bound, std::numeric_limits<T>::infinity());
    return bound;
}

}  // namespace

// The numbers after the score and the gap are logarithms and shares. Where they hardly vary, as
// with rows that all have the same number of features, small differences mean little. Knowing fewer
// features of an item never makes a suggestion more likely right.
Confidence::Confidence(OneLabel one_label, const Caution& caution)
    : one_label_(one_label), caution_(caution) {
    constexpr double any = -1e9;
    rules_.fill(
        Rule({{0, 0, 0.01, 0.01, 0.01, 0.01, 0.01}, {any, any, any, any, any, any, 0}}, caution));
}

bool Confidence::has_one_label() const {
    if (one_label_ != OneLabel::noticed) return one_label_ == OneLabel::yes;
    return single_ >= kNoticed && several_ == 0;
}

template <class T>
Confidence::ItemNumbers Confidence::describe_item(const ScoredItem<T>& item) {
    const auto n = static_cast<double>(item.scores.size());
    const auto [sum, squares] = kernels::moments(item.scores.data(), item.scores.size());
    const double mean = sum / n;
    const double deviation = std::sqrt(std::max(0.0, squares / n - mean * mean));
    return {0, mean, 1 / std::max(deviation, 1e-9), std::log1p(static_cast<double>(item.known))};
}

Confidence::Rule::Numbers Confidence::describe_label(std::size_t rule, std::int32_t label,
                                                     double score, double gap,
                                                     const ItemNumbers& item) const {
    const PlaceHistory& history = history_[rule];
    const auto at = static_cast<std::size_t>(label);
    const Suggested suggested = at < history.labels.size() ? history.labels[at] : Suggested{};
    const double share = (static_cast<double>(suggested.right) + 4 * history.share.value) /
                         (static_cast<double>(suggested.count) + 4);
    const double occurrences = at < occurrences_.size() ? occurrences_[at] : 0;
    return {score,
            gap,
            (score - item.mean) * item.inverse_deviation,
            logit_of(share, 0.005),
            history.share.logit,
            std::log1p(occurrences),
            item.log_known};
}

// Describes the labels at the first places of ranked.best.
template <class T>
void Confidence::describe(const ScoredItem<T>& item, std::size_t places, Ranked& ranked) const {
    if (item.scores.empty()) return;
    ItemNumbers numbers = describe_item(item);
    const auto score = [&](std::size_t place) {
        return kernels::to_finite_double(static_cast<double>(item.scores[ranked.best[place]]));
    };
    numbers.first = score(0);
    ranked.described = std::min({places, ranked.best.size(), kPlaces});
    for (std::size_t place = 0; place < ranked.described; ++place) {
        const double here = score(place);
        double gap = numbers.first - here;
        if (place == 0) gap = ranked.best.size() > 1 ? here - score(1) : 0;
        const std::size_t rule = rule_for(place, item.scores.size());
        ranked.numbers[place] = describe_label(rule, ranked.best[place], here, gap, numbers);
        ranked.logit[place] = rules_[rule].logit(ranked.numbers[place]);
    }
}

double Confidence::base_rate(std::int32_t label, std::size_t labels) const {
    const auto at = static_cast<std::size_t>(label);
    const double occurrences = at < occurrences_.size() ? occurrences_[at] : 0;
    // One more answer, shared by the labels and by those that have not occurred yet. Answers that
    // had several of the labels that were merged into one count several times.
    return std::min(1.0, (occurrences + 1 / static_cast<double>(labels + 1)) /
                             (static_cast<double>(answers_) + 1));
}

double Confidence::supported(double probability, double base, double answers) const {
    if (answers >= kFewAnswers) return probability;
    return (answers * probability + kFewAnswers * base) / (answers + kFewAnswers);
}

// An item without known features is like no other.
double Confidence::answers_with_known(std::int32_t known) const {
    if (known == 0) return 0;
    double answers = 0;
    for (std::size_t i = 0; i <= known_bucket(known); ++i) answers += answers_by_known_[i];
    return answers;
}

// Fills in probabilities and assurances of the first labels in ranked.best.
template <class T>
void Confidence::judge_ranked(const ScoredItem<T>& item, const Ranked& ranked, std::size_t places,
                              Judgement& out) const {
    const std::size_t labels = item.scores.size();
    const bool one_label = has_one_label();
    out.places.resize(places);
    out.known = item.known;
    out.in_runs = in_runs();
    out.whole = 0;
    if (labels == 0) return;
    // A rule says little about items of a kind that it has hardly seen: base rates take over.
    const double like_this = labels > 1 ? answers_with_known(item.known) : 0;
    const bool any_sure = !out.in_runs && like_this >= kFewAnswers;
    const std::size_t described = ranked.described;
    ItemNumbers numbers{};
    if (places > described) {
        numbers = describe_item(item);
        numbers.first = kernels::to_finite_double(static_cast<double>(item.scores[ranked.best[0]]));
    }
    double most = 1;
    for (std::size_t i = 0; i < places; ++i) {
        const std::int32_t label = ranked.best[i];
        Place& place = out.places[i];
        place.label = label;
        place.score = static_cast<double>(item.scores[label]);
        place.chosen = one_label ? i == 0 : place.score >= item.cutoff;
        const std::size_t rule = rule_for(i, labels);
        double logit = 0;
        if (i < described) {
            logit = ranked.logit[i];
        } else {
            const double score = kernels::to_finite_double(place.score);
            logit = rules_[rule].logit(
                describe_label(rule, label, score, numbers.first - score, numbers));
        }
        place.probability = rules_[rule].probability(logit);
        place.probability = supported(place.probability, base_rate(label, labels), like_this);
        if (i >= described) most = place.probability = std::min(most, place.probability);
        if (i + 1 == described) most = pool_increases({out.places.data(), described});
        const bool may_be_sure = any_sure && i < described && rule == i;
        place.assured = may_be_sure ? precision_.limited(label, rules_[rule].assured(logit)) : 0;
    }
    if (one_label && labels == 2 && item.known > 0)
        out.places[0].probability =
            of_two_.probability(static_cast<double>(item.scores[ranked.best[0]]) -
                                static_cast<double>(item.scores[ranked.best[1]]));
    if (one_label && labels > 1 && places >= std::min(labels, kPlaces))
        make_exclusive(out.places, labels);
}

// Two numbers that describe the set of chosen labels: the log-probability of choosing and leaving
// the first places as they are, and the smallest distance of a score to the cut-off.
template <class T>
Confidence::WholeNumbers Confidence::describe_whole(const ScoredItem<T>& item,
                                                    const Judgement& judged) const {
    double sum = 0;
    for (std::size_t i = 0; i < std::min(judged.places.size(), kWholePlaces); ++i) {
        const Place& place = judged.places[i];
        const double p = std::clamp(place.probability, 0.001, 0.999);
        sum += std::log(place.chosen ? p : 1 - p);
    }
    double distance = 0;
    if (std::isfinite(item.cutoff)) {
        constexpr double most = 10;
        distance =
            kernels::smallest_distance(item.scores.data(), item.cutoff, most, item.scores.size());
    }
    WholeNumbers whole{{sum, distance}, 0};
    whole.logit = whole_.logit(whole.numbers);
    return whole;
}

template <class T>
double Confidence::judge_whole(const ScoredItem<T>& item, const Judgement& judged,
                               WholeNumbers& whole) const {
    if (judged.places.empty()) return 0;
    if (has_one_label()) return judged.places[0].probability;
    whole = describe_whole(item, judged);
    return supported(whole_.probability(whole.logit), whole_share_.value,
                     answers_with_known(item.known));
}

template <class T>
void Confidence::judge(const ScoredItem<T>& item, std::size_t k, const TieOrder& ties,
                       Judgement& out) const {
    static thread_local Ranked ranked;
    const std::size_t labels = item.scores.size();
    k = std::min(k, labels);
    best_labels(item.scores, std::max(k, std::min(kPlaces, labels)), ties, ranked.best);
    describe(item, kPlaces, ranked);
    judge_ranked(item, ranked, ranked.best.size(), out);
    WholeNumbers whole{};
    out.whole = judge_whole(item, out, whole);
    out.places.resize(k);
}

template <class T>
void Confidence::rank_only(const ScoredItem<T>& item, std::size_t k, const TieOrder& ties,
                           Judgement& out) const {
    static thread_local std::vector<std::int32_t> best;
    best_labels(item.scores, k, ties, best);
    out = {};
    out.known = item.known;
    for (const std::int32_t label : best) {
        const auto score = static_cast<double>(item.scores[label]);
        const bool chosen = has_one_label() ? out.places.empty() : score >= item.cutoff;
        out.places.push_back({label, score, 0, 0, chosen});
    }
}

template <class T>
void Confidence::observe(const ScoredItem<T>& item, std::span<const int> relevant,
                         std::span<const int> unknown, double stands_for, Judgement* before) {
    const std::size_t labels = item.scores.size();
    const bool all_places = answers_ < kAllPlaces || answers_ % kSampleOfRest == 0;
    // The description of the first place needs the score of the second.
    const std::size_t judged = all_places || before ? kPlaces : 1;
    best_labels(item.scores, std::max<std::size_t>(judged, 2), ranked_.best);
    describe(item, judged, ranked_);
    judge_ranked(item, ranked_, std::min(judged, ranked_.best.size()), judged_);
    WholeNumbers whole{};
    if (judged == kPlaces) judged_.whole = judge_whole(item, judged_, whole);
    if (before) *before = judged_;

    const Evidence evidence{runs_.observe(relevant), stands_for};
    const std::size_t learning = all_places ? kPlaces : 1;
    for (std::size_t place = 0; place < std::min(learning, judged_.places.size()); ++place) {
        // Count by the rule alone, so that a label that fell short can recover.
        const std::int32_t label = ranked_.best[place];
        if (judged_.places[place].assured > 0 && !contains(unknown, label))
            precision_.observe(label, rules_[place].assured(ranked_.logit[place]),
                               contains(relevant, label));
    }
    for (std::size_t place = 0; place < learning && place + 1 < labels; ++place) {
        if (contains(unknown, ranked_.best[place])) continue;
        observe_place(place, ranked_, contains(relevant, ranked_.best[place]), evidence);
    }
    if (labels == 2 && unknown.empty())
        of_two_.observe(static_cast<double>(item.scores[ranked_.best[0]]) -
                            static_cast<double>(item.scores[ranked_.best[1]]),
                        contains(relevant, ranked_.best[0]), evidence.weight);
    if (all_places && labels > 0 && unknown.empty() && !has_one_label()) {
        const auto chosen = static_cast<std::size_t>(
            kernels::count_at_least(item.scores.data(), lowest_chosen<T>(item.cutoff), labels));
        std::size_t hits = 0;
        for (const int label : relevant)
            hits += static_cast<std::size_t>(label) < labels &&
                    static_cast<double>(item.scores[label]) >= item.cutoff;
        const bool right = hits == relevant.size() && hits == chosen;
        whole_.observe(whole.numbers, whole.logit, right, evidence);
        whole_share_.observe(right, evidence.weight);
    }
    for (const int label : relevant) {
        if (static_cast<std::size_t>(label) >= occurrences_.size())
            occurrences_.resize(label + 1, 0);
        occurrences_[label] += 1;
    }
    answers_by_known_[known_bucket(item.known)] += evidence.weight;
    ++answers_;
    single_ += relevant.size() <= 1 && unknown.empty();
    several_ += relevant.size() > 1;
    const std::int64_t step = answers_ < kEarlyAnswers ? kEarlyStep : kStep;
    if (answers_ % step == 0) rules_[0].refresh();
    if (answers_ % (4 * step) != 0) return;
    for (std::size_t place = 1; place < kPlaces; ++place) rules_[place].refresh();
    whole_.refresh();
}

void Confidence::RecentShare::observe(bool right, double weight) {
    ++rounds;
    value +=
        weight * ((right ? 1 : 0) - value) * std::max(0.005, 1 / static_cast<double>(rounds + 1));
    logit = logit_of(value, 0.01);
}

void Confidence::observe_place(std::size_t place, const Ranked& ranked, bool right,
                               const Evidence& evidence) {
    const std::int32_t label = ranked.best[place];
    rules_[place].observe(ranked.numbers[place], ranked.logit[place], right, evidence);
    PlaceHistory& history = history_[place];
    history.share.observe(right, evidence.weight);
    if (static_cast<std::size_t>(label) >= history.labels.size()) history.labels.resize(label + 1);
    Suggested& suggested = history.labels[label];
    suggested.count = 0.95f * suggested.count + 1;
    suggested.right = 0.95f * suggested.right + (right ? 1.0f : 0.0f);
}

void Confidence::select(const Selection& selection, std::size_t labels_before) {
    const auto sums = [&](auto& values) {
        values.resize(labels_before);
        std::decay_t<decltype(values)> after(selection.labels());
        selection.sum(values.data(), after.data());
        values = std::move(after);
    };
    sums(occurrences_);
    const auto targets = selection.targets(labels_before);
    for (PlaceHistory& history : history_) {
        std::vector<Suggested> after(selection.labels());
        for (std::size_t label = 0; label < history.labels.size(); ++label) {
            if (targets[label] < 0) continue;
            after[targets[label]].count += history.labels[label].count;
            after[targets[label]].right += history.labels[label].right;
        }
        history.labels = std::move(after);
    }
    precision_.select(selection, labels_before);
    runs_.select(selection, labels_before);
}

std::vector<double> Confidence::state() const {
    std::vector<double> out = {static_cast<double>(answers_), static_cast<double>(single_),
                               static_cast<double>(several_)};
    for (const Rule& rule : rules_) rule.write(out);
    whole_.write(out);
    const auto write_share = [&](const RecentShare& share) {
        out.insert(out.end(), {share.value, static_cast<double>(share.rounds)});
    };
    write_share(whole_share_);
    of_two_.write(out);
    out.insert(out.end(), answers_by_known_.begin(), answers_by_known_.end());
    out.push_back(static_cast<double>(occurrences_.size()));
    out.insert(out.end(), occurrences_.begin(), occurrences_.end());
    for (const PlaceHistory& history : history_) {
        write_share(history.share);
        out.push_back(static_cast<double>(history.labels.size()));
        for (const Suggested& label : history.labels)
            out.insert(out.end(),
                       {static_cast<double>(label.count), static_cast<double>(label.right)});
    }
    precision_.write(out);
    runs_.write(out);
    return out;
}

bool Confidence::restore(std::span<const double> state, std::size_t labels) {
    constexpr double most = 9e15;
    const auto label_count = static_cast<double>(labels);
    Confidence read(one_label_, caution_);
    StateReader reader(state);
    read.answers_ = static_cast<std::int64_t>(reader.number(0, most));
    const auto answers = static_cast<double>(read.answers_);
    read.single_ = static_cast<std::int64_t>(reader.number(0, answers));
    read.several_ = static_cast<std::int64_t>(reader.number(0, answers));
    for (Rule& rule : read.rules_) rule.read(reader);
    read.whole_.read(reader);
    const auto read_share = [&](RecentShare& share) {
        share.value = reader.number(0, 1);
        share.rounds = static_cast<std::int64_t>(reader.number(0, most));
        share.logit = logit_of(share.value, 0.01);
    };
    read_share(read.whole_share_);
    read.of_two_.read(reader);
    for (double& answers : read.answers_by_known_) answers = reader.number(0, most);
    read.occurrences_.assign(static_cast<std::size_t>(reader.number(0, label_count)), 0);
    for (double& occurrences : read.occurrences_) occurrences = reader.number(0, most);
    for (PlaceHistory& history : read.history_) {
        read_share(history.share);
        history.labels.assign(static_cast<std::size_t>(reader.number(0, label_count)), {});
        for (Suggested& label : history.labels) {
            label.count = static_cast<float>(reader.number(0, 1e30));
            label.right = static_cast<float>(reader.number(0, label.count));
        }
    }
    read.precision_.read(reader, labels);
    std::span<const double> rest = reader.rest();
    if (!reader.sound() || !read.runs_.read(rest, labels) || !rest.empty()) return false;
    *this = std::move(read);
    return true;
}

template void Confidence::judge(const ScoredItem<float>&, std::size_t, const TieOrder&,
                                Judgement&) const;
template void Confidence::judge(const ScoredItem<double>&, std::size_t, const TieOrder&,
                                Judgement&) const;
template void Confidence::rank_only(const ScoredItem<float>&, std::size_t, const TieOrder&,
                                    Judgement&) const;
template void Confidence::rank_only(const ScoredItem<double>&, std::size_t, const TieOrder&,
                                    Judgement&) const;
template void Confidence::observe(const ScoredItem<float>&, std::span<const int>,
                                  std::span<const int>, double, Judgement*);
template void Confidence::observe(const ScoredItem<double>&, std::span<const int>,
                                  std::span<const int>, double, Judgement*);

}  // namespace tagalong
