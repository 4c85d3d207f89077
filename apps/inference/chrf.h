// chrF2, the F-score of character n-grams (Popović 2015), equal to the default of sacreBLEU 2 (Post
// 2018; signature nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no):
//
//   chrF2 = 100 · (1 + 2²) P R / (2² P + R)
//
// P and R are the means over n = 1 … 6 of the fraction of the hypotheses' n-grams that are in their
// references, and of the references' n-grams that are in their hypotheses, matches clipped as in
// BLEU. White space is removed first. Counts are summed over the corpus. An order is left out of
// the means if one side has no n-gram of it. Unlike BLEU it is meaningful for short texts.
#pragma once

#include <span>
#include <string>

namespace heed {

// Returns chrF2, from 0 to 100, of hypothesis i against reference i. A hypothesis counts for an
// order only if its reference has n-grams of that order. Bytes that are not UTF-8 count as
// characters. Throws Error if the two counts differ.
double corpus_chrf(std::span<const std::string> hypotheses,
                   std::span<const std::string> references);

}  // namespace heed
