// Every exercise: its solution passes, what is shipped does not, and each of the wrong answers that
// its grader knows is named.
#include <doctest/doctest.h>

#include "tests/course/exercises/graded.h"
#include "tests/course/exercises/samples.h"

using namespace heed::course;

TEST_CASE("every exercise: the solution passes") {
  int count = 0;
  for_each_exercise([&](const Exercise& each) {
    const std::string name = each.name;
    CAPTURE(name);
    ++count;
    REQUIRE(samples().contains(each.name));
    CHECK(verdict(each, samples().at(each.name).solution) == "");
  });
  CHECK(count == static_cast<int>(samples().size()));
}

TEST_CASE("every exercise: the grader says of what is shipped what is missing") {
  const std::map<std::string_view, std::string_view> others{
      {"broadcast_shapes", "This is the shape of a, always."},
      {"bug_in_evaluation", "A batch weighs as much as it has rows."},
      {"bug_in_lookup", "If a token occurs several times, only its last occurrence counts."},
      {"bug_in_pooling", "An example reads more than its own positions."},
      {"checkpoint", "nothing is saved yet"},
      {"count_bytes", "This is the number of values"},
      {"count_flops", "the layers are missing"},
      {"count_parameters", "the layers, the positions and the rest are missing"},
      {"matmul_backward", "Every element of this gradient is 0."},
      {"multiply_backward", "Every element of this gradient is 0."}};
  for_each_exercise([&](const Exercise& each) {
    const auto other = others.find(each.name);
    const auto sentence = other == others.end() ? "nothing is computed yet" : other->second;
    check_sentence(__FILE__, __LINE__, sentence, each, samples().at(each.name).shipped);
  });
}

// So no two of them are alike: the first that is would name the other.
TEST_CASE("every exercise: each wrong answer is named, and the right one passes") {
  for_each_exercise([](const Exercise& each) {
    const std::string name = each.name;
    CAPTURE(name);
    for (const uint64_t seed : {1, 2, 3}) {
      const std::vector<Grader> mistakes = each.graded_mistakes(seed);
      for (size_t i = 0; i < mistakes.size(); ++i) {
        const std::string& sentence = each.mistakes()[i].sentence;
        CAPTURE(sentence);
        if (sentence.empty()) {
          CHECK_MESSAGE(mistakes[i].passed(),
                        (mistakes[i].passed() ? "" : mistakes[i].finding()->problem));
          continue;
        }
        REQUIRE_MESSAGE(!mistakes[i].passed(), "passes with seed ", seed);
        CHECK(each.finding_of(mistakes[i], mistakes)->sentence == sentence);
      }
    }
  });
}
