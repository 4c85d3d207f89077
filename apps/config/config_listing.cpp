// The values of a struct of options as text, for config.toml, `heed config`, the reference and
// `heed compare`.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apps/config/config.h"
#include "apps/config/config_reader.h"
#include "core/joined.h"
#include "core/text.h"

namespace heed {
namespace {

// Lists the fields of a struct of options.
class ConfigLister : public Fields {
 public:
  ConfigListing listing{{"", "", {}}};

  void flag(const char* name, bool& value, const char* help) override {
    add(name, value ? "true" : "false", "true or false", "", help);
  }
  void integer(const char* name, int64_t& value, Range range, const char* help) override {
    add(name, std::to_string(value), "integer", range_text(range), help);
  }
  void number(const char* name, double& value, Range range, const char* help) override {
    add(name, toml_text(value), "number", range_text(range), help);
  }
  void text(const char* name, std::string& value, const char* help) override {
    add(name, string_literal(value), "string", "", help);
  }
  void path(const char* name, std::string& value, const char* help) override {
    add(name, string_literal(value), "path", "", help);
  }
  void texts(const char* name, std::vector<std::string>& values, const char* help) override {
    add(name, list(values), "list of strings", "", help);
  }
  void paths(const char* name, std::vector<std::string>& values, const char* help) override {
    add(name, list(values), "list of paths", "", help);
  }
  void integers(const char* name, std::vector<int64_t>& values, Range range,
                const char* help) override {
    add(name, fmt::format("[{}]", joined(values)), "list of integers", range_text(range), help);
  }

 protected:
  void choose(const char* name, int& index, std::span<const char* const> words,
              const char* help) override {
    add(name, string_literal(words[static_cast<size_t>(index)]), "choice", joined(words), help);
  }
  void enter(const char* name, const char* help) override {
    open_.push_back(current_);
    const std::string& outer = listing[current_].name;
    current_ = listing.size();
    listing.push_back({outer.empty() ? name : outer + "." + name, help, {}});
  }
  void leave() override {
    current_ = open_.back();
    open_.pop_back();
  }

 private:
  static std::string list(const std::vector<std::string>& values) {
    std::string text;
    for (const std::string& value : values)
      text += (text.empty() ? "" : ", ") + string_literal(value);
    return "[" + text + "]";
  }
  void add(const char* name, std::string value, const char* type, std::string allowed,
           const char* help) {
    ConfigSection& section = listing[current_];
    section.entries.push_back({section.name.empty() ? name : section.name + "." + name, name,
                               std::move(value), type, std::move(allowed), help});
  }

  size_t current_ = 0;  // section
  std::vector<size_t> open_;
};

template <class Comment>
std::string text_with(const ConfigListing& listing, Comment&& comment) {
  std::string text;
  for (const ConfigSection& section : listing) {
    if (section.entries.empty()) continue;
    if (!text.empty()) text += '\n';
    if (!section.name.empty()) text += fmt::format("[{}]  # {}\n", section.name, section.help);
    size_t width = 0;
    const auto line = [](const ConfigEntry& entry) { return entry.name + " = " + entry.value; };
    for (const ConfigEntry& entry : section.entries) width = std::max(width, line(entry).size());
    width = std::min<size_t>(width, 40);
    for (const ConfigEntry& entry : section.entries)
      text += fmt::format("{:{}}  # {}\n", line(entry), width, comment(entry));
  }
  return text;
}

std::string in_table(std::string text) {
  for (size_t i = 0; (i = text.find('|', i)) != text.npos; i += 2) text.insert(i, "\\");
  return text;
}

}  // namespace

ConfigListing list_fields(const ConfigSource::Visit& visit) {
  ConfigLister lister;
  visit(lister);
  return std::move(lister.listing);
}

std::string config_text(const ConfigListing& listing) {
  return text_with(listing, [](const ConfigEntry& entry) { return entry.help; });
}

std::string config_text(const ConfigListing& listing, const Origins& origins) {
  return text_with(listing, [&](const ConfigEntry& entry) {
    const auto origin = origins.find(entry.key);
    return origin == origins.end() ? Origin().location() : origin->second.location();
  });
}

std::string config_reference(const ConfigListing& defaults) {
  std::string text;
  for (const ConfigSection& section : defaults) {
    if (section.entries.empty()) continue;
    if (!text.empty()) text += '\n';
    text += section.name.empty() ? "## Top-level keys\n\n"
                                 : fmt::format("## [{}]\n\n{}.\n\n", section.name, section.help);
    text += "| key | type | default | allowed | meaning |\n|---|---|---|---|---|\n";
    for (const ConfigEntry& entry : section.entries)
      text += fmt::format("| `{}` | {} | `{}` | {} | {} |\n", entry.key, entry.type,
                          in_table(entry.value), in_table(entry.allowed), in_table(entry.help));
  }
  return text;
}

const ConfigEntry* find_entry(const ConfigListing& listing, std::string_view key) {
  for (const ConfigSection& section : listing)
    for (const ConfigEntry& entry : section.entries)
      if (entry.key == key) return &entry;
  return nullptr;
}

std::string value_of(const ConfigListing& listing, std::string_view key) {
  const ConfigEntry* const entry = find_entry(listing, key);
  return entry ? entry->value : "";
}

std::string lines_of(const ConfigListing& listing,
                     const std::function<bool(const std::string& key)>& counts) {
  std::string text;
  for (const ConfigSection& section : listing)
    for (const ConfigEntry& entry : section.entries)
      if (counts(entry.key)) text += fmt::format("{} = {}\n", entry.key, entry.value);
  return text;
}

std::vector<ConfigDifference> config_differences(const ConfigListing& a, const ConfigListing& b) {
  std::map<std::string, std::string> others;
  for (const ConfigSection& section : b)
    for (const ConfigEntry& entry : section.entries) others[entry.key] = entry.value;
  std::vector<ConfigDifference> differences;
  for (const ConfigSection& section : a)
    for (const ConfigEntry& entry : section.entries) {
      const auto other = others.extract(entry.key);
      if (other.empty())
        differences.push_back({entry.key, entry.value, ""});
      else if (other.mapped() != entry.value)
        differences.push_back({entry.key, entry.value, other.mapped()});
    }
  for (const auto& [key, value] : others) differences.push_back({key, "", value});
  return differences;
}

}  // namespace heed
