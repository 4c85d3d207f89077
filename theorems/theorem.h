// What `heed theorems` measures: claims of the documents that heed grew from (docs/sources.md),
// each on random data, with a number and the bound it must keep to.
//
// A claim that two things are the same has an upper bound on how far apart they are; a claim that
// something breaks, or matters, has a lower one, so that nothing holds by measuring nothing.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace heed::theorems {

struct Theorem {
  std::string id;      // A1 … A52, Q1 … Q19: the row of docs/sources.md
  std::string claim;   // in one line
  std::string source;  // S0 … S4, and the place in it
  double measured = 0;
  double bound = 0;
  bool is_lower_bound = false;
  bool is_question = false;  // a property that a model may have or not: neither is a failure

  // Not for a number that is not one.
  bool holds() const { return is_lower_bound ? measured >= bound : measured <= bound; }
  bool fails() const { return !is_question && !holds(); }
};

struct Section {
  std::string title;
  std::vector<Theorem> theorems;
  std::vector<std::string> notes;  // tables for a person, which claim nothing
};

// The two bounds that most theorems have, of relative differences in float32.
inline constexpr double rounding = 5e-6, different = 1e-2;

// Measures what it is told of and keeps what comes out. What a row draws at random depends on the
// seed and the number of the row alone, and not on which others are wanted.
class Measurements {
 public:
  // `only`: the ids wanted; empty: all of them.
  Measurements(uint64_t seed, std::vector<std::string> only);

  void section(std::string title);
  using Measure = std::function<double()>;
  void at_most(const char* id, double bound, const char* source, const char* claim,
               const Measure& measure);
  void at_least(const char* id, double bound, const char* source, const char* claim,
                const Measure& measure);
  // A property of a model: a theorem where it is promised, a question where it is not.
  void property(const char* id, bool promised, bool is_lower_bound, double bound,
                const char* source, const char* claim, const Measure& measure);
  // A text below the section, made where the id is wanted.
  void note(const char* id, const std::function<std::string()>& text);

  // Every id met so far, requested or not.
  const std::vector<std::string>& ids() const { return ids_; }
  // Those in which something was measured.
  std::vector<Section> sections() const;

 private:
  bool wants(const std::string& id);
  void add(Theorem theorem, const Measure& measure);

  uint64_t seed_;
  uint32_t rows_ = 0;
  std::vector<std::string> only_, ids_;
  std::vector<Section> sections_;
};

// Every theorem there is, by theme.
void measure_attention(Measurements& m);      // attention.cpp
void measure_scale(Measurements& m);          // scale.cpp
void measure_heads(Measurements& m);          // heads.cpp
void measure_permutations(Measurements& m);   // permutations.cpp
void measure_examples(Measurements& m);       // examples.cpp
void measure_positions(Measurements& m);      // positions.cpp
void measure_costs(Measurements& m);          // costs.cpp
void measure_layers(Measurements& m);         // layers.cpp
void measure_mistakes(Measurements& m);       // mistakes.cpp
void measure_more_mistakes(Measurements& m);  // more_mistakes.cpp
void measure_all(Measurements& m);

// Whether no theorem fails; questions do not count.
bool all_hold(const std::vector<Section>& sections);

}  // namespace heed::theorems
