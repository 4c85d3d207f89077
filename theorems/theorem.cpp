#include "theorems/theorem.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/support/json.h"
#include "apps/support/suggest.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/scope.h"

namespace heed::theorems {

Measurements::Measurements(uint64_t seed, std::vector<std::string> only)
    : seed_(seed), only_(std::move(only)) {}

void Measurements::section(std::string title) { sections_.push_back({std::move(title), {}, {}}); }

bool Measurements::wants(const std::string& id) {
  if (std::find(met_.begin(), met_.end(), id) == met_.end()) met_.push_back(id);
  return only_.empty() || std::find(only_.begin(), only_.end(), id) != only_.end();
}

void Measurements::add(Theorem theorem, const Measure& measure) {
  const uint32_t row = rows_++;
  if (!wants(theorem.id)) return;
  ScopeGuard here;
  here->gradients = here->training = false;
  here->precision = Precision::highest;
  here->seed = seed_;
  here->micro_batch = row;
  here->calls = 0;
  theorem.measured = measure();
  sections_.back().theorems.push_back(std::move(theorem));
}

void Measurements::at_most(const char* id, double bound, const char* source, const char* claim,
                           const Measure& measure) {
  add({id, claim, source, 0, bound, false, false}, measure);
}

void Measurements::at_least(const char* id, double bound, const char* source, const char* claim,
                            const Measure& measure) {
  add({id, claim, source, 0, bound, true, false}, measure);
}

void Measurements::property(const char* id, bool promised, bool is_lower_bound, double bound,
                            const char* source, const char* claim, const Measure& measure) {
  add({id, claim, source, 0, bound, is_lower_bound, !promised}, measure);
}

void Measurements::note(const char* id, const std::function<std::string()>& text) {
  if (wants(id)) sections_.back().notes.push_back(text());
}

void Measurements::check_wanted() const {
  for (const std::string& id : only_) {
    if (std::find(met_.begin(), met_.end(), id) != met_.end()) continue;
    const std::string meant = nearest(id, met_);
    check_input(false, "--only {}: there is no such row{}; there are {}", id,
                meant.empty() ? "" : "; did you mean " + meant + "?", joined(met_));
  }
}

std::vector<Section> Measurements::sections() const {
  std::vector<Section> measured;
  for (const Section& section : sections_)
    if (!section.theorems.empty()) measured.push_back(section);
  return measured;
}

std::vector<Section> measure_all(uint64_t seed, const std::vector<std::string>& only) {
  Measurements m(seed, only);
  measure_attention(m);
  measure_scale(m);
  measure_heads(m);
  measure_permutations(m);
  measure_examples(m);
  measure_positions(m);
  measure_costs(m);
  measure_layers(m);
  measure_mistakes(m);
  measure_more_mistakes(m);
  m.check_wanted();
  return m.sections();
}

bool all_hold(const std::vector<Section>& sections) {
  return std::ranges::none_of(sections, [](const Section& section) {
    return std::ranges::any_of(section.theorems, &Theorem::fails);
  });
}

std::string json(const std::vector<Section>& sections) {
  Json list = Json::array();
  for (const Section& section : sections)
    for (const Theorem& t : section.theorems)
      list.push(Json::object()
                    .set("id", t.id)
                    .set("claim", t.claim)
                    .set("source", t.source)
                    .set("measured", t.measured)
                    .set("threshold", t.bound)
                    .set("pass", t.holds()));
  return list.text(2) + "\n";
}

namespace {

// Columns that a terminal needs for a text in UTF-8 without combining marks.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

const char* verdict(const Theorem& t) {
  if (t.is_question) return t.holds() ? "yes" : "no";
  return t.holds() ? "PASS" : "FAIL";
}

std::string summary(const std::vector<Section>& sections) {
  int64_t held = 0, theorems = 0, had = 0, questions = 0;
  for (const Section& section : sections)
    for (const Theorem& t : section.theorems) {
      (t.is_question ? questions : theorems) += 1;
      (t.is_question ? had : held) += t.holds();
    }
  if (questions == 0) return fmt::format("{} of {} hold\n", held, theorems);
  return fmt::format("{} of {} that its config promises hold; of {} others it has {}\n", held,
                     theorems, questions, had);
}

}  // namespace

std::string table(const std::vector<Section>& sections) {
  size_t claim_width = 0, source_width = 0;
  for (const Section& section : sections)
    for (const Theorem& t : section.theorems) {
      claim_width = std::max(claim_width, width_of(t.claim));
      source_width = std::max(source_width, width_of(t.source));
    }
  std::string text;
  for (const Section& section : sections) {
    text += section.title + "\n";
    for (const Theorem& t : section.theorems)
      text += fmt::format("  {:<3}  {}  {}  {:>9.3g}  {} {:<6.3g}  {}\n", t.id,
                          padded(t.claim, claim_width), padded(t.source, source_width), t.measured,
                          t.is_lower_bound ? "≥" : "≤", t.bound, verdict(t));
    for (const std::string& note : section.notes) text += "\n" + note;
    text += "\n";
  }
  return text + summary(sections);
}

}  // namespace heed::theorems
