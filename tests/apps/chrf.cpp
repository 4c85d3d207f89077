// chrF2: values computed by hand, and by tests/fixtures/make_chrf.py.
#include <doctest/doctest.h>

#include <vector>

#include "apps/support/text_scores.h"
#include "temporary.h"

using namespace heed;

namespace {

double chrf(const std::vector<std::string>& hypotheses,
            const std::vector<std::string>& references) {
  return corpus_chrf(hypotheses, references);
}

doctest::Approx nearly(double value) { return doctest::Approx(value).epsilon(1e-12); }

}  // namespace

TEST_CASE("chrf: by hand") {
  CHECK(chrf({"a b c"}, {"abc"}) == nearly(100));  // white space is removed
  CHECK(chrf({"abc\t"}, {"a\xc2\xa0"
                         "bc\n"}) == nearly(100));
  CHECK(chrf({"aa"}, {"ab"}) == nearly(25));  // P = R = (1/2 + 0/1) / 2
  CHECK(chrf({"a", "b"}, {"a", "c"}) == nearly(50));
  // P = (1 + 1 + 1) / 3, R = (3/4 + 2/3 + 1/2) / 3 = 23/36: 5 P R / (4 P + R).
  CHECK(chrf({"abc"}, {"abcd"}) == nearly(100 * 5 * (23. / 36) / (4 + 23. / 36)));
  // A character is a code point: P = R = 1/2.
  CHECK(chrf({"äö"}, {"äü"}) == nearly(25));
  // The reference has no bigram, so those of the hypothesis do not count.
  CHECK(chrf({"ab", "cd"}, {"a", "cd"}) ==
        nearly(100 * 5 * ((3. / 4 + 1) / 2) * 1 / (4 * ((3. / 4 + 1) / 2) + 1)));
  CHECK(chrf({}, {}) == 0);
  CHECK(chrf({""}, {"a"}) == 0);
  CHECK(chrf({"a"}, {""}) == 0);
  CHECK(chrf({"abcdefg"}, {"hijklmnop"}) == 0);
  CHECK(chrf({"\xff\xe2\x80"}, {"\xff\xe2\x80"}) == nearly(100));
  CHECK_CONTAINS(thrown<Error>([] { chrf({"a"}, {}); }), "1 hypotheses for 0 references");
}

TEST_CASE("chrf: as sacreBLEU") {
  CHECK(chrf({"The relationship between Obama and Netanyahu is not exactly friendly."},
             {"The ties between Obama and Netanyahu are not particularly friendly."}) ==
        nearly(61.576379378113785));
  CHECK(chrf({"Die    Beziehung zwischen  Obama und Netanjahu ist nicht gerade  freundlich. "},
             {"Das Verhältnis zwischen Obama und Netanyahu ist nicht gerade freundschaftlich."}) ==
        nearly(64.818123726097));
  CHECK(chrf({"abc de", "ab", "", "grüße"}, {"abcde", "b", "xyz", "grüsse"}) ==
        nearly(51.45673925838729));
  // The lines of sacreBLEU's test/test_chrf.py: make_chrf.py computes its scores there, and these
  // with sacreBLEU's default options.
  const std::vector<std::string>
      hypotheses = {"Co nás nejvíc trápí, protože lékaři si vybírají, kdo bude žít a kdo zemře.",
                    "Nebo prostě nemají vybavení, které by jim pomohlo, uvedli lékaři.",
                    "Lapali po dechu, jejich životy skončily dřív, než skutečně začaly."},
      references = {
          "Nejvíce smutní jsme z toho, že musíme rozhodovat o tom, kdo bude žít a kdo zemře.",
          "A někdy nemáme ani potřebný materiál, abychom jim pomohli, popsali lékaři.",
          "Lapali po dechu a pak jejich život skončil - dřív, než skutečně mohl začít, "
          "připomněli."};
  const double scores[] = {39.14081690316369, 31.225641469352972, 57.15742751282407};
  for (size_t i = 0; i < 3; ++i) CHECK(chrf({hypotheses[i]}, {references[i]}) == nearly(scores[i]));
  CHECK(chrf(hypotheses, references) == nearly(43.03622941164886));
  CHECK(
      chrf(
          {" risk assessment must be made of those who are qualified and expertise in the sector - "
           "these are the scientists ."},
          {"risk assessment has to be undertaken by those who are qualified and expert in that "
           "area - that is the scientists ."}) == nearly(63.43165368117263));
  // Those with the options that heed has: beta does not change them.
  const std::string wall = "Niemand hat die Absicht, eine Mauer zu errichten";
  for (const auto& [hypothesis, reference] :
       {std::pair(wall, wall), {"a", "a"}, {"a b c", "a b c"}, {"a b c", "abc"}})
    CHECK(chrf({hypothesis}, {reference}) == nearly(100));
  CHECK(chrf({"aa"}, {"ab"}) == nearly(25));
  CHECK(chrf({"a", "b"}, {"a", "c"}) == nearly(50));
  for (const char* reference : {"b", "c", "ref", "reference"}) CHECK(chrf({""}, {reference}) == 0);
  CHECK(chrf({"a"}, {"b"}) == 0);
}
