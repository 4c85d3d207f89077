// BLEU (Papineni et al. 2002) of a whole corpus, the same number that sacreBLEU gives by default
// (Post 2018; signature nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp):
//
//   BLEU = 100 · min(1, e^(1 - r/c)) · (p₁ p₂ p₃ p₄)^(1/4)
//
// pₙ is the share of the hypotheses' n-grams that are in their references, each as often as it is
// there at most; c and r are the numbers of tokens in all hypotheses and all references. Counts are
// summed over the corpus first: it is not the mean of the sentences' scores.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace heed {

// From 0 to 100, hypothesis i against reference i. Where no n-gram of an order matches, pₙ is
// 1 / (2ᵏ · number of n-grams), k counting such orders from 1 ("exponential smoothing", the NIST
// method in Chen & Cherry 2014). 0 where nothing at all matches, where no hypothesis has four
// tokens, and for no hypotheses. Throws Error if the counts differ.
double corpus_bleu(std::span<const std::string> hypotheses,
                   std::span<const std::string> references);

// The tokens of a line with one space between, as mteval-v13a.pl (NIST) cuts them: punctuation
// stands alone, but . and , stay within numbers, and - stays unless it follows a digit; &quot;
// &amp; &lt; &gt; are what they stand for. Any bytes will do.
std::string tokenize_13a(std::string_view line);

}  // namespace heed
