// Drawings: what a call writes.
#include "apps/support/canvas.h"

#include <doctest/doctest.h>

#include "checks.h"

using namespace heed;

TEST_CASE("canvas: coordinates are written to a tenth of a pixel, and words escaped") {
  Canvas canvas;
  canvas.text(1.26, -0.01, "start", "a<b");
  canvas.points(2, {{1, 2.04}, {3.5, 4}});
  const std::string svg = canvas.svg(10, 10, "");
  CHECK_CONTAINS(svg, "<text x=\"1.3\" y=\"0\">a&lt;b</text>");
  CHECK_CONTAINS(svg, "d=\"M1 2m0-4.5l4.5 8h-9zM3.5 4m0-4.5l4.5 8h-9z\"/>");
}
