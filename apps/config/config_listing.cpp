// The values of a struct of options as text, for config.toml, `heed config`, the reference and
// `heed compare`.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "apps/config/config.h"
#include "core/joined.h"
#include "core/text.h"

namespace heed {
namespace {

// The value of a field, its type, and what it may be.
struct Described {
  FieldValue value;
  std::string type, allowed;
};

// Describes the value of a field.
struct Describer {
  const Field& field;

  Described operator()(const bool* flag) const { return {*flag, "true or false", ""}; }
  Described operator()(const int64_t* integer) const {
    return {*integer, "integer", range_text(field.range)};
  }
  Described operator()(const double* number) const {
    return {*number, "number", range_text(field.range)};
  }
  Described operator()(const std::string* text) const {
    return {*text, field.is_path ? "path" : "string", ""};
  }
  Described operator()(const std::vector<std::string>* texts) const {
    return {*texts, field.is_path ? "list of paths" : "list of strings", ""};
  }
  Described operator()(const std::vector<int64_t>* integers) const {
    return {*integers, "list of integers", range_text(field.range)};
  }
  Described operator()(const Field::Choice& choice) const {
    return {std::string(choice.words[static_cast<size_t>(*choice.index)]), "choice",
            joined(choice.words)};
  }
};

// Writes a value as TOML.
struct TomlWriter {
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(int64_t integer) const { return std::to_string(integer); }
  std::string operator()(double number) const { return toml_text(number); }
  std::string operator()(const std::string& text) const { return string_literal(text); }
  template <class Element>
  std::string operator()(const std::vector<Element>& list) const {
    std::vector<std::string> elements;
    for (const Element& element : list) elements.push_back((*this)(element));
    return "[" + joined(elements) + "]";
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
  void when(bool applies) override { sections_[current_].entries.back().is_used = applies; }
  void each_when(const Applies& applies) override {
    for (ConfigEntry& entry : sections_[current_].entries)
      entry.is_used = entry.is_used && applies(entry.name);
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
    const auto line = [](const ConfigEntry& entry) { return entry.name + " = " + entry.text(); };
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

std::string ConfigEntry::text() const {
  std::string text = std::visit(TomlWriter(), value);
  for (const auto& [step, changed] : later)
    text += fmt::format(", {} from step {}", std::visit(TomlWriter(), changed), step);
  return text;
}

std::optional<double> ConfigEntry::number() const {
  if (!later.empty()) return std::nullopt;
  if (const auto* const integer = std::get_if<int64_t>(&value))
    return static_cast<double>(*integer);
  const auto* const number = std::get_if<double>(&value);
  return number ? std::optional(*number) : std::nullopt;
}

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
                          in_table(entry.text()), in_table(entry.allowed), in_table(entry.help));
  }
  return text;
}

const ConfigEntry* find_entry(const ConfigListing& listing, std::string_view key) {
  const auto found = std::ranges::find(listing, key, &ConfigEntry::key);
  return found == listing.end() ? nullptr : &*found;
}

std::string value_of(const ConfigListing& listing, std::string_view key) {
  const ConfigEntry* const entry = find_entry(listing, key);
  return entry ? entry->text() : "";
}

Field::Effect effect_of(const ConfigListing& listing, std::string_view key) {
  const ConfigEntry* const entry = find_entry(listing, key);
  return entry ? entry->effect : Field::Effect::weights;
}

std::string lines_of(const ConfigListing& listing,
                     const std::function<bool(const ConfigEntry& entry)>& counts) {
  std::string text;
  for (const ConfigEntry& entry : listing)
    if (counts(entry)) text += fmt::format("{} = {}\n", entry.key, entry.text());
  return text;
}

std::vector<ConfigDifference> config_differences(const ConfigListing& a, const ConfigListing& b) {
  std::vector<ConfigDifference> differences;
  for (size_t i = 0; i < a.size(); ++i)
    if (!a[i].has_value_of(b.at(i))) differences.push_back({a[i], b[i]});
  return differences;
}

}  // namespace heed
