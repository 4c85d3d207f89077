#include "program.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fcntl.h>

#include "apps/support/files.h"

using namespace heed;

Subprocess::Subprocess(const std::vector<std::string>& arguments, const std::string& folder,
                       const std::string& input, const char* program) {
  write_file(files_ / "in", input);
  const Descriptor in(::open((files_ / "in").c_str(), O_RDONLY)),
      out(::open((files_ / "out").c_str(), O_WRONLY | O_CREAT, 0644)),
      err(::open((files_ / "err").c_str(), O_WRONLY | O_CREAT, 0644));
  std::vector<std::string> words{"heed"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  ::setenv("OMP_WAIT_POLICY", "passive", 1);  // tests run side by side
  process_.emplace(ProcessStart{.program = program ? program : HEED_PROGRAM,
                                .arguments = words,
                                .descriptors = {{in, 0}, {out, 1}, {err, 2}},
                                .folder = folder,
                                .end_signal = 0},
                   "cannot start heed");
}

void Subprocess::signal(int number) const { process_->signal(number); }

bool Subprocess::running() {
  if (!end_) end_ = process_->ended();
  return !end_;
}

ProgramOutput Subprocess::wait() {
  if (!end_) end_ = process_->wait();
  return {end_->shell_code(), read_file(files_ / "out", "text"), read_file(files_ / "err", "text")};
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
