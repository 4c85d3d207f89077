#include "program.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/support/files.h"

using namespace heed;

Subprocess::Subprocess(const std::vector<std::string>& arguments, const std::string& folder,
                       const std::string& input, const char* program) {
  write_file(files_ / "in", input);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, (files_ / "in").c_str(), O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, (files_ / "out").c_str(), O_WRONLY | O_CREAT,
                                     0644);
  ::posix_spawn_file_actions_addopen(&actions, 2, (files_ / "err").c_str(), O_WRONLY | O_CREAT,
                                     0644);
  ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  std::vector<std::string> words{"heed"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::setenv("OMP_WAIT_POLICY", "passive", 1);  // tests run side by side
  REQUIRE(::posix_spawn(&process_, program ? program : HEED_PROGRAM, &actions, nullptr, argv.data(),
                        environ) == 0);
  ::posix_spawn_file_actions_destroy(&actions);
}

void Subprocess::signal(int number) const { ::kill(process_, number); }

bool Subprocess::running() {
  ended_ = ended_ || ::waitpid(process_, &status_, WNOHANG) == process_;
  return !ended_;
}

ProgramOutput Subprocess::wait() {
  if (!ended_) ::waitpid(process_, &status_, 0);
  ended_ = true;
  const int code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  return {code, read_file(files_ / "out", "text"), read_file(files_ / "err", "text")};
}

ProgramOutput shell_in(const std::string& folder, const std::string& script) {
  ::setenv("HEED", HEED_PROGRAM, 1);
  return Subprocess({"-c", script}, folder, "", "/bin/bash").wait();
}

bool has_command(const std::string& name) {
  static const std::string help = heed_in(".", {"--help"}).out;
  return help.find("\n  " + name + " ") != help.npos;
}

std::string tiny_config(const std::string& more) {
  return R"(
seed = 3
[train]
steps = 30
batch_size = 8
evaluate_every = 10
checkpoint_every = 10
log_every = 10
samples = 1
[model]
kind = "seq2seq"
layers = 1
dim = 16
heads = 2
[optim]
lr = 0.01
[data]
kind = "copy"
symbols = 5
lengths = [1, 4]
train_size = 100
val_size = 20
test_size = 20
)" + more;
}

void check_rejected(const ProgramOutput& output, int code, const std::vector<std::string>& parts) {
  CHECK_MESSAGE(output.code == code, output.err);
  CHECK(output.out == "");
  CHECK(output.err.starts_with("error: "));
  CHECK_MESSAGE(std::count(output.err.begin(), output.err.end(), '\n') == 1, output.err);
  for (const std::string& part : parts) CHECK_CONTAINS(output.err, part);
}
