#include "theorems/theorem.h"

#include <algorithm>

#include "core/scope.h"

namespace heed::theorems {

Measurements::Measurements(uint64_t seed, std::vector<std::string> only)
    : seed_(seed), only_(std::move(only)) {}

void Measurements::section(std::string title) { sections_.push_back({std::move(title), {}, {}}); }

bool Measurements::wants(const std::string& id) {
  if (std::find(ids_.begin(), ids_.end(), id) == ids_.end()) ids_.push_back(id);
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

std::vector<Section> Measurements::sections() const {
  std::vector<Section> measured;
  for (const Section& section : sections_)
    if (!section.theorems.empty()) measured.push_back(section);
  return measured;
}

void measure_all(Measurements& m) {
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
}

bool all_hold(const std::vector<Section>& sections) {
  return std::ranges::none_of(sections, [](const Section& section) {
    return std::ranges::any_of(section.theorems, &Theorem::fails);
  });
}

}  // namespace heed::theorems
