#include "apps/inference/row_scores.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/inference/evaluation.h"
#include "apps/inference/predictions.h"
#include "apps/support/numbers.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/standard_ops.h"
#include "core/text.h"
#include "data/example_line.h"
#include "data/framing.h"

namespace heed {
namespace {

// A line as an example of the data that the model was trained on: two columns, or an object.
ExampleLine example_line(const std::string& line, const DataOptions& data) {
  ExampleLine example;
  if (data.kind == &data_kinds::examples) {
    parse_example(line, {}, example);
    check_input(example.input.exists() && example.target.exists(),
                "expected an example with an input and a target");
    return example;
  }
  const bool is_label = data.kind == &data_kinds::labelled;
  const bool label_first = is_label && data.label_column == LabelColumn::first;
  const auto tabs = std::ranges::count(line, '\t');
  check_input(tabs == 1, "expected {} with a tab between, found {}",
              label_first ? "a label and a text"
              : is_label  ? "a text and its label"
                          : "an input and its output",
              counted(tabs + 1, "column"));
  const std::string_view text = line;
  const size_t tab = text.find('\t');
  example.input.form = example.target.form = LineValue::Form::text;
  example.input.text = text.substr(0, tab);
  example.target.text = text.substr(tab + 1);
  if (label_first) std::swap(example.input, example.target);
  check_input(!example.input.text.empty(), "there is no {}", is_label ? "text" : "input");
  return example;
}

std::string text_of(const LineValue& value) {
  return value.form == LineValue::Form::text ? std::string(value.text) : joined(value.tokens, " ");
}

int32_t label_id(std::string_view name, const Corpus& corpus) {
  const auto label = std::ranges::find(corpus.labels, name);
  check_input(label != corpus.labels.end(), "there is no label {}; the labels are {}",
              in_quotes(name), shortened(joined(corpus.labels), 200));
  return static_cast<int32_t>(label - corpus.labels.begin());
}

// Returns the tokens of a side.
Sequence tokens_of(const LineValue& value, const TextCodec& codec, int64_t* skipped) {
  if (value.form == LineValue::Form::text) return codec.encode(value.text, skipped);
  check_input(value.form == LineValue::Form::tokens,
              "expected tokens: a text, or a list of strings");
  Sequence ids;
  for (const std::string_view token : value.tokens) {
    check_input(token.data(), "expected no null");
    const Sequence own = codec.encode(token, skipped);
    ids.insert(ids.end(), own.begin(), own.end());
  }
  return ids;
}

// Returns the target of each position, or `ignored`.
Sequence position_targets(const LineValue& target, const Corpus& corpus, Level level,
                          const std::string& none) {
  Sequence ids;
  const auto add = [&](std::string_view token) {
    if (corpus.framing == ModelKind::classifier) return ids.push_back(label_id(token, corpus));
    const Sequence own = corpus.target->encode(token);
    check_input(own.size() == 1, "expected one token as a target, found {}", in_quotes(token));
    ids.push_back(own[0]);
  };
  const auto add_or_none = [&](std::string_view token, bool is_none) {
    is_none ? ids.push_back(ignored) : add(token);
  };
  if (target.form == LineValue::Form::text) {
    check_input(level == Level::word || level == Level::character,
                "expected a list of targets, one for each position");
    for_each_token(level, target.text,
                   [&](std::string_view token) { add_or_none(token, token == none); });
  } else {
    for (const std::string_view token : target.tokens) add_or_none(token, !token.data());
  }
  return ids;
}

// Lays out a row as the data of a training are.
Example example_of(const ExampleLine& line, const Corpus& corpus, const DataOptions& data,
                   int64_t* skipped) {
  const Sequence source = tokens_of(line.input, *corpus.source, skipped);
  Example example;
  if (corpus.format.at_positions) {
    example.input = source;
    example.target = position_targets(line.target, corpus, data.level, data.none);
    check_input(example.target.size() == source.size(),
                "expected a target at each of the {} positions of the input, found {}",
                source.size(), example.target.size());
  } else if (corpus.framing == ModelKind::classifier) {
    example.input = source;
    example.target = {label_id(text_of(line.target), corpus)};
  } else {
    const Layout layout(corpus.framing, corpus.target->vocabulary());
    layout.lay_out(source, tokens_of(line.target, *corpus.target, skipped), example);
  }
  return example;
}

std::string json_of(const InputLine& line, const ExampleLine& row, const Outcome& outcome,
                    const Corpus& corpus) {
  Json json = Json::object()
                  .set("line", line.number)
                  .set("input", text_of(row.input))
                  .set("expected", text_of(row.target));
  if (corpus.framing == ModelKind::classifier && !corpus.format.at_positions)
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
  const DataOptions& data = experiment.data;
  answerer.encode = [&corpus, &data, positions,
                     skipped = options.skipped](const std::string& text) {
    if (text.empty()) return Sequence();
    const Example example = example_of(example_line(text, data), corpus, data, skipped);
    check_input(positions == 0 || std::ssize(example.input) <= positions,
                "expected at most {} tokens, the positions of the model, found {}", positions,
                example.input.size());
    return corpus.framing == ModelKind::seq2seq ? example.source : example.input;
  };
  answerer.answers = [&model, &corpus, &data, options](std::span<const InputLine> lines) {
    std::vector<ExampleLine> written;
    std::vector<Example> rows;
    std::vector<Sequence> sources;
    int64_t again = 0;  // tokens that encode() has counted
    for (const InputLine& line : lines) {
      written.push_back(example_line(line.text, data));
      rows.push_back(example_of(written.back(), corpus, data, options.skipped ? &again : nullptr));
      sources.push_back(line.ids);
    }
    if (options.check) options.check(sources);
    EvaluationDetails details;
    const Dataset dataset{std::ssize(rows), [&](int64_t i, Example& example) {
                            example = rows[static_cast<size_t>(i)];
                          }};
    if (!rows.empty()) evaluate(model, dataset, corpus.framing, batch_size, &details);
    std::vector<std::vector<std::string>> answers;
    for (size_t i = 0; i < lines.size(); ++i)
      answers.push_back(
          {options.json
               ? json_of(lines[i], written[i], details.outcomes[i], corpus)
               : fmt::format("{}\t{}\t{}", four_digits(details.outcomes[i].mean_loss()),
                             details.outcomes[i].correct ? "right" : "wrong", lines[i].text)});
    return answers;
  };
  return answerer;
}

}  // namespace heed
