#include "apps/inference/example_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/inference/predictions.h"
#include "apps/support/numbers.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"
#include "data/example_line.h"

namespace heed {
namespace {

void read_edges(const LineValue& edges, const ExampleFormat& format, int64_t nodes,
                Example& example) {
  if (edges.size == 0) return;
  check_input(edges.width == 2 + format.edge_features, "\"edges\": expected lists of {} numbers",
              2 + format.edge_features);
  for (int64_t e = 0; e < edges.size; ++e) {
    const float* const edge = edges.numbers.data() + e * edges.width;
    for (int end = 0; end < 2; ++end) {
      const auto node = static_cast<int64_t>(edge[end]);
      check_input(node >= 0 && node < nodes && static_cast<float>(node) == edge[end],
                  "\"edges\": expected a node from 0 to {}, found {}", nodes - 1, edge[end]);
      (end == 0 ? example.sender : example.receiver).push_back(static_cast<int32_t>(node));
    }
    example.edge_features.insert(example.edge_features.end(), edge + 2, edge + edges.width);
  }
}

// Returns the example of a line, with targets at all positions, or one for the whole.
Example example_of(const std::string& text, const Corpus& corpus, const ExampleFormat& format,
                   int64_t* skipped) {
  ExampleLine line;
  Example example;
  if (format.features > 0) {
    parse_example(text, {}, line);
    check_input(line.input.form == LineValue::Form::vectors && line.input.width == format.features,
                "expected an object with \"input\" or \"nodes\", a list of vectors of {} numbers",
                format.features);
    example.features = line.input.numbers;
    const LineValue& source = line.source;
    check_input(source.exists() == format.two_sources, "\"source\": expected {} beside the input",
                format.two_sources ? "a text" : "none");
    if (format.two_sources)
      example.source = corpus.source->encode(
          source.form == LineValue::Form::text ? source.text : joined(source.tokens, " "), skipped);
  } else {
    example.input = corpus.source->encode(text, skipped);
  }
  const int64_t positions = format.features > 0 ? line.input.size : std::ssize(example.input);
  check_input(positions > 0, "expected an input");
  if (format.has_edges) read_edges(line.edges, format, positions, example);
  check_input(
      line.global.size == format.global && (!line.global.exists() || line.global.is_vector()),
      "\"global\": expected a list of {} numbers", format.global);
  example.global = line.global.numbers;
  check_input(line.positions.empty() || std::ssize(line.positions) == positions,
              "\"positions\": expected {}, found {}", positions, line.positions.size());
  check_input(line.positions.empty() || format.position_ids,
              "\"positions\": this model counts positions in a row");
  example.position_ids = line.positions;
  if (line.positions.empty())
    for (int32_t t = 0; t < positions; ++t) example.position_ids.push_back(t);
  const bool whole = corpus.framing == ModelKind::classifier && !format.at_positions;
  const auto targets = static_cast<size_t>(whole                ? 1
                                           : format.targets > 0 ? format.targets
                                                                : positions);
  example.target.assign(targets, 0);
  if (format.numbers) example.values.assign(targets, 0);
  return example;
}

std::string answer_text(const InputLine& line, const Prediction& found,
                        const AnswerOptions& options) {
  const bool numbers = !found.numbers.empty();
  if (options.json)
    return row_of(line)
        .set(numbers ? "numbers" : "predicted",
             numbers ? numbers_json(found.numbers) : Json(found.predicted))
        .text();
  if (!numbers) return found.predicted;
  std::string text;
  for (const double number : found.numbers)
    text += fmt::format("{}{}", text.empty() ? "" : " ", float32_digits(number));
  return text;
}

}  // namespace

Json numbers_json(const std::vector<double>& numbers) {
  const auto json = [](double number) {
    return std::isnan(number) ? Json() : Json(float32_digits(number));
  };
  return numbers.size() == 1 ? json(numbers[0]) : Json::list(numbers, json);
}

bool answers_examples(const Corpus& corpus) {
  return corpus.format.features > 0 || corpus.format.numbers || corpus.format.targets > 0;
}

Answerer example_answerer(const Model& model, const Experiment& experiment, const Corpus& corpus,
                          const AnswerOptions& options) {
  Answerer answerer;
  answerer.json = options.json;
  const int64_t learned = corpus.grid.empty() ? learned_positions(experiment.model) : 0;
  answerer.positions = learned;
  // Vectors on a grid have no positions in a row, nor does attention read those of a line.
  ExampleFormat format = corpus.format;
  format.position_ids =
      corpus.grid.empty() && !experiment.model.positional.kind->acts_in_attention();
  const int64_t cells = corpus.grid.empty() ? 0 : Shape(corpus.grid).size();
  answerer.encode = [&corpus, format, cells, learned,
                     skipped = options.skipped](const std::string& text) {
    if (text.empty()) return Sequence();
    const Example example = example_of(text, corpus, format, skipped);
    const int64_t last = *std::ranges::max_element(example.position_ids);
    check_input(learned == 0 || last < learned,
                "\"positions\": expected at most {}, the last position of the model, found {}",
                learned - 1, last);
    const int64_t width = std::max<int64_t>(1, corpus.format.features),
                  positions =
                      std::max(std::ssize(example.input), std::ssize(example.features) / width);
    check_input(cells == 0 || positions == cells,
                "\"input\": expected the {} cells of the grid, found {}", cells, positions);
    return Sequence(static_cast<size_t>(positions), 0);
  };
  answerer.answers = [&model, &corpus, format, options](std::span<const InputLine> lines) {
    std::vector<Sequence> sequences;
    for (const InputLine& line : lines) sequences.push_back(line.ids);
    if (options.check) options.check(sequences);
    std::vector<Example> examples;
    int64_t again = 0;  // tokens that encode() has counted
    for (const InputLine& line : lines)
      examples.push_back(example_of(line.text, corpus, format, options.skipped ? &again : nullptr));
    const Dataset dataset = feature_dataset(
        format, std::ssize(examples),
        [&](int64_t i, Example& example) { example = examples[static_cast<size_t>(i)]; });
    std::vector<std::vector<std::string>> answers;
    const std::vector<Prediction> found = predictions(model, corpus, dataset, dataset.size, 0);
    for (size_t i = 0; i < lines.size(); ++i)
      answers.push_back({answer_text(lines[i], found[i], options)});
    return answers;
  };
  return answerer;
}

}  // namespace heed
