// TOML files of the course that have one kind of section, such as [[expect]].
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "apps/config/config.h"
#include "core/check.h"

namespace heed {

// Fills `head` from the keys of a TOML text, and one item from each section [[name]]. Calls
// finish(item, line) after each. Throws InputError, with the line, if something is not valid.
template <class Head, class Item, class Finish>
void fill_sections(const std::string& text, const std::string& path, const std::string& name,
                   Head& head, std::vector<Item>& items, Finish finish) {
  const SplitEntries entries = split_entries(parse_toml(text, path), {name + "["});
  ConfigSource::of(entries.others, path).fill(head);
  for (size_t i = 0; i < entries.sections.size(); ++i) {
    const auto found = entries.sections.find(fmt::format("{}[{}]", name, i));
    check_input(found != entries.sections.end(), "{}: [[{}]] {} is empty", path, name, i + 1);
    Item item;
    ConfigSource::of(found->second, path).fill(item);
    finish(item, found->second.front().line);
    items.push_back(std::move(item));
  }
}

}  // namespace heed
