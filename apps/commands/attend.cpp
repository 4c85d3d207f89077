// heed attend: draws the attention weights of a trained model, and writes them as data.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/commands/command.h"
#include "apps/cost/summary.h"
#include "apps/inference/attended_example.h"
#include "apps/inference/attention_picture.h"
#include "apps/inference/evaluation.h"
#include "apps/inference/line_reader.h"
#include "apps/inference/scores.h"
#include "apps/support/files.h"
#include "apps/support/names.h"
#include "apps/support/numbers.h"
#include "apps/support/terminal.h"
#include "apps/training/saved_run.h"
#include "core/joined.h"
#include "core/system_memory.h"
#include "core/tensor_file.h"
#include "core/text.h"

namespace heed {
namespace {

constexpr const char* default_picture = "attention.svg";

struct AttendArguments final : CommandArguments {
  std::string path, checkpoint;
  std::vector<std::string> set;
  ExampleRequest request;
  std::optional<std::string> input;  // a file; "-": standard input
  std::vector<std::string> examples;
  std::optional<int64_t> wrong;
  std::vector<std::string> only;  // patterns of names; empty: all
  std::string output = default_picture, csv, safetensors;
  std::string scale = "all";

  std::vector<Option> options() override {
    return {
        {"RUN", "", &path, "Folder of the run"},
        checkpoint_option(checkpoint),
        set_option(set),
        {"--text", "TEXT", &request.text, "Prompt, or source line of an encoder"},
        {"--input", "FILE", &input,
         "Instead of --text: the text of this file, or of standard input for -"},
        {"--example", "N", &request.example,
         "Instead of --text: example N of the run's data, counted from 0 (default: 0)",
         at_least(0)},
        {"--examples", "N[,N]", &examples,
         "Several examples, such as 0,4,5; the names of the files get their numbers"},
        {"--wrong", "COUNT", &wrong, "The first examples that the model predicts wrongly",
         at_least(1)},
        {"--split", "NAME", &request.split,
         "Split that the example is in (default: test, else val)"},
        {"--target", "TEXT", &request.target, "Target text (default: what the model generates)"},
        {"--only", "PATTERN", &only,
         "Layers to draw: those whose name matches a pattern with * and ?; may be repeated"},
        {"--scale", "all|head", &scale,
         "Give the darkest colour to the maximum of all heads, or of each head (default: all)"},
        {"--output", "FILE", &output, "SVG file to write (default: attention.svg)"},
        {"--csv", "FILE", &csv, "Also write the weights as CSV, one row each"},
        {"--safetensors", "FILE", &safetensors,
         "Also write the weights as safetensors, one tensor for each layer"}};
  }
  int run() const override;
};

constexpr int64_t max_csv_rows = 5'000'000;
constexpr size_t max_input = 1 << 20;  // bytes

// Returns the text of --input.
std::string input_text(const std::string& path, Level level) {
  check_input(path == "-" || exists(path), "--input: there is no file {}; --text takes a text",
              in_quotes(path));
  LineReader reader(path, level);
  std::vector<std::string> lines;
  size_t size = 0;
  for (std::string line; reader.next(line); lines.push_back(line))
    check_input((size += line.size() + 1) <= max_input, "{}: more than {} bytes", reader.name(),
                max_input);
  return joined(lines, "\n");
}

// Returns the start of a text on one line.
std::string headline(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return shortened(text, 100);
}

// Returns the records of the layers that match the patterns.
std::vector<AttentionRecord> chosen_layers(std::vector<AttentionRecord> records,
                                           const std::vector<std::string>& patterns) {
  std::vector<AttentionRecord> chosen;
  std::vector<std::string> names;
  for (AttentionRecord& record : records) {
    names.push_back(record.name);
    if (patterns.empty() || matches_any(record.name, patterns)) chosen.push_back(std::move(record));
  }
  check_input(!names.empty(), "this model has no attention layers");
  check_input(!chosen.empty(), "--only: no layer matches {}; the layers with attention are {}",
              in_quotes(joined(patterns), '\''), joined(names));
  return chosen;
}

void write_records(const std::string& path, const std::vector<AttentionRecord>& records,
                   Metadata metadata) {
  std::vector<NamedParameter> tensors;
  for (const AttentionRecord& record : records) {
    tensors.push_back({record.name, record.weights});
    if (record.grid.empty()) continue;
    metadata[record.name] =
        fmt::format("axes [{}] of [{}]", joined(record.axes), joined(record.grid));
  }
  write_tensors(path, tensors, metadata);
}

void check_arguments(const AttendArguments& a) {
  const bool has_text = a.request.text || a.input;
  check_input(a.request.text.has_value() + a.input.has_value() + a.request.example.has_value() +
                      !a.examples.empty() + a.wrong.has_value() <=
                  1,
              "--text, --input, --example, --examples and --wrong exclude each other: choose one");
  check_input(!has_text || a.request.split.empty(), "--split goes with --example");
  check_input(!a.request.target || (a.examples.empty() && !a.wrong),
              "--target is for one example: remove --examples or --wrong");
  std::vector<std::string> paths;
  for (const auto& [path, extension] : {std::pair{a.output, ".svg"}, std::pair{a.csv, ".csv"},
                                        std::pair{a.safetensors, ".safetensors"}})
    if (!path.empty()) paths.push_back(absolute_path(output_path(path, {extension}), "."));
  std::sort(paths.begin(), paths.end());
  check_input(std::adjacent_find(paths.begin(), paths.end()) == paths.end(),
              "--output, --csv and --safetensors must name different files");
}

// "attention.svg" → "attention-4.svg" for example 4.
std::string numbered(const std::string& path, int64_t example) {
  if (path.empty()) return path;
  const size_t dot = path.rfind('.'), slash = path.rfind('/');
  const size_t end = dot == path.npos || (slash != path.npos && dot < slash) ? path.size() : dot;
  return fmt::format("{}-{}{}", path.substr(0, end), example, path.substr(end));
}

// Returns the examples of --examples, or the first ones that the model gets wrong; empty if neither
// is asked for.
std::vector<int64_t> several_examples(const AttendArguments& a, const Experiment& experiment,
                                      const Corpus& corpus, const Model& model) {
  std::vector<int64_t> numbers;
  for (const std::string& text : a.examples) {
    const double number = number_of_text(text).value_or(-1);
    check_input(number >= 0 && number < 1e15 && number == std::floor(number),
                "--examples {}: expected numbers of examples, such as 0,4,5", in_quotes(text));
    numbers.push_back(static_cast<int64_t>(number));
  }
  if (!a.wrong) return numbers;
  check_input(has_exact_match(experiment) && !corpus.format.numbers,
              "--wrong: the examples have no expected output");
  const std::string split = split_or_default(corpus, a.request.split);
  check_evaluation_memory(experiment, corpus, split, available_memory());
  const TrainOptions& train = experiment.train;
  EvaluationDetails found;
  evaluate(model, split_of(corpus, split), corpus.framing, train.evaluation_batch(), &found);
  const std::vector<Outcome>& outcomes = found.outcomes;
  for (size_t i = 0; i < outcomes.size() && std::ssize(numbers) < *a.wrong; ++i)
    if (!outcomes[i].correct) numbers.push_back(static_cast<int64_t>(i));
  check_input(!numbers.empty(), "--wrong: the model predicts every example of {} correctly", split);
  return numbers;
}

void write_all(const AttendArguments& a, const std::string& title,
               const std::vector<AttentionRecord>& records, const std::vector<AttentionMap>& maps) {
  check_input(a.csv.empty() || weights_in(maps) <= max_csv_rows,
              "--csv: {} rows are more than {}; use --safetensors, or choose layers with --only",
              weights_in(maps), max_csv_rows);
  std::vector<std::string> written;
  if (!a.safetensors.empty()) {
    write_records(output_path(a.safetensors), records, {{"title", escaped(title)}});
    written.push_back(a.safetensors);
  }
  if (!a.csv.empty()) {
    write_file(output_path(a.csv), attention_csv(maps));
    written.push_back(a.csv);
  }
  write_file(output_path(a.output),
             attention_picture(maps, title,
                               a.scale == "head" ? PictureScale::head : PictureScale::picture));
  written.push_back(a.output);
  print(fmt::format("{}\n{}\n", title, joined(written, "\n")));
}

int AttendArguments::run() const {
  check_arguments(*this);
  const SavedRun saved = SavedRun::open(path, set);
  const Experiment& experiment = saved.config.experiment;
  apply_settings(experiment);
  ExampleRequest requested = request;
  const bool several = !examples.empty() || wrong;
  if (!requested.text && !input && !requested.example) requested.example = 0;
  const TrainedModel run(
      saved, checkpoint,
      requested.example ? TrainedModel::Needs::data : TrainedModel::Needs::vocabulary);
  const TrainedModel::Here here(run);
  const Corpus& corpus = run.corpus;
  check_input(
      requested.example || (corpus.format.features == 0 && !corpus.format.numbers),
      "{}: this model reads vectors or predicts numbers, not text; choose an example of its data "
      "with --example N",
      run.path());
  if (input) {
    requested.text = input_text(*input, experiment.data.level);
    requested.option = "--input";
  }
  const auto draw = [&](const AttendArguments& files) {
    const AttendedExample reading = attended_example(requested, experiment, corpus, *run.model);
    const std::vector<AttentionRecord> records =
        chosen_layers(record_attention(*run.model, reading.inputs), only);
    std::string title =
        fmt::format("{}, step {}: {}", run.path(), run.checkpoint.step(), headline(reading.source));
    if (!reading.target.empty()) title += " → " + headline(reading.target);
    write_all(files, title, records, attention_maps(records, reading.labels));
  };
  if (!several) draw(*this);
  for (const int64_t example : several_examples(*this, experiment, corpus, *run.model)) {
    requested.example = example;
    AttendArguments files = *this;
    for (std::string* file : {&files.output, &files.csv, &files.safetensors})
      *file = numbered(*file, example);
    draw(files);
  }
  return exit_done;
}

}  // namespace

const Command commands::attend = {
    .name = "attend",
    .summary = "Draw the attention weights of a trained model",
    .details =
        "Examples:\n"
        "  heed attend runs/latest\n"
        "  heed attend runs/sort --text '2 0 1 1 0 2'\n"
        "  heed attend runs/reverse --text '3 14 15 9 26' --only 'decoder*' --csv weights.csv\n"
        "  heed attend runs/addition --wrong 3\n"
        "  heed attend runs/shapes --example 7 --split test --output shape.svg",
    .arguments = make_arguments<AttendArguments>,
};

}  // namespace heed
