// The fields of the learnt texts: how many items had each, and how many words they had in it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tagalong {

class FieldCounts {
  public:
    struct Field {
        std::string name;
        std::uint64_t items, words;
    };
    // With more fields than this, counting ends: names that never repeat must not fill the memory.
    static constexpr std::size_t kMostFields = 256;

    // In the order of appearance.
    const std::vector<Field>& fields() const { return fields_; }
    // Whether every learnt field is among them, so that any other field was never learnt. Otherwise
    // there are none.
    bool complete() const { return complete_; }
    void end_counting() {
        complete_ = false;
        fields_.clear();
    }

    bool contains(std::string_view name) const { return place(name) < fields_.size(); }

    // Adds to the counts of a field; a field without words does not appear.
    void add(std::string_view name, std::uint64_t items, std::uint64_t words) {
        if (words == 0 || !complete_) return;
        const std::size_t at = place(name);
        if (at < fields_.size()) {
            fields_[at].items += items;
            fields_[at].words += words;
        } else if (fields_.size() < kMostFields) {
            fields_.push_back({std::string(name), items, words});
        } else {
            end_counting();
        }
    }

    std::size_t bytes() const {
        std::size_t sum = 0;
        for (const Field& field : fields_) sum += sizeof(Field) + field.name.size();
        return sum;
    }

  private:
    // The position of a field; the number of fields if it is new.
    std::size_t place(std::string_view name) const {
        const auto found = std::find_if(fields_.begin(), fields_.end(),
                                        [name](const Field& field) { return field.name == name; });
        return static_cast<std::size_t>(found - fields_.begin());
    }

    std::vector<Field> fields_;
    bool complete_ = true;
};

}  // namespace tagalong
