// The values of a struct of options as text, for config.toml, `heed config`, the reference and
// `heed compare`.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "apps/config/config.h"
#include "core/joined.h"
#include "core/text.h"

namespace heed {
namespace {

// A value as TOML, its type, and what it may be.
struct Described {
  std::string value, type, allowed;
};

// Describes the value of a field.
struct Describer {
  const Field& field;

  Described operator()(const bool* flag) const {
    return {*flag ? "true" : "false", "true or false", ""};
  }
  Described operator()(const int64_t* integer) const {
    return {std::to_string(*integer), "integer", range_text(field.range)};
  }
  Described operator()(const double* number) const {
    return {toml_text(*number), "number", range_text(field.range)};
  }
  Described operator()(const std::string* text) const {
    return {string_literal(*text), field.is_path ? "path" : "string", ""};
  }
  Described operator()(const std::vector<std::string>* texts) const {
    std::vector<std::string> literals;
    for (const std::string& text : *texts) literals.push_back(string_literal(text));
    return {"[" + joined(literals) + "]", field.is_path ? "list of paths" : "list of strings", ""};
  }
  Described operator()(const std::vector<int64_t>* integers) const {
    return {"[" + joined(*integers) + "]", "list of integers", range_text(field.range)};
  }
  Described operator()(const Field::Choice& choice) const {
    return {string_literal(choice.words[static_cast<size_t>(*choice.index)]), "choice",
            joined(choice.words)};
  }
};

// Lists the fields of a struct of options.
class ConfigLister : public Fields {
 public:
  ConfigListing listing() const {
    ConfigListing all;
    for (const Section& section : sections_)
      all.insert(all.end(), section.entries.begin(), section.entries.end());
    return all;
  }

 private:
  struct Section {
    std::string name, help;
    ConfigListing entries = {};
  };

  void visit(const Field& field) override {
    auto [value, type, allowed] = std::visit(Describer{field}, field.value);
    auto& [section, help, entries] = sections_[current_];
    entries.push_back({section, help, in_section(section, field.name), field.name, std::move(value),
                       std::move(type), std::move(allowed), field.help, field.effect});
  }
  void enter(const char* name, const char* help) override {
    open_.push_back(current_);
    sections_.push_back({in_section(sections_[current_].name, name), help});
    current_ = sections_.size() - 1;
  }
  void leave() override {
    current_ = open_.back();
    open_.pop_back();
  }
  static std::string in_section(const std::string& section, const char* name) {
    return section.empty() ? name : section + "." + name;
  }

  std::vector<Section> sections_{{"", ""}};
  size_t current_ = 0;  // section
  std::vector<size_t> open_;
};

using Section = std::span<const ConfigEntry>;

std::vector<Section> sections_of(const ConfigListing& listing) {
  std::vector<Section> sections;
  for (auto first = listing.begin(); first != listing.end();) {
    const auto end = std::find_if(first, listing.end(), [&](const ConfigEntry& entry) {
      return entry.section != first->section;
    });
    sections.emplace_back(&*first, static_cast<size_t>(end - first));
    first = end;
  }
  return sections;
}

template <class Comment>
std::string text_with(const ConfigListing& listing, Comment&& comment) {
  std::string text;
  for (const Section& section : sections_of(listing)) {
    const ConfigEntry& first = section[0];
    if (!text.empty()) text += '\n';
    if (!first.section.empty())
      text += fmt::format("[{}]  # {}\n", first.section, first.section_help);
    size_t width = 0;
    const auto line = [](const ConfigEntry& entry) { return entry.name + " = " + entry.value; };
    for (const ConfigEntry& entry : section) width = std::max(width, line(entry).size());
    width = std::min<size_t>(width, 40);
    for (const ConfigEntry& entry : section)
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
  return lister.listing();
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
  for (const Section& section : sections_of(defaults)) {
    const ConfigEntry& first = section[0];
    if (!text.empty()) text += '\n';
    text += first.section.empty()
                ? "## Top-level keys\n\n"
                : fmt::format("## [{}]\n\n{}.\n\n", first.section, first.section_help);
    text += "| key | type | default | allowed | meaning |\n|---|---|---|---|---|\n";
    for (const ConfigEntry& entry : section)
      text += fmt::format("| `{}` | {} | `{}` | {} | {} |\n", entry.key, entry.type,
                          in_table(entry.value), in_table(entry.allowed), in_table(entry.help));
  }
  return text;
}

const ConfigEntry* find_entry(const ConfigListing& listing, std::string_view key) {
  const auto found = std::ranges::find(listing, key, &ConfigEntry::key);
  return found == listing.end() ? nullptr : &*found;
}

std::string value_of(const ConfigListing& listing, std::string_view key) {
  const ConfigEntry* const entry = find_entry(listing, key);
  return entry ? entry->value : "";
}

std::string lines_of(const ConfigListing& listing,
                     const std::function<bool(const std::string& key)>& counts) {
  std::string text;
  for (const ConfigEntry& entry : listing)
    if (counts(entry.key)) text += fmt::format("{} = {}\n", entry.key, entry.value);
  return text;
}

std::vector<ConfigDifference> config_differences(const ConfigListing& a, const ConfigListing& b) {
  std::map<std::string, std::string> others;
  for (const ConfigEntry& entry : b) others[entry.key] = entry.value;
  std::vector<ConfigDifference> differences;
  for (const ConfigEntry& entry : a) {
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
