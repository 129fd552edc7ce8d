// The configuration of a label ranker from the settings of the Python class.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "bind/one_label.hpp"
#include "bind/rules.hpp"
#include "ranker/label_ranker.hpp"

namespace tagalong::bind {

namespace nb = nanobind;

inline RankerConfig ranker_config(const std::string& update, const std::string& geometry, double C,
                                  double margin, double temperature, const std::string& average,
                                  double constant, bool normalize, const std::string& solver,
                                  double rate, std::int64_t n_features,
                                  const std::string& one_label, bool probability,
                                  const std::string& relevance, bool working_set) {
    RankerConfig config;
    config.update = chosen_rule(label_rules(), update, geometry);
    config.geometry = choose<Geometry>({{"euclidean", Geometry::euclidean},
                                        {"adaptive", Geometry::adaptive},
                                        {"entropic", Geometry::entropic}},
                                       geometry, "geometry");
    config.average = choose<Average>(
        {{"never", Average::never}, {"always", Average::always}, {"chosen", Average::chosen}},
        average, "average");
    config.solver = choose<Solver>(
        {{"exact", Solver::exact}, {"interior-point", Solver::interior_point}}, solver, "solver");
    config.one_label = one_label_named(one_label);
    config.relevance = choose<RelevanceOf>(
        {{"none", RelevanceOf::none}, {"rare", RelevanceOf::rare}, {"all", RelevanceOf::all}},
        relevance, "relevance");
    config.probability = probability;
    config.working_set = working_set;
    config.C = C;
    config.margin = margin;
    config.temperature = temperature;
    config.constant = constant;
    config.rate = rate;
    config.normalize = normalize;
    config.n_features = n_features;
    return config;
}

}  // namespace tagalong::bind
