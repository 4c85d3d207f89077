// The claims of the source documents (docs/sources.md), each measured on random inputs.
//
// A claim that two things are equal has an upper bound on their difference. A claim that something
// changes a result has a lower bound, so that no claim holds because nothing was measured.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/registry.h"

namespace heed::claims {

// The documents, as in docs/sources.md.
struct Document {
  const char *id, *title;
};
inline constexpr Document documents[] = {
    {"S0", "Ji, Xie & Gao, A Mathematical View of Attention Models in Deep Learning"},
    {"S1", "a notebook on basic, query-key-value and multi-head attention"},
    {"S2", "a blog's notation for attention, multi-head and cross-attention"},
    {"S3", "White, Deep Learning for Molecules and Materials, chapter 12, Attention Layers"},
    {"S4", "Pitié, Deep Learning and its Applications, handout 10, Attention and Transformers"}};

struct Bound {
  double value = 0;
  bool is_lower = false;
  bool by_construction = false;  // no random number can change what is measured

  // False for NaN.
  bool holds(double measured) const { return is_lower ? measured >= value : measured <= value; }
};
constexpr Bound at_most(double value) { return {value, false}; }
constexpr Bound at_least(double value) { return {value, true}; }
// For shapes, counts and copies that definitions fix: measuring them finds a mistake in the
// library, and is no evidence about attention.
inline constexpr Bound by_construction = {0, false, true};

// Bounds on relative differences in float32: equal up to rounding, and clearly different.
inline constexpr Bound equal = at_most(5e-6), differs = at_least(1e-2);

struct Claim {
  const char* id;  // A1 … A52, Q1 … Q19: the row of docs/sources.md
  Bound bound;
  const char* source;  // S0 … S4, and the section or equation
  // One line. What is measured stands in parentheses at its end; without them it is the largest
  // difference between what the claim equates or tells apart.
  const char* text;
  double (*measure)();
};

// A text printed below the claims of a topic.
struct Note {
  const char* id;
  std::string (*text)();
};

struct Topic {
  const char* title;
  std::span<const Claim> claims;
  std::span<const Note> notes = {};
};

// Each topic is a file, lab/claims/<topic>.cpp, and an entry here. The order determines the random
// numbers that a claim draws.
// clang-format off
#define HEED_TOPICS(entry) \
  entry(attention) \
  entry(scale) \
  entry(heads) \
  entry(permutations) \
  entry(examples) \
  entry(positions) \
  entry(costs) \
  entry(layers) \
  entry(mistakes_s0_s3) \
  entry(mistakes_s1_s2_s4)
// clang-format on
HEED_REGISTRY(topics, Topic, HEED_TOPICS)

// A claim and its measured value.
struct MeasuredClaim {
  std::string id, claim, source;
  Bound bound;
  bool is_question = false;  // a property that a model may or may not have: neither is a failure
  double measured = 0;

  bool holds() const { return bound.holds(measured); }
  bool fails() const { return !is_question && !holds(); }
  // Whether it is about a mistake in the documents, and not about attention.
  bool is_misprint() const { return id[0] == 'Q'; }
};

struct Section {
  std::string title;
  std::vector<MeasuredClaim> claims;
  std::vector<std::string> notes;
};

// Measures the selected claims. The random numbers that a claim draws depend only on the seed
// and on its position among all claims, not on which ones are selected.
class Measurements {
 public:
  // `only`: the ids to measure; empty: all.
  Measurements(uint64_t seed, std::vector<std::string> only);

  void section(std::string title);
  // Both do nothing if the id is not selected.
  void measure(MeasuredClaim claim, const std::function<double()>& value);
  void note(const Note& note);

  // Every id met so far, selected or not.
  const std::vector<std::string>& ids() const { return ids_; }
  // The sections in which something was measured.
  std::vector<Section> sections() const;

 private:
  bool is_selected(const std::string& id);

  uint64_t seed_;
  uint32_t count_ = 0;
  std::vector<std::string> only_, ids_;
  std::vector<Section> sections_;
};

// Measures the claims of every topic.
void measure_all(Measurements& m);

// Returns whether no claim fails.
bool all_hold(const std::vector<Section>& sections);

}  // namespace heed::claims
