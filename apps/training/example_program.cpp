#include "apps/training/example_program.h"

#include <filesystem>

#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "apps/support/log.h"
#include "apps/support/shell.h"
#include "apps/training/program_lines.h"
#include "apps/training/run_record.h"
#include "core/check.h"
#include "core/text.h"
#include "data/file_splits.h"
#include "data/files.h"

namespace heed {
namespace {

constexpr int64_t max_kept_lines = int64_t{1} << 31;  // bytes

std::string name_of_program(const std::vector<std::string>& words) {
  std::string name;
  for (const std::string& word : words) name += (name.empty() ? "" : " ") + shell_word(word);
  return shortened(name, 200);
}

TaskLines& task_lines() {
  static TaskLines lines;
  return lines;
}

std::string kept_path(const RunFolder& run, Split split) {
  const std::string path = in_folder(run.data(), kept_file(name_of(split_names, split)));
  check_input(
      exists(path),
      "{}: missing: the examples of data.command that the run has kept; restore the file, or "
      "name a config to start the command again",
      path);
  return path;
}

ExampleProgram kept_program(const LoadedConfig& config, ExampleProgram program) {
  check_input(!config.run_vocabulary.empty(),
              "`data.command`: a config that no one has named may not start it");
  const RunFolder run = RunFolder::open(folder_of(config.run_vocabulary));
  const Json sessions = sessions_of(run);
  in_context(
      run.record(),
      [&] {
        for (const auto& [path, digest] :
             sessions.elements().back().at("program").at("files").members())
          program.files.emplace_back(path, digest.string());
      },
      "; restore the file");
  program.kept = [run](Split split) { return read_bytes(kept_path(run, split), max_kept_lines); };
  return program;
}

}  // namespace

std::string kept_file(const std::string& split) { return split + ".jsonl"; }

void use_tasks(TaskLines lines) { task_lines() = std::move(lines); }

bool has_task(const DataOptions& data) {
  if (data.command.size() != 2 || data.command[0] != task_command) return false;
  check_input(task_lines() != nullptr,
              "`data.command`: the examples are those of {}, a function of Python: train it there, "
              "with heed.train() of the module heed, and with resume=True to resume a run",
              in_quotes(data.command[1]));
  return true;
}

ExampleProgram example_program(const LoadedConfig& config) {
  const DataOptions& data = config.experiment.data;
  ExampleProgram program{.name = name_of_program(data.command)};
  const TrainOptions& train = config.experiment.train;
  if (!train.measures.empty()) program.at_hand = train.measure_examples;
  if (!config.starts_command) return kept_program(config, std::move(program));
  for (const std::string& word : data.command)
    if (const std::string path = absolute_path(word, data.command_folder);
        std::filesystem::is_regular_file(path))
      program.files.emplace_back(path, sha256_of_file(path));
  if (has_task(data)) {
    program.start = [name = data.command[1]](Split split, uint64_t seed, int64_t start) {
      return task_lines()(name, split, seed, start);
    };
    return program;
  }
  program.start = [data](Split split, uint64_t seed, int64_t start) {
    std::vector<std::string> words = data.command;
    for (const std::string& word :
         {std::string("--split"), std::string(name_of(split_names, split)), std::string("--seed"),
          std::to_string(seed), std::string("--start"), std::to_string(start)})
      words.push_back(word);
    return std::make_unique<ProgramLines>(words, data.command_folder,
                                          std::chrono::seconds(data.command_timeout));
  };
  program.log = [name = program.name](const std::string& line) {
    logging::info("{}: {}", name, line);
  };
  return program;
}

Json program_record(const std::vector<std::string>& words, const Corpus& corpus) {
  Json files = Json::object();
  std::string examples;
  for (const auto& [path, digest] : corpus.program_files) files.set(escaped(path), digest);
  for (const auto& [split, lines] : corpus.kept_lines) examples += lines;
  return Json::object()
      .set("words", Json::list(words, escaped))
      .set("files", std::move(files))
      .set("examples", sha256(examples));
}

}  // namespace heed
