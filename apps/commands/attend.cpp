// heed attend: what a trained model looks at while it reads and writes, as a picture and as data.
#include <fmt/format.h>

#include <algorithm>

#include "apps/commands/commands.h"
#include "apps/inference/attention_picture.h"
#include "apps/inference/reading.h"
#include "apps/support/files.h"
#include "apps/training/arrays.h"
#include "apps/training/saved_run.h"
#include "apps/training/trainer.h"
#include "core/joined.h"
#include "data/utf8.h"
#include "nn/recorder.h"

namespace heed::commands {
namespace {

constexpr int64_t most_rows = 5'000'000;  // of CSV
constexpr const char* default_picture = "attention.svg";

// The beginning of a text, on one line.
std::string headline(const std::string& text) {
  constexpr size_t most = 100;
  std::string line;
  const std::string valid = printable(text);
  for (size_t at = 0; at < valid.size() && line.size() < most; at += character_length(valid[at]))
    line += static_cast<unsigned char>(valid[at]) < 0x20
                ? " "
                : valid.substr(at, character_length(valid[at]));
  return line.size() < most ? line : line + "…";
}

std::vector<AttentionRecord> watched(const Model& model, const Inputs& inputs,
                                     const std::vector<std::string>& patterns) {
  ScopeGuard here;
  here->gradients = here->training = false;
  Recorder watching;
  model.logits(inputs);
  std::vector<AttentionRecord> chosen;
  std::vector<std::string> names;
  for (AttentionRecord& record : watching.records(model)) {
    names.push_back(record.name);
    if (patterns.empty() || fits_any(record.name, patterns)) chosen.push_back(std::move(record));
  }
  check_input(!names.empty(), "this model has no attention: there is nothing to watch");
  check_input(!chosen.empty(), "--only: no attention fits '{}'; there are {}", joined(patterns),
              joined(names));
  return chosen;
}

void write_tensors(const std::string& path, const std::vector<AttentionRecord>& records,
                   Metadata metadata) {
  std::vector<NamedParameter> tensors;
  for (const AttentionRecord& record : records) {
    tensors.push_back({record.name, record.weights});
    if (record.grid.empty()) continue;
    metadata[record.name] =
        fmt::format("axes [{}] of [{}]", joined(record.axes), joined(record.grid));
  }
  const std::string aside = aside_of(path);
  try {
    write_safetensors(aside, arrays_of(tensors), metadata);
    rename_in_folder(aside, path);
  } catch (...) {
    remove_all(aside);
    throw;
  }
}

void check_arguments(const AttendArguments& a) {
  check_input(a.input.has_value() != a.example.has_value(),
              "give what to read: --input TEXT, or --example N of the run's own data");
  check_input(a.split.empty() || a.example, "--split goes with --example");
  const std::string picture = a.output.empty() ? default_picture : a.output;
  std::vector<std::string> paths;
  for (const std::string& path : {picture, a.csv, a.safetensors}) {
    if (path.empty()) continue;
    check_input(!is_folder(path), "{}: a folder; give the name of a file", path);
    paths.push_back(absolute_path(path, "."));
  }
  std::sort(paths.begin(), paths.end());
  check_input(std::adjacent_find(paths.begin(), paths.end()) == paths.end(),
              "--output, --csv and --safetensors must name different files");
}

void write_all(const AttendArguments& a, const std::string& title,
               const std::vector<AttentionRecord>& records, const std::vector<AttentionMap>& maps) {
  check_input(a.csv.empty() || weights_in(maps) <= most_rows,
              "--csv: {} rows are more than {}; write --safetensors, or choose some layers with "
              "--only",
              weights_in(maps), most_rows);
  std::vector<std::string> written;
  if (!a.safetensors.empty()) {
    write_tensors(a.safetensors, records, {{"title", title}});
    written.push_back(a.safetensors);
  }
  if (!a.csv.empty()) {
    write_file(a.csv, attention_csv(maps));
    written.push_back(a.csv);
  }
  written.push_back(a.output.empty() ? default_picture : a.output);
  write_file(written.back(), attention_picture(maps, title));
  fmt::print("{}\n{}\n", title, joined(written, "\n"));
}

}  // namespace

int attend(const AttendArguments& arguments) {
  check_arguments(arguments);
  const SavedRun run = SavedRun::open(arguments.run);
  const Experiment& experiment = run.config.experiment;
  apply_settings(experiment);
  const Checkpoint checkpoint = run.checkpoint(arguments.checkpoint);
  const SavedVocabulary saved = run.vocabulary();
  Corpus data;
  if (arguments.example) data = run.data(checkpoint);
  const Corpus& corpus = arguments.example ? data : saved.corpus;
  check_input(
      arguments.example || corpus.format.features == 0,
      "{}: this model reads vectors of {} numbers, which cannot be typed; choose an example "
      "of its data with --example N",
      run.folder.path(), corpus.format.features);
  const std::unique_ptr<Model> model = run.model(corpus, checkpoint);
  const Reading reading = reading_of(arguments, experiment, saved, corpus, *model);
  const std::vector<AttentionRecord> records = watched(*model, reading.inputs, arguments.only);
  std::string title = fmt::format("{}, step {}: {}", run.folder.path(), checkpoint.step(),
                                  headline(reading.source));
  if (!reading.target.empty()) title += " → " + headline(reading.target);
  write_all(arguments, title, records, attention_maps(records, reading.labels));
  return exit_done;
}

}  // namespace heed::commands
