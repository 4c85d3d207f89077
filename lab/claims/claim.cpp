#include "lab/claims/claim.h"

#include <algorithm>

#include "core/precision.h"
#include "core/scope.h"

namespace heed::claims {

Measurements::Measurements(uint64_t seed, std::vector<std::string> only)
    : seed_(seed), only_(std::move(only)) {}

void Measurements::section(std::string title) { sections_.push_back({std::move(title), {}, {}}); }

bool Measurements::is_selected(const std::string& id) {
  if (std::ranges::find(ids_, id) == ids_.end()) ids_.push_back(id);
  return only_.empty() || std::ranges::find(only_, id) != only_.end();
}

void Measurements::measure(MeasuredClaim claim, const std::function<double()>& value) {
  const uint32_t position = count_++;
  if (!is_selected(claim.id)) return;
  ScopeGuard here;
  here->gradients = here->training = false;
  here->precision = Precision::highest;
  here->seed = seed_;
  here->micro_batch = position;
  here->calls = 0;
  claim.measured = value();
  sections_.back().claims.push_back(std::move(claim));
}

void Measurements::note(const Note& note) {
  if (is_selected(note.id)) sections_.back().notes.push_back(note.text());
}

std::vector<Section> Measurements::sections() const {
  std::vector<Section> measured;
  std::ranges::copy_if(sections_, std::back_inserter(measured),
                       [](const Section& section) { return !section.claims.empty(); });
  return measured;
}

void measure_all(Measurements& m) {
  for (const Topic* topic : topics::all) {
    m.section(topic->title);
    for (const Claim& claim : topic->claims)
      m.measure({claim.id, claim.text, claim.source, claim.bound}, claim.measure);
    for (const Note& note : topic->notes) m.note(note);
  }
}

bool all_hold(const std::vector<Section>& sections) {
  return std::ranges::none_of(sections, [](const Section& section) {
    return std::ranges::any_of(section.claims, &MeasuredClaim::fails);
  });
}

}  // namespace heed::claims
