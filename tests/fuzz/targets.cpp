// Fuzz targets for every parser of heed (libFuzzer). Any input must give a value or an InputError.
//
// They are without what only heed itself writes or a compiler reads: settings.json of a build, an
// answer to an exercise. Environment variables are compared with words or read by strtol.
//
// The environment variable HEED_FUZZ selects the target. An unknown name prints all targets. For
// targets that read several files, the input is their concatenation, separated by a line "%%%".
#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "apps/commands/command_line.h"
#include "apps/config/config.h"
#include "apps/config/experiment.h"
#include "apps/inference/kinds.h"
#include "apps/inference/line_reader.h"
#include "apps/inference/positions.h"
#include "apps/inference/vocabulary_file.h"
#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "apps/support/json.h"
#include "apps/training/arrays.h"
#include "apps/training/checkpoint.h"
#include "apps/training/data_record.h"
#include "apps/training/loop_state.h"
#include "apps/training/metrics.h"
#include "apps/training/result.h"
#include "apps/training/run_record.h"
#include "core/check.h"
#include "core/safetensors.h"
#include "core/text.h"
#include "course/commands/room.h"
#include "course/tutor/class_plan.h"
#include "data/batch.h"
#include "data/files.h"
#include "lab/commands/room.h"
#include "lab/experiments/comparison.h"
#include "lab/experiments/curves.h"
#include "lab/experiments/sweep_options.h"
#include "lab/report/report_data.h"
#include "lab/report/run_page.h"
#include "lab/report/view.h"

using namespace heed;

namespace {

// Aborts with a message if a condition is false. libFuzzer then saves the input.
void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// Returns the folder of this process, in memory.
const std::string& folder() {
  static const std::string& path = *[] {  // never destroyed: used at exit
    char name[] = "/dev/shm/heed-fuzz-XXXXXX";
    require(::mkdtemp(name) != nullptr, "a folder can be made in /dev/shm");
    std::atexit([] { remove_all(folder()); });
    return new std::string(name);
  }();
  return path;
}

// Writes a file in folder(). Unlike write_file() of apps/support, it does not wait for the disk.
std::string written(const char* name, std::string_view bytes) {
  std::string path = in_folder(folder(), name);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  require(::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
              ::close(file) == 0,
          "a file can be written");
  return path;
}

// Removes and returns the part of the input before the separator.
std::string_view next_part(std::string_view& input) {
  constexpr std::string_view separator = "\n%%%\n";
  const size_t end = input.find(separator);
  const std::string_view part = input.substr(0, end);
  input = end == input.npos ? std::string_view() : input.substr(end + separator.size());
  return part;
}

// Reads a config. For some inputs, because it is slow, checks that the listing reads back equal.
void check_config(const ConfigSource& source, bool lists) {
  Experiment experiment, again;
  source.fill(experiment);
  if (lists) {
    const ConfigListing listing = list_config(experiment);
    ConfigSource::read(written("listed.toml", config_text(listing))).fill(again);
    require(config_differences(listing, list_config(again)).empty(), "a listed config is the same");
  }
  experiment.validate();
}

// A config, and optionally its base, base.toml.
void config(std::string_view input) {
  const bool lists = input.size() % 16 == 0;
  const std::string path = written("config.toml", next_part(input));
  written("base.toml", next_part(input));
  check_config(ConfigSource::read(path), lists);
}

// Lines of --set.
void set(std::string_view input) {
  ConfigSource source;
  for_each_line(input, [&](std::string_view line, int64_t) { source.set(line); });
  check_config(source, input.size() % 16 == 0);
}

void safetensors(std::string_view input) {
  const SafetensorsFile file(written("model.safetensors", input));
  for (const NamedArray& array : file.arrays()) {
    std::vector<char> bytes(static_cast<size_t>(array.bytes()));
    file.read(array, bytes.data());
  }
}

// A file for train.load, into an array with a row for each token and one without.
void weights(std::string_view input) {
  const Tensor rows = Tensor::zeros({3, 2}), other = Tensor::zeros({2});
  load_weights(written("model.safetensors", input), {"*"}, {{"rows", rows}, {"other", other}},
               {{"rows", {"word", {"a", "b", unknown_token}, "ab"}}});
}

void vocabulary(std::string_view input) {
  constexpr ModelKind framings[] = {ModelKind::language_model, ModelKind::seq2seq,
                                    ModelKind::classifier};
  const std::string path = written("vocabulary.json", input);
  for (const ModelKind framing : framings) {
    try {
      const Corpus corpus = read_vocabulary(path, framing);
      if (corpus.source) (void)corpus.source->decode(corpus.source->encode("ab a"));
    } catch (const InputError&) {
    }
  }
}

// state.json with a valid digest. Others are rejected before parsing.
void state(std::string_view input) {
  Json json = Json::parse(input, "state.json");
  if (!json.is_object()) return;
  json.remove("state_sha256");
  json.set("state_sha256", sha256(json.text()));
  written("state.json", json.text());
  const Checkpoint checkpoint(folder(), "");
  (void)LoopState::from(checkpoint.state().at("training"));
}

void metrics(std::string_view input) {
  (void)curves_of(input);
  MetricsFile(written("metrics.jsonl", input), 3);
}

// Returns the folder of this process as that of a run with this run.json.
RunFolder run_with(std::string_view record) {
  written("config.toml", "");
  written("run.json", record);
  return RunFolder::open(folder());
}

// result.json, as any JSON, whose written values must read back equal, and as scores.
void result(std::string_view input) {
  const std::string text = Json::parse(input, "result.json").text();
  require(Json::parse(text, "again").text() == text, "JSON that is written reads the same");
  written("result.json", input);
  const RunFolder run = run_with(R"({"sessions": [{"format": 1, "data": "2cf8533cba329770"}]})");
  if (const auto scores = read_result(run)) (void)scores->json().text();
}

// run.json
void record(std::string_view input) {
  const RunFolder run = run_with(input);
  DataOptions options;
  options.kind = &data_kinds::text;
  (void)recorded_data(run, options);
  Experiment experiment;
  ConfigSource::read("configs/sort.toml").fill(experiment);
  (void)config_with_changes(segments_of(run, experiment));
}

// data.json of a sweep
void data_record(std::string_view input) {
  written(DataRecord::file, input);
  (void)DataRecord::read(folder());
}

// Two runs with the same config.toml but for the width, run.json, metrics.jsonl, origins.json and
// error.txt, and a result.json each; then what compare is asked: --target, --score, --baseline,
// --interaction. The report reads the first run.
void compare(std::string_view input) {
  std::vector<std::string> paths;
  for (const char* name : {"one", "two"}) {
    paths.push_back(in_folder(folder(), name));
    make_folders(paths.back());
  }
  for (const char* name :
       {"config.toml", "run.json", "metrics.jsonl", "origins.json", "error.txt"}) {
    const std::string_view part = next_part(input);
    std::string text(part);
    for (const std::string& run : paths) {
      if (!part.empty())
        written((name_of(run) + "/" + name).c_str(), text);
      else
        remove_all(in_folder(run, name));
      if (const size_t width = text.find("dim = 4"); width != text.npos) text[width + 6] = '8';
    }
  }
  for (const std::string& run : paths)
    written((name_of(run) + "/result.json").c_str(), next_part(input));
  ComparisonOptions options;
  int asked = 0;
  for_each_line(input, [&](std::string_view line, int64_t) {
    const std::string text(line);
    if (asked == 0 && !text.empty()) options.target = ScoreTarget::parse(text);
    if (asked == 1) options.score = text;
    if (asked == 2) options.question.baseline = text;
    if (asked >= 3) options.question.interaction.push_back(text);
    ++asked;
  });
  try {
    (void)comparison_of(load_runs(paths), options);
  } catch (const InputError&) {
  }
  (void)run_page_data(report_data({.paths = {paths[0]}, .details = false, .profile = false}))
      .text();
}

// A sweep of base.toml, and optionally lines of --axis, the last of which are seeds.
void sweep(std::string_view input) {
  written("base.toml", "[model]\nkind = \"seq2seq\"\n[data]\nkind = \"copy\"\nlengths = [1, 2]\n");
  SweepArguments arguments{.path = written("sweep.toml", next_part(input)), .max_runs = 100};
  for_each_line(input, [&](std::string_view line, int64_t) { arguments.axes.emplace_back(line); });
  if (arguments.axes.size() > 1) {
    arguments.seeds = arguments.axes.back();
    arguments.axes.pop_back();
  }
  (void)sweep_text(read_sweep(arguments), "base.toml");
}

// Loads data files of a kind and builds batches of all examples.
void load(const DataOptions& options, const ExampleProgram* program = nullptr) {
  const std::vector<ModelKind>& all = options.kind->framings;
  const ModelKind framing = all[static_cast<size_t>(options.max_vocabulary) % all.size()];
  const bool at_positions = options.max_length > 0;
  const Corpus corpus = load_corpus(options, framing, 1, {}, at_positions, program);
  for (const auto& [name, dataset] : corpus.splits) {
    Batches batches = Batches::in_order(dataset, framing, 16);
    Batch batch;
    for (int64_t i = 0; i < std::min<int64_t>(batches.count(), 4); ++i) batches.get(i, batch);
  }
}

// Selects options by the first byte of the input.
DataOptions options_of(const DataKind& kind, std::string_view& input) {
  const auto choice = input.empty() ? 0U : static_cast<unsigned char>(input[0]);
  input.remove_prefix(std::min<size_t>(1, input.size()));
  DataOptions options;
  options.kind = &kind;
  options.level = static_cast<Level>(choice % 3);
  options.val_fraction = choice & 4 ? 0.2 : 0;
  if (&kind == &data_kinds::text) {
    options.context = 4;
    return options;
  }
  options.test_fraction = 0;
  options.max_length = choice & 8 ? 3 : 0;
  if (options.level != Level::byte) options.max_vocabulary = choice & 16 ? 2 : 0;
  return options;
}

// A data file, and optionally a file of targets or validation data.
template <const DataKind& kind>
void lines_of(std::string_view input) {
  DataOptions options = options_of(kind, input);
  options.path = written("path", next_part(input));
  if (!input.empty() && &kind == &data_kinds::pairs)
    options.target_path = written("target", next_part(input));
  else if (!input.empty() && &kind != &data_kinds::text)
    options.val_path = written("val", next_part(input));
  load(options);
}

void images(std::string_view input) {
  DataOptions options;
  options.kind = &data_kinds::images;
  options.patch = 1;
  options.val_fraction = options.test_fraction = 0;
  options.path = written("images", next_part(input));
  options.target_path = written("labels", next_part(input));
  load(options);
}

// What a program of data.command has written: training and validation examples.
void stream(std::string_view input) {
  DataOptions options;
  options.level = options_of(data_kinds::examples, input).level;
  const std::string train(next_part(input)), val(next_part(input));
  options.kind = &data_kinds::examples;
  options.command = {"x"};
  options.val_size = options.test_size = 2;
  ExampleProgram program;
  program.kept = [&](Split split) { return split == Split::train ? train : val; };
  load(options, &program);
}

// The lines of a file that a command answers.
void answered(std::string_view input) {
  const std::string path = written("lines", input);
  for (const Level level : {Level::character, Level::byte}) try {
      LineReader reader(path, level);
      for (std::string line; reader.next(line);)
        require(line.size() <= LineReader::max_line + 1, "a line has a limit");
    } catch (const InputError&) {
    }
}

// The values of options, one on each line.
void values(std::string_view input) {
  for_each_line(input, [](std::string_view line, int64_t) {
    const std::string text(line);
    const auto read = [](auto&& f) {
      try {
        f();
      } catch (const InputError& error) {
        require(std::string_view(error.what()).size() < 2000, "an error is short");
      }
    };
    read([&] { (void)PositionRange::parse(text); });
    read([&] { (void)ScoreTarget::parse(text); });
    read([&] { Kinds kinds(text); });
  });
}

// A command of the program whose options are read, and that does nothing.
template <size_t index>
struct Idle final : CommandArguments {
  static const Command& original() {
    static const std::vector<const Command*> all = commands_with({&lab_room, &course_room});
    return *all[index % all.size()];
  }
  std::unique_ptr<CommandArguments> arguments = original().arguments();
  std::vector<Option> options() override { return arguments->options(); }
  int run() const override { return 0; }
  static constexpr auto make = make_arguments<Idle>;
};
template <size_t... index>
std::vector<Command> idle_commands(std::index_sequence<index...>) {
  return {Command{Idle<index>::original().name, "", "", Idle<index>::make}...};
}

// The command line, a word on each line.
void words(std::string_view input) {
  static const std::vector<Command> idle = idle_commands(std::make_index_sequence<24>());
  ProgramCommands program;
  for (const Command& command : idle) {
    const auto same = [&](const Command* other) {
      return std::string_view(other->name) == command.name;
    };
    if (std::none_of(program.commands.begin(), program.commands.end(), same))
      program.commands.push_back(&command);
  }
  std::vector<std::string> words = {"heed"};
  for_each_line(input, [&](std::string_view line, int64_t) {
    words.emplace_back(line.substr(0, line.find('\0')));
  });
  const bool helps = std::any_of(words.begin() + 1, words.end(), [](const std::string& word) {
    return word.starts_with("-h") || word.starts_with("--h") || word == "help";
  });
  if (words.size() < 3 || helps) return;  // a page of text each
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  (void)run_command_line(program, static_cast<int>(words.size()), arguments.data());
}

// The plan of a class.
void class_plan(std::string_view input) {
  (void)ClassPlan::read(written("class.toml", input), {"softmax", "layer-norm"});
}

#ifdef HEED_VIEW
// A request to heed view, as bytes. The stream of events has no end, and is left out.
void request(std::string_view input) {
  static std::atomic<int> port = 0;
  static std::thread& server = *new std::thread([] {  // ends with the process
    written("config.toml", "");
    serve_view(
        folder(), 0, [](int chosen) { port = chosen; }, [] { return false; });
  });
  (void)server;
  while (port == 0) std::this_thread::yield();
  if (input.find("events") != input.npos || input.find('%') != input.npos) return;
  const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port.load()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  while (::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
         errno != EISCONN)  // libFuzzer's alarm interrupts calls
    require(errno == EINTR || errno == EALREADY, "the server accepts a connection");
  std::string bytes(input);
  if (const size_t end = bytes.find("PORT"); end != bytes.npos)
    bytes.replace(end, 4, std::to_string(port));
  (void)::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  pollfd answers{connection, POLLIN, 0};
  (void)::poll(&answers, 1, 5);  // the server does not answer clients that have closed their side
  ::shutdown(connection, SHUT_WR);
  char answer[4096];
  while (::recv(connection, answer, sizeof answer, 0) > 0) continue;
  ::close(connection);
}
#endif

void prompts(std::string_view input) {
  static const TextCodec codecs[] = {
      {Level::character, {"\n", "a", "b", "é", begin_token, separator_token}},
      {Level::word, {"a", "b", begin_token, end_token, unknown_token}},
      {Level::byte, byte_tokens()}};
  for (const TextCodec& codec : codecs) {
    try {
      const std::string text = codec.decode(codec.prompt(input));
      require(codec.level() != Level::byte || text == input, "bytes are decoded as they were");
      require(escaped(escaped(text)) == escaped(text), "escaped text stays as it is");
    } catch (const InputError&) {
    }
  }
}

// A tokenizer. What SentencePiece reads must restore any text, or say that it cannot.
void subwords(std::string_view input) {
  const auto model = std::make_shared<Subwords>(std::string(input));
  const TextCodec codec(Level::subword, model->pieces(), model);
  for (const char* text : {"an ordinary text\n", "  \u2581\u00E9 \U0001F600"})
    require(codec.decode(codec.encode(text)) == text, "a text is restored");
}

struct Target {
  const char* name;
  void (*run)(std::string_view input);
};
constexpr Target targets[] = {{"config", config},
                              {"set", set},
                              {"safetensors", safetensors},
                              {"weights", weights},
                              {"vocabulary", vocabulary},
                              {"state", state},
                              {"metrics", metrics},
                              {"result", result},
                              {"record", record},
                              {"data_record", data_record},
                              {"compare", compare},
                              {"sweep", sweep},
                              {"images", images},
                              {"text", lines_of<data_kinds::text>},
                              {"lines", lines_of<data_kinds::lines>},
                              {"pairs", lines_of<data_kinds::pairs>},
                              {"labelled", lines_of<data_kinds::labelled>},
                              {"examples", lines_of<data_kinds::examples>},
                              {"stream", stream},
                              {"answered", answered},
                              {"values", values},
                              {"words", words},
                              {"class_plan", class_plan},
#ifdef HEED_VIEW
                              {"request", request},
#endif
                              {"prompts", prompts},
                              {"subwords", subwords}};

const Target& chosen() {
  const char* const name = std::getenv("HEED_FUZZ");
  for (const Target& target : targets)
    if (name && std::string_view(name) == target.name) return target;
  for (const Target& target : targets) std::puts(target.name);
  std::fflush(stdout);
  std::_Exit(2);  // libFuzzer reports exit() as a failure
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Target& target = chosen();
  try {
    target.run({reinterpret_cast<const char*>(data), size});
  } catch (const InputError& error) {
    const std::string_view text = error.what();
    require(text.size() < 2000, "an error is short");
  }
  return 0;
}
