#include "course/tutor/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <signal.h>

#include "apps/support/files.h"
#include "apps/support/lines.h"
#include "core/check.h"
#include "course/tutor/limited_process.h"

namespace heed {
namespace {

constexpr int64_t max_answer_bytes = 1 << 20, memory_mib = 1024;
constexpr double same_loss = 1e-9;
constexpr double training_times = 8;  // the time that a training may take, in times of the grader
constexpr ProcessLimits compiler_limits{
    .seconds = 60, .memory = int64_t{4} << 30, .file_bytes = int64_t{64} << 20};

// A folder for one answer, which is removed.
class WorkFolder {
 public:
  explicit WorkFolder(const std::string& build) : path_(build + "/course/answer-XXXXXX") {
    check(::mkdtemp(path_.data()) != nullptr, "{}: cannot create a folder: {}", path_,
          std::strerror(errno));
  }
  ~WorkFolder() { remove_all(path_); }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  std::string file(const char* name) const { return in_folder(path_, name); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string random_token() {
  std::random_device device;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", device());
  return token;
}

// Returns the lines of a verdict, or none unless it begins with the token.
std::vector<std::string> verdict_lines(const std::string& verdict, const std::string& token) {
  if (!verdict.starts_with(token + "\n") || !verdict.ends_with('\n')) return {};
  return text_lines(verdict.substr(token.size() + 1));
}

// "…AddressSanitizer: heap-buffer-overflow on…" → "heap-buffer-overflow"
std::string sanitizer_error(const std::string& output) {
  constexpr std::string_view words = "ERROR: AddressSanitizer: ";
  const size_t first = output.find(words);
  if (first == std::string::npos) return "";
  return output.substr(first + words.size(),
                       output.find_first_of(" \n", first + words.size()) - first - words.size());
}

// ", line 14": of the first call in the answer that the sanitizer's report names
std::string line_in(const std::string& output, const std::string& file) {
  const std::string words = name_of(file) + ":";
  const size_t first = output.find(words);
  if (first == std::string::npos) return "";
  const size_t digits = first + words.size();
  return fmt::format(
      ", line {}", output.substr(digits, output.find_first_not_of("0123456789", digits) - digits));
}

std::string memory_error(const std::string& output, const std::string& file) {
  const std::string error = sanitizer_error(output), line = line_in(output, file);
  if (error.find("limit") != std::string::npos || error.find("too-big") != std::string::npos ||
      error == "out-of-memory" || error == "requested" ||
      output.find("hard rss limit exhausted") != std::string::npos)
    return fmt::format("it uses more than {} MiB of memory{}", memory_mib, line);
  if (error == "stack-overflow") return fmt::format("it calls itself without end{}", line);
  if (error.find("overflow") != std::string::npos || error.find("poison") != std::string::npos)
    return fmt::format("it reads or writes outside of an array{} ({})", line, error);
  if (!error.empty()) return fmt::format("it crashes{} ({})", line, error);
  return "";
}

// What a crash in backward, after the gradients were right, comes from most often.
std::string sentence_of(const EndedProcess& ended) {
  return ended.output.find("address points to the zero page") == std::string::npos
             ? ""
             : "It reads or writes at a null pointer. In backward, saved(x, y) has elements only "
               "if "
               "the gradient of y is asked for, and g.into(i) only if g.wants(i).";
}

// The files in a rule that the compiler writes: "answer: a.cpp b\\ c.h \\\n d.h"
std::vector<std::string> files_in_rule(const std::string& rule) {
  std::vector<std::string> files{""};
  for (size_t i = std::min(rule.find(": "), rule.size()); i < rule.size(); ++i) {
    const bool is_escaped = rule[i] == '\\' && i + 1 < rule.size();
    if (is_escaped) ++i;
    if (rule[i] == '\n' || (rule[i] == ' ' && !is_escaped) || (rule[i] == ':' && !is_escaped))
      files.emplace_back();
    else
      files.back() += rule[i];
  }
  std::erase(files, "");
  return files;
}

// What a process did that ended without a verdict.
std::string what_happened(const EndedProcess& ended, const std::string& file, double seconds) {
  std::string memory = memory_error(ended.output, file);
  if (!memory.empty()) return memory;
  if (ended.end == EndedProcess::End::out_of_time)
    return fmt::format("it does not end within {:g} s", seconds);
  if (ended.end == EndedProcess::End::too_much_output) return "it prints more than 64 KiB";
  if (ended.end == EndedProcess::End::killed && ended.code == SIGXFSZ)
    return "it writes a file of more than 1 MiB";
  if (ended.end == EndedProcess::End::killed)
    return fmt::format("it crashes ({})", ::strsignal(ended.code));
  return fmt::format("it ends the program (exit code {}) before the grader is done", ended.code);
}

class AnswerGrader {
 public:
  AnswerGrader(const Workshop& workshop, const GradeRequest& request)
      : workshop_(workshop), request_(request), folder_(workshop.build) {}

  GradedAnswer grade() {
    if (!compile() || !includes_only_headers()) return std::move(result_);
    const auto lines = run(folder_.file("answer"), {"grade", name(), fmt::to_string(request_.seed)},
                           request_.seconds);
    if (lines.empty()) return std::move(result_);
    if (lines[0] == "passed") {
      result_.grade = Grade::passed;
      if (lines.size() > 1 && lines[1] == "trains") train();
    } else if (lines[0] == "wrong" && lines.size() == 3) {
      result_.grade = Grade::wrong;
      result_.problem = lines[1];
      result_.sentence = lines[2];
    } else if (lines[0] == "undefined") {
      result_.grade = Grade::wrong;
      result_.problem = "the file does not define the function";
      result_.sentence =
          "Its name, its arguments and its namespace must be those of exercise.cpp in the folder "
          "of "
          "the exercise.";
    } else {
      check(false, "the grader of {} is not built: build heed_graders", request_.exercise);
    }
    return std::move(result_);
  }

 private:
  // The name of the grader's function: "layer_norm".
  std::string name() const {
    std::string name = request_.exercise;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }

  bool compile() {
    read_file(request_.file, "answer", max_answer_bytes);
    // The compiler shows the path as it is given.
    std::string source = absolute_path(request_.file, ".");
    if (source.starts_with(workshop_.sources + "/")) source.erase(0, workshop_.sources.size() + 1);
    std::vector<std::string> arguments{workshop_.compiler};
    arguments.insert(arguments.end(), workshop_.compile.begin(), workshop_.compile.end());
    arguments.insert(arguments.end(), {"-x", "c++", source, "-x", "none"});
    arguments.insert(arguments.end(), workshop_.link.begin(), workshop_.link.end());
    arguments.insert(arguments.end(), {"-o", folder_.file("answer")});
    arguments.insert(arguments.end(), {"-MMD", "-MF", folder_.file("answer.d")});
    const EndedProcess ended =
        run_limited(arguments, workshop_.sources, {"TMPDIR=" + folder_.path()}, compiler_limits);
    result_.messages = ended.output;
    if (ended.end == EndedProcess::End::exited && ended.code == 0) return true;
    result_.grade = Grade::not_compiled;
    result_.problem = ended.end == EndedProcess::End::exited
                          ? "it does not compile"
                          : "it does not compile within the limits of time "
                            "and memory";
    return false;
  }

  // Returns whether the answer is one file, with headers of heed and of the system.
  bool includes_only_headers() {
    const auto real = [&](const std::string& path) {
      return std::filesystem::weakly_canonical(std::filesystem::path(workshop_.sources) / path)
          .string();
    };
    const std::string sources = real("."), solutions = real("tests/course/solutions"),
                      own = real(absolute_path(request_.file, "."));
    const std::string rule = read_file(folder_.file("answer.d"), "list of includes", 1 << 20);
    for (const std::string& file : files_in_rule(rule)) {
      const std::string path = real(file);
      const bool of_heed = path.starts_with(sources + "/") && path.ends_with(".h") &&
                           folder_of(path) != folder_of(own);
      if (path == own || of_heed) continue;
      result_.grade = Grade::wrong;
      result_.problem = fmt::format("it includes {}", name_of(path));
      result_.sentence =
          folder_of(path) == solutions
              ? "That is the solution. Write the function yourself; a hint helps."
              : "An answer is one file. It may include headers of heed and of the standard "
                "library, "
                "but no other file.";
      return false;
    }
    return true;
  }

  // Returns the lines of the program's verdict. Without one, says why in the result.
  std::vector<std::string> run(const std::string& program, std::vector<std::string> arguments,
                               double seconds) {
    arguments.insert(arguments.begin(), program);
    const std::string options = fmt::format(
        "ASAN_OPTIONS=detect_leaks=0:color=never:hard_rss_limit_mb={0}:max_allocation_size_mb={0}",
        memory_mib);
    const std::string token = random_token();
    const EndedProcess ended =
        run_limited(arguments, folder_.path(), {options, "OMP_NUM_THREADS=1"},
                    {.seconds = seconds, .file_bytes = 1 << 20}, token);
    const bool orderly = ended.end == EndedProcess::End::exited && ended.code == 0;
    auto lines = orderly ? verdict_lines(ended.verdict, token) : std::vector<std::string>();
    if (lines.empty()) {
      result_.grade = Grade::failed;
      result_.problem = what_happened(ended, request_.file, seconds);
      result_.sentence = sentence_of(ended);
      if (!sanitizer_error(ended.output).empty()) return lines;  // its report is not the answer's
    }
    if (result_.printed.empty()) result_.printed = ended.output;
    return lines;
  }

  static std::vector<double> losses_in(const std::vector<std::string>& lines) {
    std::vector<double> losses;
    for (size_t i = 1; i < lines.size(); ++i)
      losses.push_back(std::strtod(lines[i].c_str(), nullptr));
    return losses;
  }

  // Trains with the answer, and with the library's own function.
  void train() {
    const std::vector<std::string> arguments{"train", name()};
    const double seconds = training_times * request_.seconds;
    const auto own = run(folder_.file("answer"), arguments, seconds);
    if (own.empty()) {
      result_.problem = "in a training with it, " + result_.problem;
      return;
    }
    if (own[0] != "losses") {
      result_.grade = Grade::wrong;
      result_.problem =
          fmt::format("a training with it fails: it {}", own.size() > 1 ? own[1] : "");
      return;
    }
    const auto library = run(workshop_.training, arguments, seconds);
    const std::vector<double> expected = losses_in(library);
    result_.losses = losses_in(own);
    check(!expected.empty() && expected.size() == result_.losses.size(),
          "{}: the training fails with the library's own function: {}", workshop_.training,
          result_.problem);
    for (size_t i = 0; i < expected.size(); ++i) {
      const double difference = std::fabs(result_.losses[i] - expected[i]);
      result_.difference = std::max(result_.difference, difference);
      if (difference <= same_loss * std::max(1.0, std::fabs(expected[i]))) continue;
      result_.grade = Grade::wrong;
      result_.problem = fmt::format("a training with it: loss {} at step {}, {} with the library's",
                                    result_.losses[i], i + 1, expected[i]);
      return;
    }
  }

  const Workshop& workshop_;
  const GradeRequest& request_;
  const WorkFolder folder_;
  GradedAnswer result_;
};

}  // namespace

void GradedAnswer::add_to(Json& json) const {
  json.set("passed", passed()).set("result", name_of(grade_names, grade));
  json.set("problem", problem).set("sentence", sentence);
  json.set("compiler", messages).set("printed", printed);
  if (losses.empty()) return;
  Json training = Json::object();
  training.set("steps", static_cast<int64_t>(losses.size())).set("first_loss", losses.front());
  training.set("last_loss", losses.back()).set("largest_difference", difference);
  json.set("training", training);
}

GradedAnswer grade_answer(const Workshop& workshop, const GradeRequest& request) {
  return AnswerGrader(workshop, request).grade();
}

}  // namespace heed
