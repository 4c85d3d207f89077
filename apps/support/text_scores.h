// Scores of generated texts against one reference each.
//
// Corpus BLEU (Papineni et al. 2002), equal to the default of sacreBLEU (Post 2018; signature
// nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp):
//
//   BLEU = 100 · min(1, e^(1 - r/c)) · (p₁ p₂ p₃ p₄)^(1/4)
//
// pₙ is the fraction of the hypotheses' n-grams that are in their references; each n-gram matches
// at most as often as the reference contains it. c and r are the token counts of all hypotheses and
// of all references. Counts are summed over the corpus, so BLEU is not the mean of sentence scores.
//
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

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heed {

// Returns BLEU, from 0 to 100, of hypothesis i against reference i. If no n-gram of an order
// matches, pₙ is 1 / (2ᵏ · number of n-grams), where k counts such orders from 1 ("exponential
// smoothing", the NIST method in Chen & Cherry 2014). Returns 0 if nothing matches, if no
// hypothesis has four tokens, or if there are no hypotheses. Throws Error if the two counts differ.
double corpus_bleu(std::span<const std::string> hypotheses,
                   std::span<const std::string> references);

// Returns the number of hypotheses with fewer than four tokens, which have no 4-gram. If they all
// are so short, BLEU is 0 and means nothing.
int64_t outputs_without_4grams(std::span<const std::string> hypotheses);

// Tokenizes a line like mteval-v13a.pl (NIST) and joins the tokens with one space. Punctuation is
// separated, except . and , within numbers, and - unless it follows a digit. &quot; &amp; &lt; &gt;
// are replaced by their characters. Accepts any bytes.
std::string tokenize_13a(std::string_view line);

// Returns chrF2, from 0 to 100, of hypothesis i against reference i. A hypothesis counts for an
// order only if its reference has n-grams of that order. Bytes that are not UTF-8 count as
// characters. Throws Error if the two counts differ.
double corpus_chrf(std::span<const std::string> hypotheses,
                   std::span<const std::string> references);

}  // namespace heed
