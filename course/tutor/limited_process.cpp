#include "course/tutor/limited_process.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/support/child_process.h"
#include "apps/support/clock.h"
#include "apps/support/files.h"
#include "apps/support/interrupt.h"
#include "core/check.h"

namespace heed {
namespace {

constexpr int64_t max_verdict = 1 << 16;
constexpr double elapsed_per_second = 4;  // of processor time, on a busy machine

// Both ends are above the descriptors that the child process gets.
ProcessPipe make_high_pipe() {
  const ProcessPipe pipe = make_pipe("cannot make a pipe");
  return {Descriptor(::fcntl(pipe.reading, F_DUPFD_CLOEXEC, 10)),
          Descriptor(::fcntl(pipe.writing, F_DUPFD_CLOEXEC, 10))};
}

// `which` is an enumerator of the C library, RLIMIT_CPU for example, or on some systems an int.
void limit_resource(auto which, int64_t most) {
  const rlimit limit{static_cast<rlim_t>(most), static_cast<rlim_t>(most)};
  ::setrlimit(which, &limit);
}

struct Start {
  char** arguments;
  char** environment;
  const char* folder;
  const ProcessLimits* limits;
  int output, verdict, token;
};

// Replaces the process that fork() made. Only calls that are safe after fork().
[[noreturn]] void become_limited(const Start& start, pid_t parent) {
  ::setpgid(0, 0);
  end_with_parent(SIGKILL);
  fix_addresses();
  ::dup2(::open("/dev/null", O_RDWR), STDIN_FILENO);
  ::dup2(start.output, STDOUT_FILENO);
  ::dup2(start.output, STDERR_FILENO);
  ::dup2(start.verdict, 3);
  ::dup2(start.token, 4);
  limit_resource(RLIMIT_CORE, 0);
  limit_resource(RLIMIT_CPU, static_cast<int64_t>(std::ceil(start.limits->seconds)));
  limit_resource(RLIMIT_FSIZE, start.limits->file_bytes);
  if (start.limits->memory > 0) limit_resource(RLIMIT_AS, start.limits->memory);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  if (::getppid() == parent && ::chdir(start.folder) == 0)
    ::execve(start.arguments[0], start.arguments, start.environment);
  const char* const problem = std::strerror(errno);
  (void)!::write(STDERR_FILENO, problem, std::strlen(problem));
  ::_exit(127);
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Appends what can be read without waiting. Returns false at the end.
bool drain(int from, std::string& to, int64_t most) {
  char chunk[4096];
  ssize_t count = 0;
  while ((count = ::read(from, chunk, sizeof chunk)) > 0)
    if (static_cast<int64_t>(to.size()) <= most) to.append(chunk, static_cast<size_t>(count));
  return count < 0 && (errno == EAGAIN || errno == EINTR);
}

// Reads what the process writes until it ends, and then ends the rest of its group.
EndedProcess wait_for(pid_t process, int output, int verdict, const ProcessLimits& limits) {
  using End = EndedProcess::End;
  EndedProcess ended;
  ::fcntl(output, F_SETFL, O_NONBLOCK);
  ::fcntl(verdict, F_SETFL, O_NONBLOCK);
  const double deadline = now() + elapsed_per_second * limits.seconds;
  std::optional<End> stopped;
  int status = 0;
  while (true) {
    pollfd both[] = {{output, POLLIN, 0}, {verdict, POLLIN, 0}};
    ::poll(both, 2, 10);
    const bool open = drain(output, ended.output, limits.output);
    const bool more = drain(verdict, ended.verdict, max_verdict);
    if (::waitpid(process, &status, WNOHANG) == process) break;
    if (!open && !more) ::usleep(5000);  // both pipes are closed, so that poll() does not wait
    if (stopped) continue;
    if (static_cast<int64_t>(ended.output.size()) > limits.output) stopped = End::too_much_output;
    if (now() > deadline || interrupted()) stopped = End::out_of_time;
    if (stopped) ::kill(-process, SIGKILL);
  }
  ::kill(-process, SIGKILL);
  drain(output, ended.output, limits.output);
  drain(verdict, ended.verdict, max_verdict);
  if (static_cast<int64_t>(ended.output.size()) > limits.output) {
    ended.output.resize(static_cast<size_t>(limits.output));
    stopped = End::too_much_output;
  }
  const bool exited = WIFEXITED(status);
  ended.code = exited ? WEXITSTATUS(status) : WTERMSIG(status);
  ended.end = stopped ? *stopped : exited ? End::exited : End::killed;
  if (!stopped && !exited && (ended.code == SIGXCPU || ended.code == SIGKILL))
    ended.end = End::out_of_time;  // of processor time
  return ended;
}

}  // namespace

EndedProcess run_limited(const std::vector<std::string>& arguments, const std::string& folder,
                         const std::vector<std::string>& environment, const ProcessLimits& limits,
                         const std::string& token) {
  std::vector<std::string> words = arguments, variables = environment;
  const char* const path = std::getenv("PATH");
  variables.push_back(std::string("PATH=") + (path ? path : "/usr/bin:/bin"));
  variables.emplace_back("LC_ALL=C.UTF-8");
  std::vector<char*> argv = pointers_to(words), envp = pointers_to(variables);

  ProcessPipe output = make_high_pipe(), verdict = make_high_pipe(), secret = make_high_pipe();
  check(::write(secret.writing, token.data(), token.size()) == static_cast<ssize_t>(token.size()),
        "cannot write to a pipe: {}", std::strerror(errno));
  secret.writing.close();
  const Start start{argv.data(),    envp.data(),     folder.c_str(), &limits,
                    output.writing, verdict.writing, secret.reading};
  const pid_t parent = ::getpid(), process = ::fork();
  if (process == 0) become_limited(start, parent);
  check(process > 0, "cannot start {}: {}", arguments[0], std::strerror(errno));
  ::setpgid(process, process);  // the child does so, too; whoever is first
  output.writing.close();
  verdict.writing.close();
  return wait_for(process, output.reading, verdict.reading, limits);
}

}  // namespace heed
