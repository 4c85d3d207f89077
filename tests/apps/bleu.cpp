// BLEU: values computed by hand, and the tokenization of mteval-v13a.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "apps/support/text_scores.h"
#include "temporary.h"

using namespace heed;

namespace {

using Lines = std::vector<std::string>;

double bleu(const Lines& hypotheses, const Lines& references) {
  return corpus_bleu(hypotheses, references);
}

doctest::Approx close_to(double value) { return doctest::Approx(value).epsilon(1e-12); }

}  // namespace

TEST_CASE("bleu: equal lines score 100, regardless of spacing") {
  CHECK(bleu({"the cat sat on the mat ."}, {"the cat sat on the mat ."}) == close_to(100));
  CHECK(bleu({"the  cat sat on the mat. \n"}, {"the cat sat on the mat ."}) == close_to(100));
  // Lines of fewer than four tokens are allowed if another line has four.
  CHECK(bleu({"a b c d", "", "a"}, {"a b c d", "", "a"}) == close_to(100));
}

TEST_CASE("bleu: n-gram matches are clipped to the count in the reference") {
  // Unigrams: 7 times "the", clipped to the 2 of the reference: 2/7 (Papineni et al. 2002, example
  // 2). No longer n-gram matches: 1/(2 · 6), 1/(4 · 5), 1/(8 · 4).
  CHECK(bleu({"the the the the the the the"}, {"the cat is on the mat"}) ==
        close_to(100 * std::pow(2. / 7 / 12 / 20 / 32, 0.25)));
  // 4/5, 3/4, 2/3, 1/2: their product is 1/5.
  CHECK(bleu({"a b c d e"}, {"a b c d f"}) == close_to(100 * std::pow(0.2, 0.25)));
  // Case matters.
  CHECK(bleu({"A b c d e"}, {"a b c d e"}) == close_to(100 * std::pow(0.2, 0.25)));
}

TEST_CASE("bleu: counts are summed over the corpus") {
  // 4 of 4 and 0 of 4 unigrams; 3 of 6; 2 of 4; 1 of 2: every fraction is 1/2.
  CHECK(bleu({"a b c d", "e f g h"}, {"a b c d", "i j k l"}) == close_to(50));
  // Hypothesis i is compared only with reference i.
  CHECK(bleu({"a b c d", "e f g h"}, {"e f g h", "a b c d"}) == 0);
}

TEST_CASE("bleu: the brevity penalty applies only to hypotheses shorter than the references") {
  // All n-grams match; c = 4, r = 6: e^(1 - 6/4).
  CHECK(bleu({"a b c d"}, {"a b c d e f"}) == close_to(100 * std::exp(-0.5)));
  // Lengths are summed too: c = 8, r = 8.
  CHECK(bleu({"a b c d", "e f g h"}, {"a b c d e", "f g h"}) ==
        close_to(100 * std::pow(7. / 8 * 5 / 6 * 3 / 4 * 1 / 2, 0.25)));
  // 4/6, 3/5, 2/4, 1/3: their product is 1/15.
  CHECK(bleu({"a b c d e f"}, {"a b c d"}) == close_to(100 * std::pow(1. / 15, 0.25)));
}

TEST_CASE("bleu: orders without a match are smoothed exponentially") {
  // 4/5 unigrams; a b and d e of 4 bigrams; none of 3 trigrams: 1/(2 · 3); none of 2: 1/(4 · 2).
  CHECK(bleu({"a b x d e"}, {"a b c d e"}) ==
        close_to(100 * std::pow(4. / 5 * 2 / 4 / 6 / 8, 0.25)));
  // 1 of 4 unigrams matches: 1/(2 · 3), 1/(4 · 2), 1/(8 · 1).
  CHECK(bleu({"a x y z"}, {"a b c d"}) == close_to(100 * std::pow(1. / 4 / 6 / 8 / 8, 0.25)));
}

// The values and the lines are those of sacreBLEU's tests, where a hypothesis has one reference.
TEST_CASE("bleu: as sacreBLEU") {
  // test/test_sentence_bleu.py, smooth_method "exp", tokenizer 13a, in percent within 0.001.
  CHECK(bleu({"Producția de zahăr primă va fi exprimată în ceea ce privește zahărul alb;"},
             {"producţia de zahăr brut se exprimă în zahăr alb;"}) ==
        doctest::Approx(8.493).epsilon(0.001 / 8.493));
  CHECK(bleu({"this is a cat"}, {"okay thanks"}) == 0);
  // test/test_bleu.py, test_case_scoring: of 10, 8, 6, 4 n-grams 9, 7, 5, 3 match.
  CHECK(bleu({"a b c d e", "f g h i j"}, {"a b c d x", "f g h i j"}) ==
        doctest::Approx(83.75922397).epsilon(1e-9));
  // test_raw_bleu, without an n-gram that fails, so without smoothing.
  CHECK(bleu({"this is a test"}, {"this is a test"}) == close_to(100));
}

TEST_CASE("bleu: undefined scores are 0") {
  CHECK(bleu({}, {}) == 0);
  CHECK(bleu({""}, {""}) == 0);
  CHECK(bleu({""}, {"a b c d"}) == 0);
  CHECK(bleu({"a b c d"}, {""}) == 0);
  CHECK(bleu({"x y z w"}, {"a b c d"}) == 0);
  // No 4-gram. The highest order is not reduced.
  CHECK(bleu({"a b c", "a b c"}, {"a b c", "a b c"}) == 0);
  CHECK_CONTAINS(thrown<Error>([] { bleu({"a"}, {"a", "b"}); }), "1 hypotheses for 2 references");
}

TEST_CASE("bleu: tokenization matches mteval-v13a") {
  const std::pair<std::string, std::string> cases[] = {
      {"", ""},
      {" \t\n", ""},
      {"Hello, world!", "Hello , world !"},
      {"(a) [b] {c} <d> \"e\"", "( a ) [ b ] { c } < d > \" e \""},
      {"a/b\\c@d#e$f%g^h&i*j_k+l=m|n~o`p;q:r?",
       "a / b \\ c @ d # e $ f % g ^ h & i * j _ k + l = "
       "m | n ~ o ` p ; q : r ?"},
      {"it's", "it's"},  // the apostrophe is not separated
      {"costs 1,000.50 or .5 or 5.", "costs 1,000.50 or . 5 or 5 ."},
      {"a.b 1.b a.1", "a . b 1 . b a . 1"},
      {"1,2, 3", "1,2 , 3"},
      {"...", ". . ."},
      {"well-known 1990-2000 a- -1", "well-known 1990 - 2000 a- -1"},
      {"a cut-\nword", "a cutword"},
      {"two\nlines", "two lines"},
      {"ends in a dash-\n", "ends in a dash-"},  // trailing white space is removed first
      {"<skipped>a b<skipped>", "a b"},
      {"&quot;a&quot; &lt;b&gt; c&amp;d", "\" a \" < b > c & d"},
      {"&amp;lt;", "<"},       // &amp; is replaced before &lt;
      {"&apos;", "& apos ;"},  // no other entity is replaced
      {"caf\xc3\xa9. na\xc3\xafve", "caf\xc3\xa9 . na\xc3\xafve"},
      {"a\xc2\xa0"
       "b\xe3\x80\x80"
       "c\xe2\x80\x89"
       "d",
       "a b c d"},  // Unicode spaces
      {"a\xe2\x80\x8b"
       "b",
       "a\xe2\x80\x8b"
       "b"},  // zero width space is not white space
  };
  for (const auto& [text, tokens] : cases) {
    const auto& line = text;
    CAPTURE(line);
    CHECK(tokenize_13a(line) == tokens);
  }
}

TEST_CASE("bleu: accepts any bytes") {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  CHECK(bleu({all + all}, {all + all}) == close_to(100));
  CHECK(tokenize_13a("\xe2\x80") == "\xe2\x80");
  CHECK(tokenize_13a("\xc2") == "\xc2");
  CHECK(tokenize_13a(std::string("a\0.b", 4)) == std::string("a\0 . b", 6));
}
