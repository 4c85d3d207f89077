// A command of the program: its name, its help, its options and what it does.
//
// To add one: a file in this folder that defines a Command, and one entry in the list below.
// Options are plain data, so that only command_line.cpp includes CLI11, which is slow to compile.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/fields.h"
#include "core/named.h"
#include "core/registry.h"

namespace heed {

inline constexpr int exit_done = 0, exit_failed = 1, exit_misused = 2, exit_interrupted = 130,
                     exit_closed = 141;  // 128 + SIGPIPE, as shells report other tools
inline constexpr Named<int> exit_codes[] = {
    {"Done", exit_done},
    {"The run failed: a full disk, a loss that is not finite", exit_failed},
    {"A mistake in the command line, in a config, in data or in a checkpoint", exit_misused},
    {"Interrupted, and saved", exit_interrupted},
    {"Nobody reads standard output any more, as in heed … | head -1", exit_closed}};

// An option of a command and the variable that it sets.
struct Option {
  // "--run"; without dashes a positional argument: "RUN", "[RUN]" if optional, "RUN..." if several.
  const char* name;
  // What the help calls the value: "DIR". With a comma, "ID[,ID]", the value is a list. In lower
  // case, "error|skip", it is one of these words.
  const char* value;
  // Unless the option is used, the variable keeps its value. A vector takes the option repeatedly.
  std::variant<bool*, std::string*, std::optional<std::string>*, std::vector<std::string>*,
               int64_t*, std::optional<int64_t>*, double*, std::optional<double>*>
      target;
  std::string help;
  Range range = {};        // of a number
  const char* group = "";  // heading in the help
};

inline bool has_words(const Option& option) {
  return option.value[0] >= 'a' && option.value[0] <= 'z';
}

// Options that several commands have.
inline Option colour_option(std::string& colours) {
  return {"--color", "auto|always|never", &colours,
          "Use colours (default: auto, on a terminal unless NO_COLOR is set)"};
}
inline Option set_option(std::vector<std::string>& set) {
  return {"--set", "KEY=VALUE", &set,
          "Set a key of the config, such as model.layers=4; may be repeated"};
}
inline Option checkpoint_option(std::string& checkpoint) {
  return {"--checkpoint", "WHICH", &checkpoint,
          "Checkpoint to load: best, latest or a step (default: best, else latest)"};
}
inline Option unknown_option(std::string& unknown) {
  return {"--unknown", "error|skip", &unknown,
          "Input tokens that are not in the vocabulary: error, or skip (default: error; a "
          "vocabulary with <unk> reads them as that)"};
}
// The tokens that --unknown skip leaves out.
class UnknownTokens {
 public:
  explicit UnknownTokens(const std::string& option) : skip_(option == "skip") {}
  int64_t* skipped() { return skip_ ? &count_ : nullptr; }  // where they are counted
  // Logs how many were left out. Returns the exit code of a command that could not read `failed`
  // lines.
  int exit_code(int64_t failed) const;

 private:
  bool skip_;
  int64_t count_ = 0;
};
inline Option score_option(std::string& score) {
  return {"--score", "NAME", &score,
          "Compare runs by this score, such as test.loss (default: the score of the validation "
          "split that train.best_by names)"};
}
inline Option columns_option(std::vector<std::string>& columns) {
  return {"--columns", "NAME[,NAME]", &columns,
          "Scores to show, such as val.loss,test.exact_match (default: those of the validation "
          "split)"};
}
// `what`: "Also score each kind of examples".
inline Option by_option(std::string& by, const std::string& what) {
  return {"--by", "REGEX|length|position|GROUP", &by,
          what +
              ": what this regular expression, or its first group, matches in the source; its "
              "length; or the value of the examples' group of this name. By position: of targets"};
}
inline Option positions_option(std::string& positions) {
  return {"--positions", "FIRST:LAST", &positions,
          "Only count the targets at these positions of the input, from 0, such as 32:63"};
}
inline Option json_option(bool& json) { return {"--json", "", &json, "Print JSON"}; }

inline constexpr Range seed_range{0, 9e15};

struct ProgramCommands;  // room.h

// The options of one call of a command, and its action.
class CommandArguments {
 public:
  virtual ~CommandArguments() = default;
  virtual std::vector<Option> options() = 0;
  // The program that was called, which outlives the call.
  const ProgramCommands* program = nullptr;
  // Returns the exit code. Throws InputError for mistakes of the user and Error for failures of the
  // machine. Results go to stdout, everything else to stderr.
  virtual int run() const = 0;
};

struct Command {
  const char* name;
  const char* summary;  // one line, a verb first
  const char* details;  // examples and notes
  std::unique_ptr<CommandArguments> (*arguments)();
  // Under mpirun (apps/ranks) all ranks run it together, and not only the first.
  bool shared_by_ranks = false;
};

template <class Arguments>
std::unique_ptr<CommandArguments> make_arguments() {
  return std::make_unique<Arguments>();
}

using Commands = std::span<const Command* const>;

// The commands of the framework, in the order of `heed --help`. Those of rooms follow: see room.h.
// clang-format off
#define HEED_COMMANDS(entry) \
  entry(train) \
  entry(evaluate) \
  entry(generate) \
  entry(attend) \
  entry(summary) \
  entry(config) \
  entry(data)
// clang-format on
HEED_REGISTRY(commands, Command, HEED_COMMANDS)

}  // namespace heed
