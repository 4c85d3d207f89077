// Formulas in the terminal.
#include "course/tutor/formulas.h"

#include <doctest/doctest.h>

#include "apps/support/files.h"
#include "course/tutor/catalogue.h"
#include "course/tutor/workshop.h"

namespace heed {
namespace {

TEST_CASE("formulas: TeX becomes Unicode") {
  CHECK(formulas_as_text("a score $x_t \\cdot x_s$, and $W^Q$") == "a score xₜ · xₛ, and W^Q");
  CHECK(formulas_as_text("$\\begin{pmatrix} 1 & 0 \\\\ 0 & 4 \\end{pmatrix}$") ==
        "((1, 0), (0, 4))");
  CHECK(formulas_as_text("$\\bar a = \\sum_{j \\le i + T_k} \\bar y\\, b$") ==
        "a\u0304 = Σ_(j ≤ i + Tₖ) y\u0304 b");
  CHECK(formulas_as_text("$\\frac{1 + \\cos \\pi x}{2} \\sqrt{H K} e^{-\\infty}$") ==
        "(1 + cos π x)/2 √(H K) e^(-∞)");
  CHECK(formulas_as_text("$\\mathrm{softmax}\\Bigl(\\frac{Q_h K_h^{\\top}}{\\sqrt K}\\Bigr)$") ==
        "softmax((Qₕ Kₕᵀ)/√K)");
  CHECK(formulas_as_text("$\\lVert g \\rVert + 10^{-6}$") == "‖g‖ + 10⁻⁶");
}

TEST_CASE("formulas: a displayed formula has lines of its own") {
  CHECK(formulas_as_text("of\n\n$$y = a,\\qquad\nb = c$$\n\nend") ==
        "of\n\n    y = a,\n    b = c\n\nend");
}

TEST_CASE("formulas: code stays, and so does a sign without an end") {
  for (const char* text : {"`$x_t$` costs $5\n\nand $6", "```\n$a_b$\n\n$c$\n```", "``a ` $b_c$``"})
    CHECK(formulas_as_text(text) == text);
}

TEST_CASE("formulas: what is cut off is shown as far as it goes") {
  CHECK(formulas_as_text("$\\frac{a$") == "a/");
  CHECK(formulas_as_text("$a_$ $b^$ $\\sqrt$") == "a b √");
  CHECK(formulas_as_text("$}x{$ $\\begin{pmatrix} 1$") == "x ((1))");
}

TEST_CASE("formulas: no command of TeX is left in a task, a hint or a background") {
  for (const Exercise& exercise : course_exercises(Workshop::find()))
    for (const char* file : {"task.md", "hints.md", "background.md"}) {
      CAPTURE(exercise.name);
      const std::string text = formulas_as_text(exercise.file(file));
      for (const char* left : {"\\frac", "\\sum", "\\bar", "\\begin", "\\mathrm", "$"})
        CHECK_MESSAGE(text.find(left) == std::string::npos, file, ": ", left);
    }
}

}  // namespace
}  // namespace heed
