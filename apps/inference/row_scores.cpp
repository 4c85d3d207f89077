#include "apps/inference/row_scores.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/inference/evaluation.h"
#include "apps/inference/predictions.h"
#include "apps/support/numbers.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"
#include "data/framing.h"

namespace heed {
namespace {

struct Columns {
  std::string source, expected;
};

Columns columns_of(const std::string& line, ModelKind framing) {
  const bool is_label = framing == ModelKind::classifier;
  const auto tabs = std::ranges::count(line, '\t');
  check_input(tabs == 1, "expected {} with a tab between, found {}",
              is_label ? "a label and a text" : "an input and its output",
              counted(tabs + 1, "column"));
  const size_t tab = line.find('\t');
  Columns row{line.substr(0, tab), line.substr(tab + 1)};
  if (is_label) std::swap(row.source, row.expected);
  check_input(!row.source.empty(), "there is no {}", is_label ? "text" : "input");
  return row;
}

// Lays out a row as the data of a training are.
Example example_of(const std::string& line, const Corpus& corpus, int64_t* skipped) {
  const Columns row = columns_of(line, corpus.framing);
  const Sequence source = corpus.source->encode(row.source, skipped);
  Example example;
  if (corpus.framing == ModelKind::classifier) {
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

std::string json_of(const InputLine& line, const Outcome& outcome, const Corpus& corpus) {
  const Columns row = columns_of(line.text, corpus.framing);
  Json json = Json::object()
                  .set("line", line.number)
                  .set("input", row.source)
                  .set("expected", row.expected);
  if (corpus.framing == ModelKind::classifier)
    json.set("predicted", corpus.labels.at(static_cast<size_t>(outcome.predicted)));
  return json.set("correct", outcome.correct)
      .set("loss", float32_digits(outcome.mean_loss()))
      .text();
}

}  // namespace

Answerer row_answerer(const Model& model, const Experiment& experiment, const Corpus& corpus,
                      const AnswerOptions& options) {
  constexpr int64_t batch_size = 32;
  Answerer answerer;
  answerer.json = options.json;
  const int64_t positions = answerer.positions = learned_positions(experiment.model);
  answerer.encode = [&corpus, positions, skipped = options.skipped](const std::string& text) {
    if (text.empty()) return Sequence();
    const Example example = example_of(text, corpus, skipped);
    check_input(positions == 0 || std::ssize(example.input) <= positions,
                "expected at most {} tokens, the positions of the model, found {}", positions,
                example.input.size());
    return corpus.framing == ModelKind::seq2seq ? example.source : example.input;
  };
  answerer.answers = [&model, &corpus, options](std::span<const InputLine> lines) {
    std::vector<Example> rows;
    std::vector<Sequence> sources;
    int64_t again = 0;  // tokens that encode() has counted
    for (const InputLine& line : lines) {
      rows.push_back(example_of(line.text, corpus, options.skipped ? &again : nullptr));
      sources.push_back(line.ids);
    }
    if (options.check) options.check(sources);
    std::vector<Outcome> outcomes;
    const Dataset dataset{std::ssize(rows), [&](int64_t i, Example& example) {
                            example = rows[static_cast<size_t>(i)];
                          }};
    if (!rows.empty()) evaluate(model, dataset, corpus.framing, batch_size, &outcomes);
    std::vector<std::vector<std::string>> answers;
    for (size_t i = 0; i < lines.size(); ++i)
      answers.push_back(
          {options.json ? json_of(lines[i], outcomes[i], corpus)
                        : fmt::format("{}\t{}\t{}", four_digits(outcomes[i].mean_loss()),
                                      outcomes[i].correct ? "right" : "wrong", lines[i].text)});
    return answers;
  };
  return answerer;
}

}  // namespace heed
