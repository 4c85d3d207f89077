#include "apps/inference/row_scores.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/inference/evaluation.h"
#include "apps/inference/input_lines.h"
#include "apps/support/numbers.h"
#include "apps/support/output.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"
#include "data/framing.h"

namespace heed {
namespace {

struct Row {
  std::string source, expected;
};

Row row_of(const std::string& line, Framing framing) {
  const bool is_label = framing == Framing::classifier;
  const auto tabs = std::ranges::count(line, '\t');
  check_input(tabs == 1, "expected {} with a tab between, found {}",
              is_label ? "a label and a text" : "an input and its output",
              counted(tabs + 1, "column"));
  const size_t tab = line.find('\t');
  Row row{line.substr(0, tab), line.substr(tab + 1)};
  if (is_label) std::swap(row.source, row.expected);
  check_input(!row.source.empty(), "there is no {}", is_label ? "text" : "input");
  return row;
}

// Lays out a row as the data of a training are.
Example example_of(const std::string& line, const Corpus& corpus, int64_t* skipped) {
  const Row row = row_of(line, corpus.framing);
  const Sequence source = corpus.source->encode(row.source, skipped);
  Example example;
  if (corpus.framing == Framing::classifier) {
    const auto label = std::ranges::find(corpus.labels, row.expected);
    check_input(label != corpus.labels.end(), "there is no label {}; the labels are {}",
                in_quotes(row.expected), shortened(joined(corpus.labels), 200));
    example.input = source;
    example.target = {static_cast<int32_t>(label - corpus.labels.begin())};
  } else {
    const Layout layout(corpus.framing, corpus.target->vocabulary());
    layout.lay_out(source, corpus.target->encode(row.expected, skipped), example);
  }
  return example;
}

Json json_of(const InputLine& line, const Row& row, const Outcome& outcome, const Corpus& corpus) {
  Json json = Json::object()
                  .set("line", line.number)
                  .set("input", row.source)
                  .set("expected", row.expected);
  if (corpus.framing == Framing::classifier)
    json.set("predicted", corpus.labels.at(static_cast<size_t>(outcome.predicted)));
  return json.set("correct", outcome.correct).set("loss", float32_digits(outcome.mean_loss()));
}

}  // namespace

int64_t print_row_scores(const Model& model, const Corpus& corpus, const LineOutput& output) {
  constexpr int64_t batch_size = 32;
  const auto encode = [&](const std::string& text) {
    if (text.empty()) return Sequence();
    const Example example = example_of(text, corpus, output.skipped);
    const bool encoded = corpus.framing == Framing::seq2seq;
    check_input(output.positions == 0 || std::ssize(example.input) <= output.positions,
                "expected at most {} tokens, the positions of the model, found {}",
                output.positions, example.input.size());
    return encoded ? example.source : example.input;
  };
  return answer_lines(output.path, output.positions, encode, [&](std::span<const InputLine> lines) {
    std::vector<Example> rows;
    std::vector<Sequence> sources;
    int64_t again = 0;  // tokens that encode() has counted
    for (const InputLine& line : lines)
      if (!line.ids.empty()) {
        rows.push_back(example_of(line.text, corpus, output.skipped ? &again : nullptr));
        sources.push_back(line.ids);
      }
    if (output.check) output.check(sources);
    std::vector<Outcome> outcomes;
    const Dataset dataset{std::ssize(rows), [&](int64_t i, Example& example) {
                            example = rows[static_cast<size_t>(i)];
                          }};
    if (!rows.empty()) evaluate(model, dataset, corpus.framing, batch_size, &outcomes);
    auto next = outcomes.begin();
    for (const InputLine& line : lines) {
      if (line.ids.empty()) {
        Json json = Json::object().set("line", line.number).set("input", line.text);
        if (!line.error.empty()) json.set("error", line.error);
        print_line(output.json ? json.text() : "");
        continue;
      }
      const Outcome& outcome = *next++;
      print_line(output.json
                     ? json_of(line, row_of(line.text, corpus.framing), outcome, corpus).text()
                     : fmt::format("{}\t{}\t{}", four_digits(outcome.mean_loss()),
                                   outcome.correct ? "right" : "wrong", line.text));
    }
    flush_output();
  });
}

}  // namespace heed
