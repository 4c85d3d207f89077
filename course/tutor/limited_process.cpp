#include "course/tutor/limited_process.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "apps/support/clock.h"
#include "apps/support/interrupt.h"
#include "apps/support/process.h"
#include "core/check.h"

namespace heed {
namespace {

constexpr int64_t max_verdict = 1 << 16;
constexpr double elapsed_per_second = 4;  // of processor time, on a busy machine

// `which` is an enumerator of the C library, RLIMIT_CPU for example, or on some systems an int.
void limit_resource(auto which, int64_t most) {
  const rlimit limit{static_cast<rlim_t>(most), static_cast<rlim_t>(most)};
  ::setrlimit(which, &limit);
}

// Only calls that are safe after fork().
void limit_this_process(const ProcessLimits& limits) {
  fix_addresses();
  limit_resource(RLIMIT_CORE, 0);
  limit_resource(RLIMIT_CPU, static_cast<int64_t>(std::ceil(limits.seconds)));
  limit_resource(RLIMIT_FSIZE, limits.file_bytes);
  if (limits.memory > 0) limit_resource(RLIMIT_AS, limits.memory);
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
EndedProcess wait_for(Process process, int output, int verdict, const ProcessLimits& limits) {
  using End = EndedProcess::End;
  EndedProcess ended;
  ::fcntl(output, F_SETFL, O_NONBLOCK);
  ::fcntl(verdict, F_SETFL, O_NONBLOCK);
  const double deadline = now() + elapsed_per_second * limits.seconds;
  std::optional<End> stopped;
  std::optional<ProcessEnd> end;
  while (true) {
    pollfd both[] = {{output, POLLIN, 0}, {verdict, POLLIN, 0}};
    ::poll(both, 2, 10);
    const bool open = drain(output, ended.output, limits.output);
    const bool more = drain(verdict, ended.verdict, max_verdict);
    if (end = process.ended(); end) break;
    if (!open && !more) ::usleep(5000);  // both pipes are closed, so that poll() does not wait
    if (stopped) continue;
    if (static_cast<int64_t>(ended.output.size()) > limits.output) stopped = End::too_much_output;
    if (now() > deadline || interrupted()) stopped = End::out_of_time;
    if (stopped) process.signal_group(SIGKILL);
  }
  process.signal_group(SIGKILL);
  drain(output, ended.output, limits.output);
  drain(verdict, ended.verdict, max_verdict);
  if (static_cast<int64_t>(ended.output.size()) > limits.output) {
    ended.output.resize(static_cast<size_t>(limits.output));
    stopped = End::too_much_output;
  }
  const bool exited = end->signal == 0;
  ended.code = exited ? end->code : end->signal;
  ended.end = stopped ? *stopped : exited ? End::exited : End::killed;
  if (!stopped && !exited && (ended.code == SIGXCPU || ended.code == SIGKILL))
    ended.end = End::out_of_time;  // of processor time
  return ended;
}

}  // namespace

EndedProcess run_limited(const std::vector<std::string>& arguments, const std::string& folder,
                         const std::vector<std::string>& environment, const ProcessLimits& limits,
                         const std::string& token) {
  std::vector<std::string> variables = environment;
  const char* const path = std::getenv("PATH");
  variables.push_back(std::string("PATH=") + (path ? path : "/usr/bin:/bin"));
  variables.emplace_back("LC_ALL=C.UTF-8");

  constexpr const char* purpose = "cannot make a pipe";
  ProcessPipe output = make_pipe(purpose), verdict = make_pipe(purpose),
              secret = make_pipe(purpose);
  const ssize_t written = ::write(secret.writing, token.data(), token.size());
  check(written == static_cast<ssize_t>(token.size()), "cannot write to a pipe: {}",
        std::strerror(errno));
  secret.writing.close();
  const Process process({.program = arguments[0],
                         .arguments = arguments,
                         .descriptors = {{output.writing, STDOUT_FILENO},
                                         {output.writing, STDERR_FILENO},
                                         {verdict.writing, 3},
                                         {secret.reading, 4}},
                         .folder = folder,
                         .environment = variables,
                         .in_child = [&] { limit_this_process(limits); }},
                        "cannot start " + arguments[0]);
  output.writing.close();
  verdict.writing.close();
  return wait_for(process, output.reading, verdict.reading, limits);
}

}  // namespace heed
