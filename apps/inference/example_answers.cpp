#include "apps/inference/example_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/inference/evaluation.h"
#include "apps/inference/predictions.h"
#include "apps/support/numbers.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"
#include "data/example_loader.h"

namespace heed {
namespace {

Corpus corpus_to_read(const Experiment& experiment, Corpus corpus, bool is_pair) {
  // Vectors on a grid have no positions in a row, nor does attention read those of a line.
  corpus.format.position_ids =
      !is_pair && corpus.grid.empty() && !experiment.model.positional.kind->acts_in_attention();
  return corpus;
}

// Reads lines as examples of the data of a model.
class LineExamples {
 public:
  LineExamples(const Experiment& experiment, const Corpus& corpus, const AnswerOptions& options,
               bool with_targets)
      : options_(experiment.data),
        skipped_(options.skipped),
        with_targets_(with_targets),
        is_pair_(corpus.framing != ModelKind::classifier && !corpus.format.at_positions),
        corpus_(corpus_to_read(experiment, corpus, is_pair_)),
        learned_(corpus.grid.empty() ? learned_positions(experiment.model) : 0),
        loader_(options_, corpus_, with_targets) {}

  // Returns what a line says. It views the line.
  ExampleLine parse(const std::string& text) const {
    ExampleLine line;
    if (options_.kind == &data_kinds::examples && (with_targets_ || corpus_.format.features > 0)) {
      parse_example(text, {}, line);
      line.reference = {};
      if (line.grid.empty()) line.grid.assign(corpus_.grid.begin(), corpus_.grid.end());
      return line;
    }
    const size_t invalid = options_.level == Level::byte ? text.npos : find_invalid_utf8(text);
    check_input(invalid == text.npos, "the text {} is not valid UTF-8 at byte {}", in_quotes(text),
                invalid);
    line.input_key = is_pair_ ? "source" : "input";
    with_targets_ ? parse_columns(text, line) : line.input.set_text(text);
    return line;
  }
  int64_t learned() const { return learned_; }  // positions of the model; 0: no limit
  // Returns the positions of the model for a line, and counts its unknown tokens.
  Sequence encode(const std::string& text) {
    if (text.empty()) return {};
    const ExampleLine line = parse(text);
    const Example example = read(line, skipped_);
    const int64_t inputs = std::ssize(example.input),
                  vectors = std::ssize(example.features) / std::max<int64_t>(1, features());
    const std::vector<int32_t>& ids = example.position_ids;
    const int64_t last =
        ids.empty() ? std::max(inputs, vectors) - 1 : *std::ranges::max_element(ids);
    check_input(learned_ == 0 || last < learned_ || line.positions.empty(),
                "\"positions\": expected at most {}, the last position of the model, found {}",
                learned_ - 1, last);
    check_input(learned_ == 0 || last < learned_,
                "expected at most {} tokens, the positions of the model, found {}", learned_,
                last + 1);
    const bool is_source = corpus_.framing == ModelKind::seq2seq && features() == 0;
    return Sequence(is_source ? example.source.size()
                              : static_cast<size_t>(std::max(inputs, vectors)));
  }
  // Returns the examples of lines that encode() has read.
  Dataset dataset(const std::vector<ExampleLine>& lines) {
    std::vector<Example> examples;
    int64_t again = 0;  // tokens that encode() has counted
    for (const ExampleLine& line : lines)
      examples.push_back(read(line, skipped_ ? &again : nullptr));
    const int64_t size = std::ssize(examples);
    return loader_.dataset(size, [examples = std::move(examples)](int64_t i, Example& example) {
      example = examples[static_cast<size_t>(i)];
    });
  }

 private:
  int64_t features() const { return corpus_.format.features; }
  void parse_columns(std::string_view text, ExampleLine& line) const {
    const bool is_label = options_.kind == &data_kinds::labelled;
    const bool label_first = is_label && options_.label_column == LabelColumn::first;
    const auto tabs = std::ranges::count(text, '\t');
    check_input(tabs == 1, "expected {} with a tab between, found {}",
                label_first ? "a label and a text"
                : is_label  ? "a text and its label"
                            : "an input and its output",
                counted(tabs + 1, "column"));
    const size_t tab = text.find('\t');
    line.input.set_text(text.substr(0, tab));
    line.target.set_text(text.substr(tab + 1));
    if (label_first) std::swap(line.input, line.target);
  }
  Example read(const ExampleLine& line, int64_t* skipped) {
    Example example;
    loader_.read(line, {}, example, skipped);
    return example;
  }

  const DataOptions& options_;
  int64_t* const skipped_;
  const bool with_targets_, is_pair_;
  const Corpus corpus_;
  const int64_t learned_;
  ExampleLoader loader_;
};

// Answers lines by what `answer` says of their examples.
template <class Answer>
Answerer answerer_of(const std::shared_ptr<LineExamples>& examples, const AnswerOptions& options,
                     const Answer& answer) {
  Answerer answerer;
  answerer.json = options.json;
  answerer.positions = examples->learned();
  answerer.encode = [examples](const std::string& text) { return examples->encode(text); };
  answerer.answers = [examples, options, answer](std::span<const InputLine> lines) {
    std::vector<Sequence> sequences;
    std::vector<ExampleLine> written;
    for (const InputLine& line : lines) {
      sequences.push_back(line.ids);
      written.push_back(examples->parse(line.text));
    }
    if (options.check) options.check(sequences);
    const std::vector<std::string> texts = answer(lines, written, examples->dataset(written));
    std::vector<std::vector<std::string>> answers;
    for (const std::string& text : texts) answers.push_back({text});
    return answers;
  };
  return answerer;
}

std::string prediction_text(const InputLine& line, const Prediction& found, bool json) {
  const bool numbers = !found.numbers.empty();
  if (json)
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

std::string text_of(const LineValue& value) {
  return value.form == LineValue::Form::text ? std::string(value.text) : joined(value.tokens, " ");
}

std::string score_text(const InputLine& line, const ExampleLine& row, const Outcome& outcome,
                       const Corpus& corpus, bool json) {
  if (!json)
    return fmt::format("{}\t{}\t{}", four_digits(outcome.mean_loss()),
                       outcome.correct ? "right" : "wrong", line.text);
  Json answer = Json::object()
                    .set("line", line.number)
                    .set("input", text_of(row.input))
                    .set("expected", text_of(row.target));
  if (corpus.framing == ModelKind::classifier && !corpus.format.at_positions)
    answer.set("predicted", corpus.labels.at(static_cast<size_t>(outcome.predicted)));
  return answer.set("correct", outcome.correct)
      .set("loss", float32_digits(outcome.mean_loss()))
      .text();
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
  return answerer_of(
      std::make_shared<LineExamples>(experiment, corpus, options, /*with_targets=*/false), options,
      [&model, &corpus, options](std::span<const InputLine> lines, const std::vector<ExampleLine>&,
                                 const Dataset& dataset) {
        const std::vector<Prediction> found = predictions(model, corpus, dataset, dataset.size, 0);
        std::vector<std::string> texts;
        for (size_t i = 0; i < lines.size(); ++i)
          texts.push_back(prediction_text(lines[i], found[i], options.json));
        return texts;
      });
}

Answerer row_answerer(const Model& model, const Experiment& experiment, const Corpus& corpus,
                      const AnswerOptions& options) {
  constexpr int64_t batch_size = 32;
  return answerer_of(
      std::make_shared<LineExamples>(experiment, corpus, options, /*with_targets=*/true), options,
      [&model, &corpus, options](std::span<const InputLine> lines,
                                 const std::vector<ExampleLine>& written, const Dataset& dataset) {
        EvaluationDetails details;
        if (!lines.empty()) evaluate(model, dataset, corpus.framing, batch_size, &details);
        std::vector<std::string> texts;
        for (size_t i = 0; i < lines.size(); ++i)
          texts.push_back(
              score_text(lines[i], written[i], details.outcomes[i], corpus, options.json));
        return texts;
      });
}

}  // namespace heed
