// The claims of the source documents (docs/sources.md), each measured.
//
// A claim that two things are equal has an upper bound on their difference. A claim that something
// changes a result has a lower bound, so that no claim holds because nothing was measured.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heed::claims {

// What a claim rests on.
enum class Evidence {
  trained,       // a model that the claim trains
  random,        // random weights and inputs
  construction,  // definitions: no random number can change what is measured
};

struct Bound {
  double value = 0;
  bool is_lower = false;
  Evidence evidence = Evidence::random;
};
constexpr Bound at_most(double value) { return {value, false}; }
constexpr Bound at_least(double value) { return {value, true}; }
// For shapes, counts and copies that definitions fix: measuring them finds a mistake in the
// library, and is no evidence about attention.
inline constexpr Bound by_construction = {0, false, Evidence::construction};
// For a claim that trains what it measures.
constexpr Bound trained(Bound bound) { return {bound.value, bound.is_lower, Evidence::trained}; }

// Bounds on relative differences in float32: equal up to rounding, and clearly different.
inline constexpr Bound equal = at_most(5e-6), differs = at_least(1e-2);

struct Claim {
  std::string id;  // A1 … A52, Q1 … Q19: the row of docs/sources.md
  Bound bound;
  const char* source;  // S0 … S4, and the section or equation
  // One line. What is measured stands in parentheses at its end; without them it is the largest
  // difference between what the claim equates or tells apart.
  const char* text;
  std::function<double()> measure;
  bool is_question = false;  // a property that a model may or may not have: neither is a failure
  double measured = 0;       // by measured()

  // False for NaN.
  bool holds() const { return bound.is_lower ? measured >= bound.value : measured <= bound.value; }
  bool fails() const { return !is_question && !holds(); }
  // Whether it is about a mistake in the documents, and not about attention.
  bool is_misprint() const { return id[0] == 'Q'; }
};

// A text printed below the claims of a topic.
struct Note {
  std::string id;
  std::string (*text)();
};

struct Topic {
  std::string title;
  std::vector<Claim> claims;
  std::vector<Note> notes = {};
};

// The claims of a topic, each in a file of this folder.
namespace topics {
extern const std::vector<Claim> attention, scale, heads, permutations, examples, positions, costs,
    layers, mistakes_s0_s3, mistakes_s1_s2_s4;
extern const std::vector<Note> notes_of_costs;
}  // namespace topics

// All topics. Their order determines the random numbers that a claim draws.
std::vector<Topic> all_topics();

// Measures the claims with these ids, or all if there are none, and leaves out the others. The
// random numbers that a claim draws depend only on the seed and on its position among all claims,
// not on which ones are selected. Throws InputError for an id that does not exist.
std::vector<Topic> measured(std::vector<Topic> topics, uint64_t seed,
                            const std::vector<std::string>& only);

// Returns whether no claim fails.
bool all_hold(const std::vector<Topic>& topics);

}  // namespace heed::claims
