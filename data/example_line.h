// One example of data.kind = "examples": a JSON object (RFC 8259) on a line of its own.
//
//   {"input": "k2 v0 k2", "target": [null, null, "v0"]}      tokens: a text, or a list of them
//   {"source": "3 + 4", "target": "7"}                       a pair
//   {"source": "is it red", "input": [[…], …], "target": …}  two sources: tokens and vectors
//   {"input": [[0.1, 2], [0, 1]], "target": [null, 3.2]}     real vectors, and numbers
//   {"nodes": […], "edges": [[0, 1, 0.5]], "target": "x"}    a graph
//
// Optional keys: global (of a graph), positions, group, reference, grid. Arrays of a file become
// the same examples: data/array_examples.h.
#pragma once

#include <cstdint>
#include <forward_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

// What a key of the object has.
struct LineValue {
  // A list has entries of one kind, and those that are not lists may be null. One of nulls only is
  // a list of tokens, whose `numbers` are NaN.
  enum class Form { absent, text, tokens, number, numbers, vectors };
  Form form = Form::absent;
  std::string_view text = {};                 // of text
  std::vector<std::string_view> tokens = {};  // of tokens; data() is null for null
  // Of number, of numbers, and of vectors, one after the other. NaN for null.
  std::vector<float> numbers = {};
  int64_t width = 0;      // number of entries of each of the vectors
  int64_t size = 0;       // number of entries of a list
  bool has_null = false;  // some entry is null

  bool exists() const { return form != Form::absent; }
  bool is_vector() const { return form == Form::numbers && !has_null; }
  void set_text(std::string_view of_text) {  // makes it a text
    form = Form::text;
    text = of_text;
  }
};

// An example as it was written. Texts are views into the line, or into `unescaped`.
struct ExampleLine {
  LineValue input;   // of "input" or "nodes", or else of "source"
  LineValue source;  // of "source" beside an "input"
  LineValue target;  // of "target"
  LineValue reference, edges, global;
  const char* input_key = "";                      // that of `input`, or ""
  std::vector<int32_t> positions = {}, grid = {};  // integers ≥ 0; empty without the key
  // Each group with its value. The group of a single string has the name "".
  std::vector<std::pair<std::string_view, std::string_view>> groups = {};
  std::forward_list<std::string> unescaped = {};  // strings that had escapes

  bool is_pair() const { return std::string_view(input_key) == "source"; }  // of two sides
};

// Where a line is from, for messages.
struct LineOrigin {
  std::string_view path;  // of the file, or the name of a program; "": none, and no line
  int64_t number = 0;     // of the line, from 1
};

// Reads a line into `example`, whose vectors keep their capacity. The text must outlive what is
// read. Throws InputError with file, line and key for a line that is not one object, for unknown,
// repeated and contradicting keys, for a value of the wrong type, for a list of entries of several
// kinds, vectors of several widths, a number that is not finite as float, and for invalid UTF-8.
void parse_example(std::string_view line, const LineOrigin& origin, ExampleLine& example);

// Throws InputError: "path: line 3: \"key\": what".
[[noreturn]] void throw_line_error(const LineOrigin& origin, std::string_view key,
                                   std::string_view what);

}  // namespace heed
