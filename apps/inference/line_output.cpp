#include "apps/inference/line_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "apps/inference/input_lines.h"
#include "apps/inference/line_losses.h"
#include "apps/inference/predictions.h"
#include "apps/support/numbers.h"
#include "apps/support/output.h"

namespace heed {
namespace {

Json row_of(const InputLine& line) {
  return Json::object().set("line", line.number).set("input", line.text);
}

// Maps the tokens of all lines that have some with `predict`, and prints each result with `answer`.
template <class Encode, class Predict, class Answer>
int64_t print_lines(const LineOutput& output, int64_t n_best, Encode&& encode, Predict&& predict,
                    Answer&& answer) {
  return answer_lines(output.path, output.positions, encode, [&](std::span<const InputLine> lines) {
    std::vector<Sequence> sources;
    for (const InputLine& line : lines)
      if (!line.ids.empty()) sources.push_back(line.ids);
    if (output.check) output.check(sources);
    const auto found = predict(sources);
    size_t next = 0;
    for (const InputLine& line : lines) {
      if (!line.ids.empty())
        answer(line, found[next++]);
      else if (!output.json)
        print(std::string(static_cast<size_t>(n_best), '\n'));
      else if (line.error.empty())
        print_line(row_of(line).text());
      else
        print_line(row_of(line).set("error", line.error).text());
    }
    flush_output();
  });
}

auto encoder(const TextCodec& codec, const LineOutput& output) {
  return [&](const std::string& line) { return codec.encode(line, output.skipped); };
}

}  // namespace

void print_line(const std::string& line) {
  print(line);
  print("\n");
}

void print_output(double score, const std::string& text, bool scored) {
  print_line(scored ? fmt::format("{:.4f}\t{}", score, text) : text);
}

Json output_json(const TextCodec& codec, const Sequence& prompt, const Hypothesis& found) {
  Json tokens = Json::array(), log_probabilities = Json::array();
  for (const int32_t id : found.tokens) tokens.push(codec.vocabulary().token(id));
  if (found.token_log_probabilities.size() > found.tokens.size()) tokens.push(end_token);
  for (const double each : found.token_log_probabilities)
    log_probabilities.push(float32_digits(each));
  Sequence whole = prompt;
  whole.insert(whole.end(), found.tokens.begin(), found.tokens.end());
  return Json::object()
      .set("text", codec.decode(whole))
      .set("log_probability", float32_digits(found.log_probability))
      .set("tokens", std::move(tokens))
      .set("log_probabilities", std::move(log_probabilities));
}

int64_t print_outputs(const Seq2Seq& model, const Corpus& corpus, const OutputOptions& options,
                      const LineOutput& output) {
  const TextCodec& target = *corpus.target;
  const auto predict = [&](std::span<const Sequence> sources) {
    return n_best_outputs(model, target.vocabulary(), sources, options);
  };
  const auto answer = [&](const InputLine& line, const std::vector<Hypothesis>& found) {
    if (!output.json) {
      for (const Hypothesis& each : found)
        print_output(each.log_probability, target.decode(each.tokens), output.scores);
      print(std::string(static_cast<size_t>(options.n_best) - found.size(), '\n'));
      return;
    }
    Json list = Json::array();
    for (const Hypothesis& each : found) list.push(output_json(target, {}, each));
    print_line(row_of(line).set("outputs", std::move(list)).text());
  };
  return print_lines(output, options.n_best, encoder(*corpus.source, output), predict, answer);
}

int64_t print_classes(const Classifier& model, const Corpus& corpus, int64_t n_best,
                      const LineOutput& output) {
  const auto predict = [&](std::span<const Sequence> sources) {
    return class_probabilities(model, sources);
  };
  const auto answer = [&](const InputLine& line, const std::vector<ClassProbability>& found) {
    Json probabilities = Json::object();
    for (size_t i = 0; i < found.size(); ++i) {
      const std::string& name = corpus.labels.at(static_cast<size_t>(found[i].label));
      probabilities.set(name, float32_digits(found[i].probability));
      if (!output.json && std::ssize(probabilities.members()) <= n_best)
        print_output(found[i].probability, name, output.scores);
    }
    if (output.json)
      print_line(row_of(line).set("probabilities", std::move(probabilities)).text());
    else if (n_best > std::ssize(found))
      print(std::string(static_cast<size_t>(n_best) - found.size(), '\n'));
  };
  return print_lines(output, n_best, encoder(*corpus.source, output), predict, answer);
}

int64_t print_continuations(const LanguageModel& model, const TextCodec& codec,
                            const ContinuationOptions& options, bool with_prompt,
                            const std::function<Sequence(const std::string&)>& encode,
                            const LineOutput& output) {
  const auto predict = [&](std::span<const Sequence> prompts) {
    const auto found = options.beam > 0 ? best_continuations : scored_continuations;
    return found(model, codec.vocabulary(), prompts, options);
  };
  const bool many_lines = with_prompt && codec.vocabulary().end() == Vocabulary::none;
  bool is_first = true;
  const auto answer = [&](const InputLine& line, const std::vector<Hypothesis>& found) {
    const Sequence shown = with_prompt && !line.text.empty() ? line.ids : Sequence();
    Json list = Json::array();
    for (const Hypothesis& each : found) {
      Json object = output_json(codec, shown, each);
      if (!output.json) {
        if (many_lines && !is_first) print_line(separator_line);
        print_output(each.log_probability, object.at("text").string(), output.scores);
      }
      is_first = false;
      list.push(std::move(object));
    }
    if (output.json)
      print_line(row_of(line).set("outputs", std::move(list)).text());
    else
      print(std::string(static_cast<size_t>(options.count) - found.size(), '\n'));
  };
  return print_lines(output, options.count, encode, predict, answer);
}

int64_t print_losses(const LanguageModel& model, const TextCodec& codec, int64_t window,
                     const LineOutput& output) {
  const auto encode = [&](const std::string& line) {
    Sequence ids = default_prompt(codec);
    const Sequence own = codec.encode(line, output.skipped);
    ids.insert(ids.end(), own.begin(), own.end());
    if (codec.vocabulary().end() != Vocabulary::none) ids.push_back(codec.vocabulary().end());
    return ids;
  };
  const auto predict = [&](std::span<const Sequence> sequences) {
    return token_losses(model, sequences, window);
  };
  const auto answer = [&](const InputLine& line, const std::vector<double>& losses) {
    const double loss = std::accumulate(losses.begin(), losses.end(), 0.0) /
                        static_cast<double>(std::max<size_t>(1, losses.size()));
    if (!output.json)
      return print_line(losses.empty() ? "" : fmt::format("{}\t{}", four_digits(loss), line.text));
    Json tokens = Json::array(), each = Json::array(), row = row_of(line);
    for (size_t t = 0; t < losses.size(); ++t) {
      tokens.push(codec.vocabulary().token(line.ids[t + 1]));
      each.push(float32_digits(losses[t]));
    }
    if (!losses.empty())
      row.set("loss", float32_digits(loss))
          .set("tokens", std::move(tokens))
          .set("losses", std::move(each));
    print_line(row.text());
  };
  LineOutput any_length = output;
  any_length.positions = 0;  // a longer line is cut into windows
  return print_lines(any_length, 1, encode, predict, answer);
}

}  // namespace heed
