// apps/training/checkpoint: writes are atomic and damage is detected, even if the process is killed
// or the disk is full.
#include "apps/training/checkpoint.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "core/check.h"
#include "core/random.h"
#include "core/standard_ops.h"
#include "disk_limits.h"
#include "state_file.h"
#include "temporary.h"

using namespace heed;

namespace {

constexpr int64_t weight_rows = 20, weight_columns = 300;

// Returns a tensor whose values are different for each step.
NamedParameter weight_of(int64_t step) {
  Tensor all = Tensor::empty({weight_rows, weight_columns});
  std::iota(all.mutable_data(), all.mutable_data() + all.size(),
            static_cast<real>(step * all.size()));
  return {"layer.weight", all};
}
NamedParameter moment_of(int64_t step) {
  return {"exp_avg", add(weight_of(step).tensor, Tensor::scalar(0.5f))};
}

bool equal(const Tensor& a, const Tensor& b) { return std::ranges::equal(a.values(), b.values()); }

void save(Checkpoints& checkpoints, int64_t step, int64_t best_step = 0) {
  checkpoints.save(step, {weight_of(step)}, {moment_of(step)},
                   Json::object().set("seed", 3).set("rate", 0.1), best_step);
}

// Reads a checkpoint and checks its values.
void check_complete(const Checkpoint& checkpoint) {
  const NamedParameter weight = weight_of(-1), moment = moment_of(-1);
  checkpoint.model().read({weight});
  checkpoint.optimizer().read({moment});
  CHECK(equal(weight.tensor, weight_of(checkpoint.step()).tensor));
  CHECK(equal(moment.tensor, moment_of(checkpoint.step()).tensor));
  CHECK(checkpoint.state().text() ==
        fmt::format(R"({{"seed":3,"rate":0.1,"step":{}}})", checkpoint.step()));
}

bool no_temporary_names(const std::string& folder) {
  const std::vector<std::string> names = names_in_folder(folder);
  return std::none_of(names.begin(), names.end(),
                      [](const std::string& name) { return name.starts_with("."); });
}

}  // namespace

TEST_CASE("checkpoint: save and open round trip, with links to latest and best") {
  const TemporaryFolder folder;
  Checkpoints checkpoints(folder / "checkpoints", 2);
  CHECK_CONTAINS(thrown<InputError>([&] { checkpoints.find("latest"); }), "no checkpoint yet");
  save(checkpoints, 10, 10);
  save(checkpoints, 20, 10);
  CHECK(names_in_folder(folder / "checkpoints") ==
        std::vector<std::string>{"best", "latest", "step-10", "step-20"});
  CHECK(names_in_folder(folder / "checkpoints/latest") ==
        std::vector<std::string>{"model.safetensors", "optimizer.safetensors", "state.json"});
  CHECK(link_target(folder / "checkpoints/latest") == "step-20");
  CHECK(link_target(folder / "checkpoints/best") == "step-10");
  CHECK(checkpoints.open("latest").step() == 20);
  CHECK(checkpoints.open("best").step() == 10);
  check_complete(checkpoints.open("10"));
  check_complete(checkpoints.open("latest"));
  CHECK_CONTAINS(thrown<InputError>([&] { checkpoints.find("15"); }),
                 "no checkpoint '15'; there are best, latest, 10, 20");
  CHECK_CONTAINS(thrown<InputError>([&] { checkpoints.find("../x"); }), "no checkpoint '../x'");
}

TEST_CASE("checkpoint: keeps the newest and the best, removes the others") {
  const TemporaryFolder folder;
  Checkpoints checkpoints(folder / "checkpoints", 2);
  for (const int64_t step : {1, 2, 3, 4, 5}) save(checkpoints, step, std::min<int64_t>(step, 2));
  CHECK(checkpoints.steps() == std::vector<int64_t>{2, 4, 5});
  save(checkpoints, 6, 6);
  CHECK(checkpoints.steps() == std::vector<int64_t>{5, 6});
  save(checkpoints, 6, 6);
  check_complete(checkpoints.open("best"));
  std::filesystem::create_directory(folder / "checkpoints/step-7x");  // not a checkpoint
  CHECK(checkpoints.steps() == std::vector<int64_t>{5, 6});
}

TEST_CASE("checkpoint: equal states give identical files") {
  const TemporaryFolder folder;
  Checkpoints a(folder / "a", 1), b(folder / "b", 1);
  save(a, 7);
  save(b, 7);
  for (const char* name : {"model.safetensors", "optimizer.safetensors", "state.json"})
    CHECK(sha256_of_file(folder / "a/step-7/" + name) ==
          sha256_of_file(folder / "b/step-7/" + name));
}

TEST_CASE("checkpoint: damage is detected, and the error names an intact checkpoint") {
  const TemporaryFolder folder;
  Checkpoints checkpoints(folder / "checkpoints", 3);
  save(checkpoints, 1);
  save(checkpoints, 2);
  Random random(5, Purpose::test);
  for (const std::string name : {"model.safetensors", "optimizer.safetensors", "state.json"}) {
    const std::string path = folder / "checkpoints/step-2/" + name;
    const std::string original = read_file(path, "checkpoint");
    const auto error_of = [&] {
      return thrown<InputError>([&] { check_complete(checkpoints.open("latest")); });
    };
    REQUIRE(error_of() == "");
    for (int i = 0; i < 50; ++i) {
      std::string flipped = original;
      flipped[random.below(flipped.size())] ^= static_cast<char>(1 << random.below(8));
      write_file(path, flipped);
      // A flipped bit in JSON white space can give other white space, which is valid.
      if (name == "state.json" && error_of().empty()) continue;
      CHECK_CONTAINS(error_of(), path + ": damaged");
      CHECK_CONTAINS(error_of(), "use another with --checkpoint (1), or remove " +
                                     (folder / "checkpoints/step-2") + " to resume from step 1");
    }
    for (const size_t length : {size_t{0}, size_t{9}, original.size() - 2}) {
      write_file(path, original.substr(0, length));
      CHECK_CONTAINS(error_of(), path + ": damaged");
    }
    remove_all(path);
    CHECK_CONTAINS(error_of(), path + ": missing; use another");
    write_file(path, original);
  }
  remove_all(folder / "checkpoints/step-1");
  remove_all(folder / "checkpoints/step-2/state.json");
  CHECK_CONTAINS(thrown<InputError>([&] { checkpoints.open("latest"); }),
                 "no other checkpoint: train");
}

TEST_CASE("checkpoint: weights of another model are rejected without changing any value") {
  const TemporaryFolder folder;
  Checkpoints checkpoints(folder / "checkpoints", 1);
  save(checkpoints, 1);
  const Checkpoint checkpoint = checkpoints.open("latest");
  const auto error_of = [&](const std::vector<NamedParameter>& tensors) {
    return thrown<InputError>([&] { checkpoint.model().read(tensors); });
  };
  const Tensor turned = Tensor::zeros({weight_columns, weight_rows});
  CHECK_CONTAINS(error_of({{"layer.weight", turned}}),
                 "'layer.weight' is F32 [20, 300], not F32 [300, 20]");
  const NamedParameter into = weight_of(-1);
  CHECK_CONTAINS(error_of({into, {"layer.bias", Tensor::zeros({1})}}),
                 "of another model: it has no 'layer.bias'");
  CHECK_CONTAINS(error_of({}), "it has 'layer.weight', which the model does not have");
  CHECK(equal(into.tensor, weight_of(-1).tensor));
  const std::vector<double> doubles(weight_rows * weight_columns);
  write_safetensors(folder / "x",
                    {{"layer.weight", DType::F64, {weight_rows, weight_columns}, doubles.data()}});
  CHECK_CONTAINS(thrown<InputError>([&] { check_arrays(SafetensorsFile(folder / "x"), {into}); }),
                 "'layer.weight' is F64 [20, 300], not F32 [20, 300]");
}

TEST_CASE("checkpoint: headers that declare terabytes are rejected before reading") {
  const TemporaryFolder folder;
  const std::string header =
      R"({"layer.weight":{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  write_file(folder / "x.safetensors", bytes + header);
  CHECK_CONTAINS(thrown<InputError>([&] {
                   check_arrays(SafetensorsFile(folder / "x.safetensors"), {weight_of(1)});
                 }),
                 "cut short: the array 'layer.weight' ends at byte 4000000000000 of 0");
}

TEST_CASE("checkpoint: killing the writer leaves complete checkpoints intact") {
  const TemporaryFolder folder;
  Checkpoints checkpoints(folder / "checkpoints", 1);
  save(checkpoints, 1, 1);
  Random random(9, Purpose::test);
  int64_t newest = 1, killed_in_the_middle = 0;
  const auto best_at = [](int64_t step) { return std::max<int64_t>(1, step - step % 3); };
  // On a busy machine it can take more rounds, and longer ones, to kill the writer during a write.
  for (int round = 0; round < 25 || (round < 500 && (newest == 1 || killed_in_the_middle == 0));
       ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      Checkpoints writer(folder / "checkpoints", 1);
      writer.clean_up();
      for (int64_t step = newest + 1;; ++step) save(writer, step, best_at(step));
    }
    ::usleep(static_cast<useconds_t>(1000 + random.below(20000) * (1 + round / 25)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    killed_in_the_middle += !no_temporary_names(folder / "checkpoints");
    for (const int64_t step : checkpoints.steps())
      check_complete(checkpoints.open(std::to_string(step)));
    REQUIRE(checkpoints.steps().back() >= newest);
    newest = checkpoints.steps().back();
    checkpoints.clean_up();
    checkpoints.settle(newest, best_at(newest));
    CHECK(no_temporary_names(folder / "checkpoints"));
    check_complete(checkpoints.open("latest"));
    check_complete(Checkpoint(folder / "checkpoints/best"));
  }
  CHECK(newest > 1);
  CHECK(killed_in_the_middle > 0);
}

TEST_CASE("checkpoint: exceeding the file size limit leaves the previous checkpoint intact") {
  const TemporaryFolder folder;
  Checkpoints checkpoints(folder / "checkpoints", 1);
  save(checkpoints, 1, 1);
  {
    const FileSizeLimit limit(10'000);
    CHECK_CONTAINS(thrown<Error>([&] { save(checkpoints, 2, 2); }),
                   "model.safetensors: cannot write: File too large; make room on the disk");
  }
  CHECK(names_in_folder(folder / "checkpoints") ==
        std::vector<std::string>{"best", "latest", "step-1"});
  check_complete(checkpoints.open("latest"));
  save(checkpoints, 2, 2);
  check_complete(checkpoints.open("latest"));
}

TEST_CASE("checkpoint: a full disk leaves the previous checkpoints intact") {
  const TemporaryFolder folder;
  const TinyDisk disk(folder.path, 128 << 10);
  if (!disk.mounted) {
    MESSAGE("SKIPPED: this process may not mount a disk");
    return;
  }
  Checkpoints checkpoints(folder / "checkpoints", 5);
  save(checkpoints, 1, 1);
  save(checkpoints, 2, 1);
  const std::string message = thrown<Error>([&] { save(checkpoints, 3, 1); });
  CHECK_CONTAINS(message, "No space left on device; make room on the disk");
  CHECK_CONTAINS(message, folder.path);
  CHECK(checkpoints.steps() == std::vector<int64_t>{1, 2});
  CHECK(no_temporary_names(folder / "checkpoints"));
  check_complete(checkpoints.open("latest"));
}

TEST_CASE("checkpoint: a read-only folder leaves the previous checkpoint intact") {
  const TemporaryFolder folder;
  Checkpoints checkpoints(folder / "checkpoints", 1);
  save(checkpoints, 1, 1);
  REQUIRE(::chmod((folder / "checkpoints").c_str(), 0555) == 0);
  REQUIRE(::chmod(folder.path.c_str(), 0755) == 0);
  const int result = as_nobody([&] {
    const std::string message = thrown<Error>([&] { save(checkpoints, 2, 2); });
    return message.find("Permission denied; allow writing there") != message.npos ? 1 : 2;
  });
  if (result == -1) MESSAGE("SKIPPED: this process may not change its user");
  if (result != -1) CHECK(result == 1);
  check_complete(checkpoints.open("latest"));
  CHECK(checkpoints.steps() == std::vector<int64_t>{1});
  REQUIRE(::chmod((folder / "checkpoints").c_str(), 0755) == 0);
}
