#include "apps/support/names.h"

#include <doctest/doctest.h>

using namespace heed;

TEST_CASE("names: matches_any supports * and ?") {
  CHECK(matches_any("encoder.layers.0.norm.weight", {"encoder.*"}));
  CHECK(matches_any("a.b", {"x", "a?b"}));
  CHECK_FALSE(matches_any("decoder.weight", {"encoder.*"}));
  CHECK_FALSE(matches_any("a", {}));
}

TEST_CASE("names: a score without its group, which may have dots and brackets") {
  CHECK(without_group("val.loss[length 1.5]") == "val.loss");
  CHECK(without_group("exact_match[a[b]]") == "exact_match");
  CHECK(without_group("test[12].loss") == "test[12].loss");  // of a kind
  CHECK(without_group("heads.attention[1].entropy") == "heads.attention[1].entropy");
}

TEST_CASE("names: layer_of gives the layer of a parameter or module") {
  CHECK(layer_of("") == "");
  CHECK(layer_of("head") == "head");
  CHECK(layer_of("embedding.token") == "embedding");
  CHECK(layer_of("decoder.norm") == "decoder.norm");
  CHECK(layer_of("encoder") == "encoder");
  CHECK(layer_of("encoder.layers.0") == "encoder.layers.0");
  CHECK(layer_of("encoder.layers.12.attention") == "encoder.layers.12.attention");
  CHECK(layer_of("encoder.layers.12.attention.query") == "encoder.layers.12.attention");
  CHECK(layer_of("pool.attention.key") == "pool");
}
