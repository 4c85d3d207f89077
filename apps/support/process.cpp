#include "apps/support/process.h"

#include <cerrno>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/check.h"

#if defined(__linux__) && !defined(HEED_PLAIN_SYSTEM)
#include <sys/personality.h>
#include <sys/prctl.h>
#endif

extern char** environ;

namespace heed {

// Throws Error if a call for a descriptor returned -1.
static void check_descriptor(int result, const std::string& purpose) {
  const bool too_few = errno == EMFILE || errno == EINVAL;  // of pipe() or fcntl()
  check(result >= 0, "{}: {}", purpose,
        too_few ? "too few files may be open at a time; raise ulimit -n" : std::strerror(errno));
}

#if defined(__linux__) && !defined(HEED_PLAIN_SYSTEM)

ProcessPipe make_pipe(const char* purpose) {
  int ends[2];
  check_descriptor(::pipe2(ends, O_CLOEXEC), purpose);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

static void end_with_parent(int signal) { ::prctl(PR_SET_PDEATHSIG, signal); }

void fix_addresses() { ::personality(ADDR_NO_RANDOMIZE); }

#else

// Another thread that calls exec() between the two calls would pass the ends on.
ProcessPipe make_pipe(const char* purpose) {
  int ends[2];
  check_descriptor(::pipe(ends), purpose);
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

static void end_with_parent(int) {}

void fix_addresses() {}

#endif

namespace {

constexpr int first_copy = 10;  // copies of descriptors are above those that a program gets

// What the child needs, made before fork().
struct Prepared {
  std::vector<char*> arguments, environment;
  std::vector<std::pair<int, int>> descriptors;
  pid_t parent = 0;
  sigset_t signals;  // blocked ones of the parent
};

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.data()));
  pointers.push_back(nullptr);
  return pointers;
}

// Ends a child's part in the handlers of its parent: a signal does to it what it does to the
// program.
void reset_handlers() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action.sa_handler = SIG_DFL;
    action.sa_flags = 0;
    ::sigaction(number, &action, nullptr);
  }
}

// Replaces the process that fork() made. Only calls that are safe after fork().
[[noreturn]] void become(const ProcessStart& start, const Prepared& prepared) {
  ::setpgid(0, 0);
  reset_handlers();
  ::pthread_sigmask(SIG_SETMASK, &prepared.signals, nullptr);
  if (start.end_signal > 0) end_with_parent(start.end_signal);
  const int null = ::open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, standard);
  for (const auto& [from, to] : prepared.descriptors) ::dup2(from, to);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  if (start.in_child) start.in_child();
  const bool has_parent = start.end_signal == 0 || ::getppid() == prepared.parent;
  if (has_parent && (start.folder.empty() || ::chdir(start.folder.c_str()) == 0)) {
    if (start.environment) environ = const_cast<char**>(prepared.environment.data());
    ::execvp(start.program.c_str(), prepared.arguments.data());
  }
  const char* const parts[] = {start.program.c_str(), ": ", std::strerror(errno), "\n"};
  for (const char* part : parts) (void)!::write(STDERR_FILENO, part, std::strlen(part));
  ::_exit(127);
}

}  // namespace

Process::Process(const ProcessStart& start, const std::string& purpose) : id_(-1) {
  Prepared prepared;
  prepared.arguments = pointers_to(start.arguments);
  if (start.environment) prepared.environment = pointers_to(*start.environment);
  prepared.parent = ::getpid();
  std::deque<Descriptor> copies;
  for (const auto& [from, to] : start.descriptors) {
    const int copy = ::fcntl(from, F_DUPFD_CLOEXEC, first_copy);
    check_descriptor(copy, purpose);
    prepared.descriptors.emplace_back(copies.emplace_back(copy), to);
  }
  // A signal to the child must wait until the child has no handlers of this process.
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &prepared.signals);
  id_ = ::fork();
  if (id_ == 0) become(start, prepared);
  ::pthread_sigmask(SIG_SETMASK, &prepared.signals, nullptr);
  check(id_ > 0, "{}: {}", purpose, std::strerror(errno));
  ::setpgid(id_, id_);  // the child does so, too; whoever is first
}

std::optional<Process> Process::split(const char* purpose) {
  const pid_t child = ::fork();
  check(child >= 0, "{}: {}", purpose, std::strerror(errno));
  return child > 0 ? std::optional(Process(child)) : std::nullopt;
}

std::optional<ProcessEnd> Process::look(int options) {
  int status = 0;
  pid_t found = 0;
  while ((found = ::waitpid(id_, &status, options)) < 0)
    check(errno == EINTR, "cannot wait for a process: {}", std::strerror(errno));
  if (found == 0) return std::nullopt;
  return WIFEXITED(status) ? ProcessEnd{WEXITSTATUS(status), 0} : ProcessEnd{0, WTERMSIG(status)};
}

std::optional<ProcessEnd> Process::ended() { return look(WNOHANG); }

ProcessEnd Process::wait() { return *look(0); }

}  // namespace heed
