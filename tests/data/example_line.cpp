// Lines of examples: what each form is read as, and what is rejected.
#include "data/example_line.h"

#include <cmath>

#include "support.h"

namespace heed {

using Form = LineValue::Form;
using Views = std::vector<std::string_view>;

static ExampleLine parsed(std::string_view line) {
  ExampleLine example;
  for (const char* before : {R"({"source": "\n", "target": [null], "group": "old", "grid": [1]})",
                             R"({"source": "\n", "target": ["old", "er"]})"})
    parse_example(before, {"a", 1}, example);  // nothing of them stays
  parse_example(line, {"a.jsonl", 7}, example);
  return example;
}

TEST_CASE("examples: the forms of a line") {
  const ExampleLine texts = parsed(R"( { "input" : "a b" , "target":". b","group":"short" } )");
  CHECK(texts.input.form == Form::text);
  CHECK(texts.input.text == "a b");
  CHECK(texts.target.text == ". b");
  CHECK(!texts.is_pair());
  CHECK(texts.groups == decltype(texts.groups){{"", "short"}});
  CHECK(texts.grid.empty());

  const ExampleLine lists =
      parsed(R"({"source": ["a", "b c"], "target": [null, "d"], "positions": [7, 8],)"
             R"("group": {"length": "2", "kind": "x"}})");
  CHECK(lists.is_pair());
  CHECK(lists.input.tokens == Views{"a", "b c"});
  CHECK(lists.target.tokens.size() == 2);
  CHECK(lists.target.tokens[0].data() == nullptr);
  CHECK(lists.target.has_null);
  CHECK(lists.positions == std::vector<int32_t>{7, 8});
  CHECK(lists.groups == decltype(lists.groups){{"length", "2"}, {"kind", "x"}});

  const ExampleLine real = parsed(R"({"input": [[0.1, 2], [-3e1, 0]], "target": [null, 3.25]})");
  CHECK(real.input.form == Form::vectors);
  CHECK(real.input.width == 2);
  CHECK(real.input.size == 2);
  CHECK(real.input.numbers == std::vector<float>{0.1F, 2, -30, 0});
  CHECK(real.target.form == Form::numbers);
  CHECK(std::isnan(real.target.numbers[0]));
  CHECK(real.target.numbers[1] == 3.25F);

  const ExampleLine nulls = parsed(R"({"nodes": [[1]], "target": [null, null], "grid": [1, 1]})");
  CHECK(nulls.target.form == Form::tokens);
  CHECK(nulls.target.tokens.size() == 2);
  CHECK(nulls.target.numbers.size() == 2);
  CHECK(parsed(R"({"input": "a", "target": 2})").target.form == Form::number);
  CHECK(!parsed("{}").input.exists());
}

TEST_CASE("examples: escapes of a string") {
  const ExampleLine line = parsed(R"({"input": ["\u00e9\ud83d\ude00", "\"\\\/\b\f\n\r\t\u0000"]})");
  CHECK(line.input.tokens[0] == "\u00E9\U0001F600");
  CHECK(line.input.tokens[1] == std::string_view("\"\\/\b\f\n\r\t\0", 9));
}

TEST_CASE("examples: a broken line has one error with file, line and key") {
  constexpr std::pair<const char*, const char*> lines[] = {
      {"", "expected an object, such as {\"input\": …, \"target\": …}, found the end"},
      {"[1]", "expected an object"},
      {"{", "expected a key in quotation marks, found the end of the line"},
      {R"({input: 1})", "expected a key in quotation marks, found input: 1} at byte 2"},
      {R"({"input" "a"})", "\"input\": expected ':' after the key"},
      {R"({"input": "a)", "\"input\": expected the '\"' that ends a string, found the end"},
      {R"({"input": "a")", "expected ',' or '}', found the end of the line"},
      {R"({"input": "a"} x)", "expected the end of the line after the object, found x at byte 16"},
      {R"({"input": "a"}{})", "expected the end of the line after the object"},
      {R"({"input": "a", })", "expected a key in quotation marks"},
      {R"({"inptu": "a"})", "there is no key \"inptu\"; the keys are input, source, nodes, target"},
      {R"({"input": "a", "input": "b"})", "\"input\": the key is repeated"},
      {R"({"nodes": [1], "source": "b"})", "\"nodes\": excludes \"input\" and \"source\""},
      {R"({"input": [1], "nodes": [1]})", "\"nodes\": excludes \"input\" and \"source\""},
      {R"({"input": null})", "\"input\": expected a string, a number or a list, found null}"},
      {R"({"input": {}})", "\"input\": expected a string, a number or a list, found {}}"},
      {R"({"input": true})", "\"input\": expected a string, a number or a list, found true}"},
      {R"({"input": [true]})",
       "\"input\": expected a string, a number, a list of numbers, or null"},
      {R"({"input": [NaN]})", "\"input\": expected a string, a number, a list of numbers, or null"},
      {R"({"input": [1, -Infinity]})", "\"input\": expected a string, a number"},
      {R"({"input": [1e39]})", "\"input\": expected a number in the range of float32"},
      {R"({"input": [1e999]})", "\"input\": expected a number in the range of float32"},
      {R"({"input": [1, "a"]})", "\"input\": expected entries of one kind"},
      {R"({"input": ["a", [1]]})", "\"input\": expected entries of one kind"},
      {R"({"input": [[1, 2], [1]]})",
       "\"input\": expected lists of 2 numbers before, as the first"},
      {R"({"input": [[1], 1]})", "\"input\": expected entries of one kind"},
      {R"({"input": [[]]})", "\"input\": expected a number in each list before"},
      {R"({"input": [[1], null]})", "\"input\": expected a list of numbers, not null, before"},
      {R"({"input": [null, [1]]})", "\"input\": expected no null before a list of numbers"},
      {R"({"input": [["a"]]})", "\"input\": expected a number, found \"a\"]]}"},
      {R"({"input": [[[[[[[[1]]]]]]]]})", "\"input\": expected a number, found [[[[[[1]]]]]]]]}"},
      {R"({"input": ["a" "b"]})", "\"input\": expected ',' or ']'"},
      {R"({"input": ["a",]})", "\"input\": expected a string, a number"},
      {R"({"input": ["a", ""]})", "\"input\": expected no empty token before"},
      {R"({"input": "\x"})", "\"input\": expected one of \\\" \\\\"},
      {R"({"input": "\u12g4"})", "\"input\": expected four hexadecimal digits after \\u"},
      {R"({"input": "\ud800"})", "\"input\": expected a pair of surrogates before"},
      {R"({"input": "\ud800\u0041"})", "\"input\": expected a pair of surrogates before"},
      {R"({"input": "\udc00"})", "\"input\": expected a pair of surrogates before"},
      {R"({"input": "\udc00\udc00"})", "\"input\": expected a pair of surrogates before"},
      {"{\"input\": \"a\tb\"}", "\"input\": expected no control character"},
      {"{\"input\": \"\xFF\"}", "\"input\": expected valid UTF-8 before"},
      {"\xEF\xBB\xBF{}", "expected an object"},
      {R"({"positions": [1.5]})", "\"positions\": expected an integer from 0 to 2147483647"},
      {R"({"positions": [-1]})", "\"positions\": expected an integer from 0 to 2147483647"},
      {R"({"positions": [2147483648]})", "\"positions\": expected an integer from 0 to 2147483647"},
      {R"({"grid": []})", "\"grid\": expected at least one integer before"},
      {R"({"grid": 8})", "\"grid\": expected a list of integers, found 8}"},
      {R"({"group": 3})", "\"group\": expected a string or an object, found 3}"},
      {R"({"group": {"a": 3}})", "\"group\": expected a string, found 3}}"},
      {R"({"group": {"a": "1", "a": "2"}})", "\"group\": \"a\" is repeated before"}};
  for (const auto& each : lines) {
    const auto line = each.first;
    const auto expected = each.second;
    CAPTURE(std::string(line));
    const std::string error = input_error([&] { parsed(line); });
    CHECK_CONTAINS(error, "a.jsonl: line 7: ");
    CHECK_CONTAINS(error, expected);
    CHECK(error.find('\n') == error.npos);
  }
  const std::string deep = R"({"input": )" + std::string(1 << 20, '[');
  CHECK_CONTAINS(input_error([&] { parsed(deep); }), "\"input\": expected a number, found [[[");
}

}  // namespace heed
