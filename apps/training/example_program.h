// data.command of a config as data/ needs it: started as a process, or read from the folder of a
// run that has kept its examples.
#pragma once

#include "apps/config/load_config.h"
#include "apps/support/json.h"
#include "data/corpus.h"
#include "data/example_program.h"

namespace heed {

// The file of a split that a run keeps in its folder data/.
std::string kept_file(const std::string& split);

// Returns the program of a config that has data.command. If the config may not start it
// (LoadedConfig::starts_command), the program is the files that the run has kept. Throws InputError
// if the run has kept none.
ExampleProgram example_program(const LoadedConfig& config);

// A task of a process that has heed as a library: data.command = ["heed.task", NAME]. Its examples
// are lines that the process makes itself.
inline constexpr const char* task_command = "heed.task";
using TaskLines = std::function<std::unique_ptr<LineSource>(const std::string& name, Split split,
                                                            uint64_t seed, int64_t start)>;
// Lets this process make the examples of tasks.
void use_tasks(TaskLines lines);
// Returns whether the data are those of a task. Throws InputError if this process has none.
bool has_task(const DataOptions& data);

// Returns what run.json has of the program: its words, the SHA-256 of those that are files, and of
// the held-out and the first training examples.
Json program_record(const std::vector<std::string>& words, const Corpus& corpus);

}  // namespace heed
