// The Python class of TextFeatures. An item is a pair of lists: (field, text) and (name, value).
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <tuple>

#include "bind/arrays.hpp"
#include "bind/learner_bind.hpp"
#include "bind/module.hpp"
#include "bind/rules.hpp"
#include "text/sort_places.hpp"
#include "text/text_features.hpp"

namespace tagalong::bind {

// ([(field, text), ...], [(name, value), ...]).
using Item = nb::typed<nb::tuple, nb::typed<nb::list, nb::typed<nb::tuple, nb::str, nb::str>>,
                       nb::typed<nb::list, nb::typed<nb::tuple, nb::str, double>>>;
using Items = nb::typed<nb::list, Item>;

static std::string_view utf8(nb::handle text) {
    Py_ssize_t length = 0;
    const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &length);
    if (bytes == nullptr) throw nb::python_error();
    return {bytes, static_cast<std::size_t>(length)};
}

// The item has views of the Python strings, which must outlive it. A string is a text without a
// field.
static void read_item(nb::handle row, TextFeatures::Item& out) {
    out.texts.clear();
    out.values.clear();
    if (PyUnicode_Check(row.ptr())) {
        out.texts.push_back({"", utf8(row)});
        return;
    }
    const auto parts = nb::cast<nb::tuple>(row);
    for (nb::handle pair : nb::cast<nb::list>(parts[0])) {
        const auto text = nb::cast<nb::tuple>(pair);
        out.texts.push_back({utf8(text[0]), utf8(text[1])});
    }
    for (nb::handle pair : nb::cast<nb::list>(parts[1])) {
        const auto value = nb::cast<nb::tuple>(pair);
        out.values.push_back({utf8(value[0]), nb::cast<double>(value[1])});
    }
}

static TextFeatures::Reading& thread_reading() {
    static thread_local TextFeatures::Reading reading;
    return reading;
}

static TextFeatures::Fields fields_as(bool match) {
    return match ? TextFeatures::Fields::matched : TextFeatures::Fields::given;
}

static void read_row(TextFeatures& self, const TextFeatures::Item& item, bool learn, bool match,
                     TextFeatures::Reading& reading) {
    if (learn) {
        std::unique_lock lock(self.mutex());
        self.read(item, reading);
        self.learn(reading);
    } else {
        std::shared_lock lock(self.mutex());
        self.read(item, reading, fields_as(match));
    }
}

static auto pairs(const TextFeatures::Reading& reading) {
    Owned<std::int32_t> indices({reading.feature.size()});
    Owned<double> values({reading.value.size()});
    std::copy(reading.feature.begin(), reading.feature.end(), indices.data);
    std::copy(reading.value.begin(), reading.value.end(), values.data);
    return std::make_pair(indices.array, values.array);
}

static TextFeatures::Reading look(const TextFeatures& self, const Item& row, bool match) {
    TextFeatures::Item item;
    read_item(row, item);
    TextFeatures::Reading reading;
    std::shared_lock lock(self.mutex());
    self.read(item, reading, fields_as(match));
    return reading;
}

static void learn(TextFeatures& self, const TextFeatures::Reading& reading) {
    if (!reading.matches.empty())
        throw InputError("an item that was read with match=True cannot be learnt");
    std::unique_lock lock(self.mutex());
    self.learn(reading);
}

// The fields of an item that were never learnt, each with the field that it is read as, or None.
static nb::typed<nb::list, nb::typed<nb::tuple, nb::str, std::optional<std::string>>> matches(
    const TextFeatures& self, const Item& row) {
    const TextFeatures::Reading reading = look(self, row, true);
    nb::list out;
    for (const auto& match : reading.matches)
        out.append(nb::make_tuple(match.field, match.read_as));
    return out;
}

// The capacity for the entries of all items, estimated from the items read so far. Copying hundreds
// of megabytes whenever a vector doubles would take as long as reading some of the items.
static std::size_t expected_entries(std::size_t entries, std::size_t read, std::size_t items) {
    constexpr std::size_t kEnough = 64;  // items needed for an estimate
    if (read < kEnough) return 2 * entries;
    const double share = static_cast<double>(items) / static_cast<double>(read);
    return static_cast<std::size_t>(1.125 * share * static_cast<double>(entries));
}

struct Notes {
    std::vector<TextFeatures::Note> items;
};

static std::vector<TextFeatures::Item> read_items(const Items& rows) {
    std::vector<TextFeatures::Item> items(rows.size());
    for (std::size_t i = 0; i < items.size(); ++i) read_item(rows[i], items[i]);
    return items;
}

// Reads items one after the other. `read(item, reading)` reads one, and `end(entries)` is told the
// number of entries so far.
template <class Read, class End>
static void read_entries(const std::vector<TextFeatures::Item>& items, Read read, End end,
                         std::vector<std::int32_t>& indices, std::vector<double>& values) {
    nb::gil_scoped_release release;
    auto& reading = thread_reading();
    for (std::size_t i = 0; i < items.size(); ++i) {
        read(items[i], reading);
        const std::size_t entries = indices.size() + reading.feature.size();
        if (entries > indices.capacity()) {
            const std::size_t room = expected_entries(entries, i + 1, items.size());
            indices.reserve(room);
            values.reserve(room);
        }
        indices.insert(indices.end(), reading.feature.begin(), reading.feature.end());
        values.insert(values.end(), reading.value.begin(), reading.value.end());
        end(entries);
    }
}

// Reads items into CSR arrays.
template <class Read>
static auto read_rows(const std::vector<TextFeatures::Item>& items, Read read) {
    std::vector<std::int32_t> indices;
    std::vector<double> values;
    Owned<std::int64_t> indptr({items.size() + 1});
    std::int64_t* next = indptr.data;
    *next++ = 0;
    const auto end = [&](std::size_t entries) { *next++ = static_cast<std::int64_t>(entries); };
    read_entries(items, read, end, indices, values);
    return std::make_tuple(indptr.array, adopted(std::move(indices)), adopted(std::move(values)));
}

// Reads items to be predicted; nothing is learnt.
static FeatureRows read_for_prediction(const TextFeatures& self, const Items& rows, bool match) {
    std::vector<std::int32_t> indptr{0}, indices;
    std::vector<double> values;
    const auto read = [&](const auto& item, auto& reading) {
        std::shared_lock lock(self.mutex());
        self.read(item, reading, fields_as(match));
    };
    const auto end = [&](std::size_t entries) {
        if (entries > std::numeric_limits<std::int32_t>::max())
            throw InputError("the items have too many words for one call");
        indptr.push_back(static_cast<std::int32_t>(entries));
    };
    read_entries(read_items(rows), read, end, indices, values);
    return FeatureRows(std::move(indptr), std::move(indices), std::move(values));
}

static auto read_many(TextFeatures& self, const Items& rows, bool learn, bool match) {
    return read_rows(read_items(rows), [&](const auto& item, auto& reading) {
        read_row(self, item, learn, match, reading);
    });
}

// Like read_many without learning, and with notes from which the words can be learnt later.
static auto read_ahead(const TextFeatures& self, const Items& rows) {
    if (!self.can_read_ahead())
        throw InputError("the features of items depend on the items learnt before");
    Notes notes;
    auto found = read_rows(read_items(rows), [&](const auto& item, auto& reading) {
        std::shared_lock lock(self.mutex());
        self.read(item, reading);
        notes.items.push_back(self.note(reading));
    });
    return std::tuple_cat(std::move(found), std::make_tuple(std::move(notes)));
}

static void learn_notes(TextFeatures& self, const Notes& notes, std::size_t start,
                        std::size_t stop) {
    if (start > stop || stop > notes.items.size()) throw InputError("there are no such notes");
    nb::gil_scoped_release release;
    for (std::size_t i = start; i < stop; ++i) {
        std::unique_lock lock(self.mutex());
        self.learn(notes.items[i]);
    }
}

// The names of an item's features, in the order of the features. They are taken from the item, so
// that words that were never learnt have names too. Different words in one bucket are joined.
static nb::typed<nb::list, nb::str> describe(const TextFeatures& self, const Item& row,
                                             bool match) {
    TextFeatures::Item item;
    read_item(row, item);
    auto& reading = thread_reading();
    {
        std::shared_lock lock(self.mutex());
        self.read(item, reading, fields_as(match));
    }
    nb::typed<nb::list, nb::str> out;
    auto next = reading.sorted.begin();
    for (const std::int32_t feature : reading.feature) {
        while (feature_of(*next) != feature) ++next;
        std::vector<std::string> distinct;
        for (; next != reading.sorted.end() && feature_of(*next) == feature; ++next) {
            std::string name = reading.name(place_of(*next));
            if (std::find(distinct.begin(), distinct.end(), name) == distinct.end())
                distinct.push_back(std::move(name));
        }
        std::string joined;
        for (const std::string& name : distinct) {
            if (!joined.empty()) joined += " | ";
            joined += name;
        }
        // The length limit may have cut a word within a character: its bytes are replaced.
        out.append(nb::steal(PyUnicode_DecodeUTF8(
            joined.data(), static_cast<Py_ssize_t>(joined.size()), "replace")));
    }
    return out;
}

static void construct_features(TextFeatures* self, std::size_t least_words, std::size_t most_words,
                               std::size_t least_chars, std::size_t most_chars, bool lowercase,
                               const std::string& weighting, std::uint32_t buckets, bool unit,
                               bool backoff, std::size_t name_bytes) {
    TextConfig config;
    config.words = {least_words, most_words, least_chars, most_chars, lowercase};
    config.weighting = choose<Weighting>({{"binary", Weighting::binary},
                                          {"count", Weighting::count},
                                          {"log", Weighting::log},
                                          {"tfidf", Weighting::tfidf}},
                                         weighting, "weighting");
    config.buckets = buckets;
    config.unit = unit;
    config.backoff = backoff;
    config.name_bytes = name_bytes;
    new (self) TextFeatures(config);
}

template <class V, class Values>
static NumPy<V> copied(const Values& values) {
    Owned<V> out({values.size()});
    std::copy(values.begin(), values.end(), out.data);
    return out.array;
}

// One (name, items, words) per learnt field.
using FieldList = nb::typed<nb::list, nb::typed<nb::tuple, nb::str, std::uint64_t, std::uint64_t>>;

static FieldList field_list(const TextFeatures& self) {
    FieldList out;
    for (const auto& field : self.fields().fields())
        out.append(nb::make_tuple(field.name, field.items, field.words));
    return out;
}

static State text_state(const TextFeatures& self) {
    std::shared_lock lock(self.mutex());
    nb::dict arrays, numbers;
    State out;
    arrays["keys"] = copied<std::uint64_t>(self.vocabulary().keys());
    arrays["items_with"] = copied<std::uint32_t>(self.items_with());
    arrays["name_text"] = copied<std::uint8_t>(self.names().text());
    arrays["name_ends"] = copied<std::uint32_t>(self.names().ends());
    arrays["name_ids"] = copied<std::int32_t>(self.names().ids());
    numbers["items"] = self.items();
    if (self.fields().complete()) numbers["fields"] = field_list(self);
    out["arrays"] = arrays;
    out["numbers"] = numbers;
    return out;
}

// Files of older versions have no fields.
static FieldCounts restored_fields(const SavedState& saved) {
    FieldCounts out;
    if (!saved.has_number("fields")) {
        out.end_counting();
        return out;
    }
    using Fields = std::vector<std::tuple<std::string, std::int64_t, std::int64_t>>;
    const auto fields = saved.get<Fields>("fields", "a list of fields with their items and words");
    if (fields.size() > FieldCounts::kMostFields)
        SavedState::refuse(
            "fields", "has more than " + std::to_string(FieldCounts::kMostFields) + " entries");
    for (const auto& [name, items, words] : fields) {
        if (items <= 0 || words < items || !kCount.contains(static_cast<double>(words)) ||
            out.contains(name))
            SavedState::refuse("fields", "must have one name with its items and words per field");
        out.add(name, static_cast<std::uint64_t>(items), static_cast<std::uint64_t>(words));
    }
    return out;
}

static void restore_names(TextFeatures& self, const SavedState& saved) {
    const auto text = saved.vector<std::uint8_t>("name_text");
    const auto ends = saved.vector<std::uint32_t>("name_ends");
    const auto ids = saved.features("name_ids");
    if (ends.shape(0) != ids.shape(0))
        SavedState::refuse("name_ends", "must have as many entries as 'name_ids'");
    std::uint32_t begin = 0;
    for (std::size_t i = 0; i < ends.shape(0); ++i) {
        const std::uint32_t end = ends.data()[i];
        if (end < begin || end > text.shape(0))
            SavedState::refuse("name_ends", "must ascend within 'name_text'");
        self.restore_name(ids.data()[i],
                          {reinterpret_cast<const char*>(text.data()) + begin, end - begin});
        begin = end;
    }
}

static void restore_text(TextFeatures& self, const State& state) {
    const SavedState saved(nb::cast<nb::dict>(state["arrays"]),
                           nb::cast<nb::dict>(state["numbers"]));
    const std::int64_t items = saved.count("items");
    const auto keys = saved.vector<std::uint64_t>("keys");
    const Range most_items{0, static_cast<double>(items)};
    const auto counts = saved.vector<std::uint32_t>("items_with", most_items);
    restore_names(self, saved);
    self.restore(static_cast<std::uint64_t>(items), {keys.data(), keys.shape(0)},
                 {counts.data(), counts.data() + counts.shape(0)});
    if (self.vocabulary().size() != keys.shape(0)) SavedState::refuse("keys", "has a key twice");
    if (counts.shape(0) > self.size())
        SavedState::refuse("items_with", "has more entries than there are features");
    self.restore_fields(restored_fields(saved));
}

void add_text_features(nb::module_& module) {
    nb::class_<TextFeatures::Reading>(module, "Reading").def("pairs", &pairs);
    nb::class_<Notes>(module, "Notes").def("__len__", [](const Notes& self) {
        return self.items.size();
    });
    nb::class_<TextFeatures>(module, "TextFeatures")
        .def("__init__", &construct_features, nb::kw_only(), nb::arg("least_words"),
             nb::arg("most_words"), nb::arg("least_chars"), nb::arg("most_chars"),
             nb::arg("lowercase"), nb::arg("weighting"), nb::arg("buckets"), nb::arg("unit"),
             nb::arg("backoff"), nb::arg("name_bytes"))
        .def("look", &look, nb::arg("item"), nb::arg("match") = false)
        .def("learn", &learn, nb::arg("reading"))
        .def("read_many", &read_many, nb::arg("items"), nb::arg("learn"), nb::arg("match") = false)
        .def("read_rows", &read_for_prediction, nb::arg("items"), nb::arg("match"),
             nb::sig("def read_rows(self, items: list[typing.Any], match: bool) -> FeatureRows"))
        .def_prop_ro("can_read_ahead", &TextFeatures::can_read_ahead)
        .def("read_ahead", &read_ahead, nb::arg("items"))
        .def("learn_notes", &learn_notes, nb::arg("notes"), nb::arg("start"), nb::arg("stop"))
        .def("describe", &describe, nb::arg("item"), nb::arg("match") = false)
        .def("matches", &matches, nb::arg("item"))
        .def_prop_ro("fields",
                     [](const TextFeatures& self) {
                         std::shared_lock lock(self.mutex());
                         return field_list(self);
                     })
        .def(
            "name",
            [](const TextFeatures& self, std::int32_t id) {
                std::shared_lock lock(self.mutex());
                const std::string_view name = self.names().find(id);
                const auto size = static_cast<Py_ssize_t>(name.size());
                // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): the size follows
                return nb::steal<nb::str>(PyUnicode_DecodeUTF8(name.data(), size, "replace"));
            },
            nb::arg("feature"))
        .def(
            "forget_names",
            [](TextFeatures& self, const std::vector<std::int32_t>& ids) {
                std::unique_lock lock(self.mutex());
                self.forget_names({ids.begin(), ids.end()});
            },
            nb::arg("ids"))
        .def_prop_ro("size",
                     [](const TextFeatures& self) {
                         std::shared_lock lock(self.mutex());
                         return self.size();
                     })
        .def_prop_ro("bytes",
                     [](const TextFeatures& self) {
                         std::shared_lock lock(self.mutex());
                         return self.bytes();
                     })
        .def("state", &text_state)
        .def("restore", &restore_text, nb::arg("state"));
}

}  // namespace tagalong::bind
