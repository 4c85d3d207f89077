#include "lab/experiments/training_pool.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <unistd.h>
#include <wordexp.h>

#include "apps/support/machine.h"
#include "core/check.h"
#include "core/text.h"

namespace heed {

constexpr const char* cannot_start = "cannot start a run";
constexpr int stop_signal = SIGUSR1;                             // which srun passes on
constexpr const char* mpi_folder = "OMPI_MCA_orte_tmpdir_base";  // a variable of Open MPI 4
constexpr size_t max_tail = 1 << 14;  // bytes of standard error that are kept

static std::vector<std::string> shell_words(const std::string& line) {
  std::vector<std::string> words;
  if (line.empty()) return words;
  wordexp_t expanded{};
  check_input(::wordexp(line.c_str(), &expanded, WRDE_NOCMD | WRDE_UNDEF) == 0,
              "--launcher {}: expected a command without pipes, commands in it and unknown "
              "variables",
              in_quotes(line));
  for (size_t i = 0; i < expanded.we_wordc; ++i) words.emplace_back(expanded.we_wordv[i]);
  ::wordfree(&expanded);
  return words;
}

// Returns the last error of the program, or the last line if there is none: mpirun adds lines.
static std::string error_in(std::string text) {
  constexpr std::string_view mark = "\nerror: ";
  text.insert(0, "\n");
  text.erase(text.find_last_not_of(" \n-") + 1);  // lines of hyphens around messages of mpirun
  const size_t found = text.rfind(mark);
  if (found == text.npos) return text.substr(text.rfind('\n') + 1);
  const size_t begin = found + mark.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

TrainingPool::TrainingPool(const std::string& launcher) : command_(shell_words(launcher)) {
  // The program itself is started even if its file has been replaced meanwhile.
  program_ = command_.empty() ? running_program() : "env";
  command_.push_back(program_path());
}

// Returns a folder for the temporary files of Open MPI 4. Where several mpiruns share one, the
// first that ends removes it, and one that begins at this moment fails.
static std::string folder_for_mpi(size_t id) {
  const char* base = std::getenv(mpi_folder);
  if (!base) base = std::getenv("TMPDIR");
  return fmt::format("{}/heed-{}-{}", base ? base : "/tmp", ::getpid(), id);
}

void TrainingPool::start(size_t id, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = command_;
  if (words.size() > 1)  // after a launcher
    words.insert(words.begin(), {program_, fmt::format("{}={}", mpi_folder, folder_for_mpi(id))});
  words.insert(words.end(), arguments.begin(), arguments.end());
  ProcessPipe pipe = make_pipe(cannot_start);
  const Process process({.program = program_,
                         .arguments = words,
                         .descriptors = {{pipe.writing, STDERR_FILENO}},
                         .end_signal = stop_signal},
                        cannot_start);
  ::fcntl(pipe.reading, F_SETFL, O_NONBLOCK);
  children_.push_back({id, process, pipe.reading.release(), ""});
}

void TrainingPool::read_output(Child& child) {
  char chunk[4096];
  ssize_t count = 0;
  while (child.output >= 0 && (count = ::read(child.output, chunk, sizeof chunk)) > 0) {
    child.tail.append(chunk, static_cast<size_t>(count));
    if (child.tail.size() > 2 * max_tail) child.tail.erase(0, child.tail.size() - max_tail);
  }
  if (child.output >= 0 && count == 0) {
    ::close(child.output);
    child.output = -1;  // poll() ignores it
  }
}

std::vector<TrainingPool::Ended> TrainingPool::wait(double seconds) {
  std::vector<pollfd> outputs;
  for (const Child& child : children_) outputs.push_back({child.output, POLLIN, 0});
  ::poll(outputs.data(), outputs.size(), static_cast<int>(1000 * seconds));
  std::vector<Ended> ended;
  std::erase_if(children_, [&](Child& child) {
    read_output(child);
    const std::optional<ProcessEnd> end = child.process.ended();
    if (!end) return false;
    read_output(child);
    if (child.output >= 0) ::close(child.output);
    std::error_code absent;
    std::filesystem::remove(folder_for_mpi(child.id), absent);
    ended.push_back({child.id, end->shell_code(), error_in(std::move(child.tail))});
    return true;
  });
  return ended;
}

void TrainingPool::stop() {
  if (stopped_) return;
  stopped_ = true;
  for (const Child& child : children_) child.process.signal(stop_signal);
}

std::vector<size_t> TrainingPool::ids() const {
  std::vector<size_t> ids;
  for (const Child& child : children_) ids.push_back(child.id);
  return ids;
}

}  // namespace heed
