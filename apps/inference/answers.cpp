#include "apps/inference/answers.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "apps/inference/line_reader.h"
#include "apps/inference/predictions.h"
#include "apps/support/log.h"
#include "apps/support/numbers.h"
#include "apps/support/terminal.h"
#include "apps/support/together.h"
#include "core/check.h"

namespace heed {

Json row_of(const InputLine& line) {
  return Json::object().set("line", line.number).set("input", line.text);
}

namespace {

using Texts = std::vector<std::string>;

std::string text_of(double score, const std::string& text, const AnswerOptions& options) {
  return options.scores ? fmt::format("{:.4f}\t{}", score, text) : text;
}

// {"text", "log_probability", "tokens", "log_probabilities"}. <eos> is the last token of a complete
// output.
Json output_json(const TextCodec& codec, const std::string& text, const Hypothesis& found) {
  Json tokens = Json::array(), log_probabilities = Json::array();
  for (const int32_t id : found.tokens) tokens.push(codec.vocabulary().token(id));
  if (found.token_log_probabilities.size() > found.tokens.size()) tokens.push(end_token);
  for (const double each : found.token_log_probabilities)
    log_probabilities.push(float32_digits(each));
  return Json::object()
      .set("text", text)
      .set("log_probability", float32_digits(found.log_probability))
      .set("tokens", std::move(tokens))
      .set("log_probabilities", std::move(log_probabilities));
}

// Texts that were generated after `prompt`. An answer to a prompt that is not of a file has an
// object for each.
Texts generated_texts(const TextCodec& codec, const InputLine& line, const Sequence& prompt,
                      const std::vector<Hypothesis>& found, const AnswerOptions& options) {
  Texts texts;
  Json list = Json::array();
  for (const Hypothesis& each : found) {
    Sequence whole = prompt;
    whole.insert(whole.end(), each.tokens.begin(), each.tokens.end());
    const std::string text = codec.decode(whole);
    if (!options.json)
      texts.push_back(text_of(each.log_probability, text, options));
    else if (line.number == 0)
      texts.push_back(output_json(codec, text, each).text());
    else
      list.push(output_json(codec, text, each));
  }
  if (options.json && line.number > 0)
    texts.push_back(row_of(line).set("outputs", std::move(list)).text());
  return texts;
}

Texts label_texts(const std::vector<std::string>& labels, const InputLine& line,
                  const std::vector<Hypothesis>& found, int64_t count,
                  const AnswerOptions& options) {
  Texts texts;
  Json probabilities = Json::object();
  for (const Hypothesis& each : found) {
    const std::string& label = labels.at(static_cast<size_t>(each.tokens[0]));
    const double probability = std::exp(each.log_probability);
    if (options.json)
      probabilities.set(label, float32_digits(probability));
    else if (std::ssize(texts) < count)
      texts.push_back(text_of(probability, label, options));
  }
  if (options.json)
    texts.push_back(row_of(line).set("probabilities", std::move(probabilities)).text());
  return texts;
}

// `likely`: the most likely token in the place of each token of the line.
Texts loss_texts(const TextCodec& codec, const InputLine& line, const Hypothesis& found,
                 const Hypothesis& likely, const Windows& windows, const AnswerOptions& options) {
  if (found.tokens.empty()) return {options.json ? row_of(line).text() : ""};
  const double loss = 0 - found.log_probability / static_cast<double>(found.tokens.size());
  if (!options.json) return {fmt::format("{}\t{}", four_digits(loss), line.text)};
  Json row = row_of(line).set("loss", float32_digits(loss));
  if (windows.context > 0) row.set("context", windows.context).set("stride", windows.stride);
  const auto tokens = [&](const Hypothesis& of) {
    return Json::list(of.tokens, [&](int32_t id) { return codec.vocabulary().token(id); });
  };
  const auto numbers = [](const Hypothesis& of, double (*f)(double)) {
    return Json::list(of.token_log_probabilities,
                      [f](double each) { return float32_digits(f(each)); });
  };
  const auto probability = [](double each) { return std::exp(each); };
  return {row.set("tokens", tokens(found))
              .set("losses", numbers(found, [](double each) { return -each; }))
              .set("probabilities", numbers(found, probability))
              .set("predicted", tokens(likely))
              .set("predicted_probabilities", numbers(likely, probability))
              .text()};
}

// Answers lines by what `find` finds for their tokens, as `describe` says it.
template <class Find, class Describe>
auto answering(const AnswerOptions& options, Find find, Describe describe) {
  return [check = options.check, find, describe](std::span<const InputLine> lines) {
    std::vector<Sequence> sequences;
    for (const InputLine& line : lines) sequences.push_back(line.ids);
    if (check) check(sequences);
    const Found found = find(std::span<const Sequence>(sequences));
    std::vector<Texts> answers;
    for (size_t i = 0; i < lines.size(); ++i) answers.push_back(describe(lines[i], found[i]));
    return answers;
  };
}

Answerer continuation_answerer(const Model& model, bool has_target, const Corpus& corpus,
                               const GenerationOptions& generation, const AnswerOptions& options) {
  const TextCodec& codec = *corpus.target;
  const int64_t prompt_length = corpus.prompt_length;
  const bool with_prompt = options.with_prompt && !has_target;
  GenerationOptions scored = generation;
  scored.scored = options.json || options.scores;
  Answerer answerer;
  answerer.encode = [&codec, has_target, prompt_length, options](const std::string& text) {
    if (text.empty() && !has_target) return default_prompt(codec);
    const Sequence ids = codec.prompt(text, options.skipped);
    check_input(!ids.empty(), "none of its tokens is in the vocabulary");
    check_input(prompt_length == 0 || std::ssize(ids) == prompt_length,
                "expected a problem of {} tokens, found {}", prompt_length, ids.size());
    return ids;
  };
  answerer.answers = answering(
      options,
      [&model, &codec, scored](std::span<const Sequence> prompts) {
        return continuations(model, codec.vocabulary(), prompts, scored);
      },
      [&codec, with_prompt, options](const InputLine& line, const std::vector<Hypothesis>& found) {
        const bool shown = with_prompt && !line.text.empty();
        return generated_texts(codec, line, shown ? line.ids : Sequence(), found, options);
      });
  answerer.separated = with_prompt && codec.vocabulary().end() == Vocabulary::none && !options.json;
  return answerer;
}

// Answers with what the model predicts at each position of the line.
auto position_answers(const Model& model, const Corpus& corpus, const AnswerOptions& options) {
  return [&model, &corpus, options](std::span<const InputLine> lines) {
    std::vector<Texts> answers;
    for (const InputLine& line : lines) {
      if (options.check) options.check({&line.ids, 1});
      constexpr size_t first = 0;
      const Padded batch = padded({&line.ids, 1}, {&first, 1});
      Inputs inputs;
      inputs.input = batch.ids;
      inputs.input_lengths = batch.lengths;
      const Sequence ids = predicted_classes(model, inputs);
      const auto text = [&](int32_t id) { return output_text(corpus, {&id, 1}); };
      answers.push_back({options.json ? row_of(line).set("predicted", Json::list(ids, text)).text()
                                      : output_text(corpus, ids)});
    }
    return answers;
  };
}

}  // namespace

GenerationOptions default_generation(const Experiment& experiment, const Corpus& corpus) {
  GenerationOptions options;
  options.sampling.temperature = has_exact_match(experiment) ? 0 : 1;
  options.seed = static_cast<uint64_t>(experiment.seed);
  options.positions = learned_positions(experiment.model);
  options.context = context_length(experiment);
  if (corpus.target_length > 0) options.max_length = corpus.target_length;
  return options;
}

Answerer generation_answerer(const Model& model, const Experiment& experiment, const Corpus& corpus,
                             const GenerationOptions& generation, const AnswerOptions& options) {
  Answerer answerer;
  if (model.kind() == ModelKind::language_model && !corpus.format.at_positions) {
    answerer =
        continuation_answerer(model, has_exact_match(experiment), corpus, generation, options);
  } else {
    const TextCodec& source = *corpus.source;
    answerer.encode = [&source, skipped = options.skipped](const std::string& line) {
      return source.encode(line, skipped);
    };
    answerer.positions = learned_positions(experiment.model);
  }
  if (corpus.format.at_positions) {
    answerer.answers = position_answers(model, corpus, options);
  } else if (model.kind() == ModelKind::seq2seq) {
    const TextCodec& target = *corpus.target;
    answerer.answers = answering(
        options,
        [&model, &target, generation](std::span<const Sequence> sources) {
          return outputs(model, target.vocabulary(), sources, generation);
        },
        [&target, options](const InputLine& line, const std::vector<Hypothesis>& found) {
          return generated_texts(target, line, {}, found, options);
        });
  } else if (model.kind() == ModelKind::classifier) {
    answerer.answers = answering(
        options, [&model](std::span<const Sequence> sources) { return classes(model, sources); },
        [&labels = corpus.labels, count = generation.count, options](
            const InputLine& line, const std::vector<Hypothesis>& found) {
          return label_texts(labels, line, found, count, options);
        });
  }
  answerer.json = options.json;
  answerer.count = generation.count;
  return answerer;
}

Answerer loss_answerer(const Model& model, const TextCodec& codec, const Windows& windows,
                       const AnswerOptions& options) {
  Answerer answerer;
  answerer.encode = [&codec, skipped = options.skipped](const std::string& line) {
    Sequence ids = default_prompt(codec);
    const Sequence own = codec.encode(line, skipped);
    ids.insert(ids.end(), own.begin(), own.end());
    if (codec.vocabulary().end() != Vocabulary::none) ids.push_back(codec.vocabulary().end());
    return ids;
  };
  answerer.answers = answering(
      options,
      [&model, windows](std::span<const Sequence> lines) {
        return scored_tokens(model, lines, windows);
      },
      [&codec, windows, options](const InputLine& line, const std::vector<Hypothesis>& found) {
        return loss_texts(codec, line, found[0], found[1], windows, options);
      });
  answerer.json = options.json;
  return answerer;
}

Sequence tokens_of(const Answerer& answerer, const std::string& line) {
  check_input(line.size() <= LineReader::max_line, "expected at most {} bytes, found more",
              LineReader::max_line);
  Sequence ids = answerer.encode(line);
  check_input(answerer.positions == 0 || std::ssize(ids) <= answerer.positions,
              "expected at most {} tokens, the positions of the model, found {}",
              answerer.positions, ids.size());
  check_input(std::ssize(ids) <= max_line_tokens, "expected at most {} tokens, found {}",
              max_line_tokens, ids.size());
  return ids;
}

namespace {

void print_line(const std::string& line) {
  print(line);
  print("\n");
}

// Prints texts, and between all of them, also of different lines, what separates them.
class AnswerPrinter {
 public:
  explicit AnswerPrinter(const Answerer& answerer) : answerer_(answerer) {}

  void print_texts(const Texts& texts) {
    for (const std::string& text : texts) {
      if (answerer_.separated && !is_first_) print_line("---------------");
      is_first_ = false;
      print_line(text);
    }
  }
  // Prints the answer to a line of a file; null: it has none.
  void print_answer(const InputLine& line, const Texts* texts) {
    if (texts) print_texts(*texts);
    if (!answerer_.json)
      print(std::string(static_cast<size_t>(answerer_.count) - (texts ? texts->size() : 0), '\n'));
    else if (!texts)
      print_line(
          (line.error.empty() ? row_of(line) : row_of(line).set("error", line.error)).text());
  }

 private:
  const Answerer& answerer_;
  bool is_first_ = true;
};

// Returns the lines that have arrived, at most 256, but at least one; none at the end. Rank 0 reads
// them.
std::vector<std::string> next_lines(std::optional<LineReader>& reader) {
  constexpr size_t max_lines = 256;
  std::vector<std::string> lines;
  for (std::string line; reader && lines.size() < max_lines && reader->next(line);) {
    lines.push_back(line);
    if (!reader->is_ready()) break;
  }
  return concatenated(lines);
}

}  // namespace

int64_t print_answers(const Answerer& answerer, const std::string& path, Level level) {
  std::optional<LineReader> reader;
  if (rank() == 0) reader.emplace(path, level);
  AnswerPrinter printer(answerer);
  int64_t number = 0, failed = 0;
  for (;;) {
    std::vector<InputLine> lines, readable;
    for (std::string& text : next_lines(reader)) {
      InputLine line{++number, std::move(text), {}};
      try {
        line.ids = tokens_of(answerer, line.text);
      } catch (const InputError& error) {
        line.error = error.what();
        if (reader) logging::error("{}:{}: {}", reader->name(), number, line.error);
        ++failed;
      }
      if (!line.ids.empty()) readable.push_back(line);
      lines.push_back(std::move(line));
    }
    if (lines.empty()) return failed;
    const std::vector<Texts> answers = answerer.answers(readable);
    auto next = answers.begin();
    for (const InputLine& line : lines)
      printer.print_answer(line, line.ids.empty() ? nullptr : &*next++);
    flush_output();
  }
}

void print_answer(const Answerer& answerer, const InputLine& line) {
  AnswerPrinter(answerer).print_texts(answerer.answers({&line, 1}).at(0));
}

}  // namespace heed
