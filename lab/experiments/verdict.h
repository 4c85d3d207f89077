// What a comparison shows, in one sentence: the headline of tables, of pages and of JSON.
//
// The verdict is Student's paired test (of losses on the logarithm), with Holm's correction where
// several values are compared.
#pragma once

#include <string>

#include "lab/experiments/effects.h"

namespace heed {

enum class Verdict {
  difference,  // shown by the test
  alike,       // all pairs differ by the same number, or by nothing: there is no test
  none,        // the whole interval is within 5 % or five points of no difference
  open,        // no difference is shown
  few          // fewer than two pairs, or a build without intervals
};
inline constexpr Named<Verdict> verdict_names[] = {{"difference", Verdict::difference},
                                                   {"alike", Verdict::alike},
                                                   {"none", Verdict::none},
                                                   {"open", Verdict::open},
                                                   {"few", Verdict::few}};

Verdict verdict_of(const Comparison& comparison, const Effects& effects);

// Returns "val.loss is 42 times as high (25 to 71; 3 pairs)", "test.exact_match is lower by 3.1
// points (2.0 to 4.2; 6 pairs)" or "no difference shown: between 0.7 and 1.6 times (3 pairs)".
// Differences of fractions are in points.
std::string verdict_text(const Comparison& comparison, const Effects& effects);

}  // namespace heed
