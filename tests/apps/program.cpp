#include "program.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fcntl.h>
#include <filesystem>

#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "core/joined.h"

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

ProgramOutput succeeded(ProgramOutput output) {
  REQUIRE_MESSAGE(output.code == 0, output.err, output.out);
  return output;
}

std::string heed_ok(const std::string& folder, const std::vector<std::string>& arguments,
                    const std::string& input) {
  INFO("heed ", joined(arguments, " "));
  return succeeded(heed_in(folder, arguments, input)).out;
}

void Workspace::train(const std::string& name, const std::string& config) const {
  write(name + ".toml", config);
  ok({"train", name + ".toml", "--run", name});
}

void Workspace::copy_from(const Workspace& other) const {
  std::filesystem::copy(other.path, path,
                        std::filesystem::copy_options::recursive |
                            std::filesystem::copy_options::copy_symlinks |
                            std::filesystem::copy_options::overwrite_existing);
}

std::string Workspace::read(const std::string& name) const {
  return read_file(*this / name, "file");
}

Json Workspace::json(const std::string& name) const { return Json::parse(read(name), name); }

std::string Workspace::digest(const std::string& name) const {
  return sha256_of_file(*this / name);
}

bool Workspace::has(const std::string& name) const { return exists(*this / name); }

void Workspace::replace(const std::string& name, const std::string& from,
                        const std::string& to) const {
  std::string text = read(name);
  const size_t at = text.find(from);
  REQUIRE_MESSAGE(at != text.npos, from, " is not in ", name, ": ", text);
  write(name, text.replace(at, from.size(), to));
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
