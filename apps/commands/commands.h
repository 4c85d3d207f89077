// What `heed` can do: one function a verb. Each takes what the command line said and returns the
// exit code; what the user did wrong is an InputError, what the machine did, an Error. Results go
// to stdout, everything else to stderr.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace heed::commands {

inline constexpr int exit_done = 0, exit_failed = 1, exit_misused = 2, exit_interrupted = 130;

struct TrainArguments {
  std::string config;            // or, with resume, the folder of a run
  std::vector<std::string> set;  // "key=value"
  std::string run;
  bool resume = false;
};
int train(const TrainArguments& arguments);

struct EvaluateArguments {
  std::string run, split, checkpoint;  // "" for test, or val where there is no test; for best
  bool json = false;
};
int evaluate(const EvaluateArguments& arguments);

struct GenerateArguments {
  std::string run, checkpoint;
  // Language models.
  std::optional<std::string> prompt;
  std::optional<int64_t> count, length, top_k, seed;
  std::optional<double> temperature, top_p;
  // Encoder-decoders and classifiers.
  std::optional<std::string> input;  // a file; standard input without it, or for "-"
  std::optional<int64_t> beam;
  std::optional<double> length_penalty;
};
int generate(const GenerateArguments& arguments);

struct AttendArguments {
  std::string run, checkpoint;
  std::optional<std::string> input;  // the text, a file that holds it, or "-" for standard input
  std::optional<int64_t> example;    // in place of it: of the run's own data, from 0
  std::string split;                 // "" for test, or val where there is no test
  std::optional<std::string> target;
  std::vector<std::string> only;         // patterns of names; none: all
  std::string output, csv, safetensors;  // files; "": attention.svg, none, none
};
int attend(const AttendArguments& arguments);

struct SummaryArguments {
  std::string subject;  // a config or a run
  std::vector<std::string> set;
};
int summary(const SummaryArguments& arguments);

struct ConfigArguments {
  std::string config;
  std::vector<std::string> set;
  bool reference = false;
};
int config(const ConfigArguments& arguments);

struct CompareArguments {
  std::vector<std::string> runs;
  bool json = false, csv = false;
};
int compare(const CompareArguments& arguments);

struct TheoremsArguments {
  std::vector<std::string> only;  // ids; empty: all
  int64_t seed = 1;
  bool json = false;
  std::string model;  // a config or a run: which properties it has; "" for the theorems
  std::vector<std::string> set;
};
int theorems(const TheoremsArguments& arguments);

struct BenchArguments {
  std::vector<std::string> sizes;  // none: all
  std::string precision = "highest";
  double seconds = 5;  // a size
  int64_t threads = 0;
  bool json = false;
  bool generate = false;         // how fast models write, instead of a training step
  std::optional<int64_t> batch;  // of generation
  bool no_cache = false;         // likewise
};
int bench(const BenchArguments& arguments);

struct ProfileArguments {
  std::string config;
  std::vector<std::string> set;
  int64_t steps = 10;
  std::optional<std::string> trace;  // a file
  bool json = false;
};
int profile(const ProfileArguments& arguments);

// What `heed --version` says.
std::string version_text();

}  // namespace heed::commands
