// Damaged and malicious run folders: heed uses them or rejects them with one error line and exit
// code 2. It does not crash, hang or allocate much memory. Random truncations and bit flips are in
// tests/apps/checkpoint.cpp, files of another run in tests/apps/binding.cpp.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/inference/vocabulary_file.h"
#include "apps/support/digest.h"
#include "apps/training/checkpoint.h"
#include "program.h"
#include "state_file.h"

using namespace heed;

namespace {

// A copy of a trained run, in the folder r, for tests that modify it.
struct HostileRun : Workspace {
  HostileRun() {
    static const TrainedRun trained;
    copy_from(trained);
  }
  // Makes the checkpoint agree with every config, and with the vocabulary.json of the run.
  void rebind() const {
    change_state(checkpoint(), [&](Json& state) {
      state.set("settings", Json::object());
      state.set("vocabulary", vocabulary_identity(read_vocabulary(path + "/r/vocabulary.json",
                                                                  ModelKind::seq2seq)));
    });
  }
  std::string checkpoint() const { return path + "/r/checkpoints/step-30"; }
  std::string model() const { return checkpoint() + "/model.safetensors"; }

  // Checks that the command rejects the run.
  void rejects(const std::vector<std::string>& command, const std::vector<std::string>& parts,
               int code = 2) const {
    CAPTURE(command[0]);
    const ProgramOutput output = heed(command, "1 2\n");
    check_rejected(output, code, parts);
    CHECK(output.err.size() < 500);
  }
  // The same for the commands that read weights.
  void all_reject(const std::vector<std::string>& parts) const {
    rejects({"generate", "r"}, parts);
    rejects({"evaluate", "r"}, parts);
    rejects({"train", "--resume", "r", "--set", "train.steps=31"}, parts);
  }

  // Calls change(name, values) for each array of a file, writes it back and updates its digest.
  template <class Change>
  void change_weights(const char* name, Change&& change) const {
    const std::string file = checkpoint() + "/" + name;
    std::vector<std::vector<float>> values;
    std::vector<NamedArray> arrays;
    {
      const SafetensorsFile before(file);
      for (const NamedArray& array : before.arrays()) {
        values.emplace_back(static_cast<size_t>(array.bytes() / 4));
        before.read(array, values.back().data());
        change(array.name, values.back());
        arrays.push_back({array.name, array.dtype, array.dims, values.back().data()});
      }
    }
    write_safetensors(file, arrays);
    set_digest(name);
  }
  void set_digest(const char* name) const {
    change_state(checkpoint(), [&](Json& state) {
      Json digests = state.at("sha256");
      digests.set(name, sha256_of_file(checkpoint() + "/" + name));
      state.set("sha256", digests);
    });
  }

 private:
  struct TrainedRun : Workspace {
    TrainedRun() { train("r", tiny_config()); }
  };
};

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("hostile: errors name the invalid member of vocabulary.json") {
  const TemporaryFolder folder;
  const std::string file = folder / "vocabulary.json";
  const auto rejects = [&](ModelKind framing, const std::string& text, const std::string& part) {
    write_file(file, text);
    const std::string message = thrown<InputError>([&] { read_vocabulary(file, framing); });
    CAPTURE(text.substr(0, 100));
    CHECK_CONTAINS(message, file);
    CHECK_CONTAINS(message, part);
    CHECK(message.size() < 300);
  };
  const std::string codec = R"("level": "word", "symbols": ["a", "b", "<bos>", "<eos>"])";
  for (const ModelKind framing :
       {ModelKind::language_model, ModelKind::seq2seq, ModelKind::classifier}) {
    for (const char* whole : {"", "[]", "3", "null", "{", "{}", "\"x\"", "{\"level\": 1}"})
      rejects(framing, whole, "");
    rejects(framing, R"({"level": "x", "symbols": ["a"]})", "no level 'x'");
    rejects(framing, R"({"level": 3, "symbols": ["a"]})", "expected a string, found 3");
    rejects(framing, R"({"level": "word"})", "'symbols' is missing");
    for (const char* symbols :
         {"[]", "{}", "7", "\"a\"", "null", "[1]", "[[\"a\"]]", "[\"a\", \"a\"]"})
      rejects(framing, fmt::format(R"({{"level": "word", "symbols": {}}})", symbols), "");
    rejects(framing, R"({"level": "byte", "symbols": ["a"]})", "first 256 tokens");
    rejects(framing, "{" + codec + R"(, "target": 7})", "");
    rejects(framing, "{" + codec + R"(, "grid": [2, 2]})", "'grid'");
  }
  for (const char* name : {"edge_features", "grid"})
    rejects(ModelKind::language_model, fmt::format("{{{}, \"{}\": 7}}", codec, name),
            fmt::format("'{}', but a language model reads a sequence", name));
  rejects(ModelKind::language_model, "{" + codec + R"(, "features": 7})", "'target' is missing");
  for (const char* name : {"numbers", "at_positions"})
    rejects(ModelKind::classifier, fmt::format("{{{}, \"{}\": 7}}", codec, name), "7");
  const std::string numbers[] = {
      "-1", "0", "1000000000000000", "9223372036854775808", "1.5", "true", "null", "\"7\"", "[7]"};
  for (const std::string& number : numbers) {
    rejects(ModelKind::seq2seq, "{" + codec + R"(, "features": )" + number + "}", "");
    rejects(ModelKind::language_model, "{" + codec + R"(, "prompt": 2, "answer": )" + number + "}",
            "");
    rejects(ModelKind::language_model, "{" + codec + R"(, "answer": 2, "prompt": )" + number + "}",
            "");
    rejects(ModelKind::classifier, R"({"features": 1, "labels": ["a"], "grid": [)" + number + "]}",
            "");
    rejects(ModelKind::classifier, R"({"features": 1, "labels": )" + number + "}", "");
    if (number != "0")
      rejects(ModelKind::classifier,
              "{" + codec + R"(, "labels": ["a"], "edge_features": )" + number + "}", "");
  }
  rejects(ModelKind::language_model, "{" + codec + R"(, "answer": 2})", "'prompt' is missing");
  rejects(ModelKind::language_model, "{" + codec + R"(, "prompt": 2})", "'answer' is missing");
  rejects(ModelKind::seq2seq, R"({"features": 3})", "'target' is missing");
  rejects(ModelKind::classifier, "{" + codec + R"(, "labels": []})", "'labels' is empty");
  rejects(ModelKind::classifier, R"({"features": 1, "labels": ["a"], "grid": [4096, 4096, 4096]})",
          "a grid of more than");
  rejects(ModelKind::classifier, R"({"features": 1, "labels": ["a"], "grid": [1, 1, 1, 1, 1, 1]})",
          "a grid of more than 5 axes");
}

TEST_CASE("hostile: commands reject a vocabulary.json of another kind of model") {
  const HostileRun run;
  const std::string original = read_file(run / "r/vocabulary.json", "vocabulary");
  for (const char* text : {"{\"features\": 7}", "{\"labels\": [\"a\"]}", "[]", "{\"answer\": 1}"}) {
    write_file(run / "r/vocabulary.json", text);
    run.rejects({"generate", "r"}, {"r/vocabulary.json: "});
    run.rejects({"attend", "r", "--text", "1"}, {"r/vocabulary.json: "});
  }
  // Sizes that do not fit the weights.
  write_file(run / "r/vocabulary.json", R"({"level": "word", "symbols": ["a", "<bos>", "<eos>"]})");
  run.rebind();
  run.rejects({"generate", "r"}, {"of another model", "is F32 [7, 16], not F32 [3, 16]"});
  // A token less or more than the weights have rows, and tokens that outputs begin and end with.
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = original;
    text.replace(text.find(from), from.size(), to);
    write_file(run / "r/vocabulary.json", text);
  };
  for (const std::string& tokens : {std::string(), std::string("\"0\",\n  \"new\",")}) {
    replaced("\"0\",", tokens);
    run.rebind();
    for (const char* command : {"generate", "export"})
      if (has_command(command)) run.rejects({command, "r"}, {"r/"});
  }
  for (const char* token : {"<bos>", "<eos>"}) {
    replaced(token, "new");
    for (const char* command : {"generate", "export"})
      if (has_command(command))
        run.rejects({command, "r"},
                    {"r/vocabulary.json: the vocabulary of the target has no ", token});
  }
}

TEST_CASE("hostile: invalid members of state.json are rejected") {
  const HostileRun run;
  const std::string file = run.checkpoint() + "/state.json";
  const std::string original = read_file(file, "state");
  const auto rejects = [&](const char* outer, const char* name, const Json& value) {
    change_state(run.checkpoint(), [&](Json& state) {
      if (!*outer) {
        state.set(name, value);
        return;
      }
      Json inner = state.at(outer);
      inner.set(name, value);
      state.set(outer, inner);
    });
    CAPTURE(name);
    CAPTURE(value.text());
    const char* part = name == std::string("data") ? "the data have changed" : "/step-30";
    run.rejects({"train", "--resume", "r", "--set", "train.steps=31"}, {part});
    write_file(file, original);
  };
  constexpr int64_t huge = std::numeric_limits<int64_t>::max();
  for (const Json& value : {Json(-1), Json(huge), Json(0.5), Json("30"), Json(), Json(7)})
    rejects("", "step", value);
  for (const char* name : {"sha256", "settings", "vocabulary", "training", "schedule", "data",
                           "processor", "kernels", "optimizer_steps"})
    rejects("", name, Json(-1));
  rejects("", "optimizer_steps", Json(huge));
  for (const char* name : {"best_step", "evaluations_since_best", "loss_count", "tokens"})
    for (const Json& value : {Json(-1), Json(huge), Json("x"), Json()})
      rejects("training", name, value);
  for (const char* name : {"best_score", "loss_sum", "step_seconds", "seconds"})
    for (const Json& value : {Json("x"), Json()}) rejects("training", name, value);
  rejects("training", "seconds", Json(-1.0));
  rejects("schedule", "x", Json(1.0));
  rejects("sha256", "model.safetensors", Json(3));
  rejects("settings", "model.dim", Json("\x1b[31m16"));
  rejects("settings", "model.unheard_of", Json(1));
  rejects("vocabulary", "source", Json(3));
  rejects("vocabulary", "prompt", Json(3));
  for (const char* text : {"", "[]", "3", "{}", "null"}) {
    write_file(file, text);
    run.all_reject({"state.json: damaged"});
  }
  write_file(file, original);
  ::rename(run.checkpoint().c_str(), (run / "r/checkpoints/step-9").c_str());
  run.rejects({"generate", "r", "--checkpoint", "9"}, {"of step 30, in the folder of step 9"});
}

TEST_CASE("hostile: compare reads or rejects any result.json") {
  if (!has_command("compare")) return;
  const HostileRun run;
  for (const char* text :
       {"3", "[]", "null", "\"x\"", "{", "", R"({"steps": "a.b"})", R"({"best_step": 1e300})",
        R"({"seconds": null})", R"({"val": {"loss": [1]}})", R"({"val": {"targets": 0.5}})"}) {
    write_file(run / "r/result.json", text);
    run.rejects({"compare", "r"}, {"r/result.json"});
  }
  write_file(run / "r/result.json",
             R"({"steps": 7, "val": {"loss": null, "x": {"y": [1.5]}}, "y": "a.b"})");
  for (const char* form : {"--json", "--csv"})
    CHECK(heed_in(run.path, {"compare", "r", form}).code == 0);
  const ProgramOutput table = succeeded(heed_in(run.path, {"compare", "r"}));
  CHECK_CONTAINS(table.out, "null");
  CHECK(table.out.find("a.b") == table.out.npos);
}

TEST_CASE("hostile: weights that are not finite are rejected with the name of their array") {
  for (const float value : {infinity, -infinity, std::nanf("")}) {
    const HostileRun run;
    run.change_weights("model.safetensors", [&](const std::string& name, std::vector<float>& all) {
      if (name == "decoder.layers.0.attention.key.weight") all.back() = value;
    });
    run.all_reject(
        {"model.safetensors: 'decoder.layers.0.attention.key.weight' has values that "
         "are infinite or NaN",
         "there is no other checkpoint"});
    write_file(run / "n.toml", tiny_config());
    run.rejects({"train", "n.toml", "--run", "n", "--set", "train.load=r"},
                {"'decoder.layers.0.attention.key.weight' has values that are infinite or NaN"});
  }
  const HostileRun run;
  run.change_weights("optimizer.safetensors", [](const std::string& name, std::vector<float>& all) {
    if (name == "exp_avg.embedding.token.weight") all.front() = infinity;
  });
  run.rejects({"train", "--resume", "r", "--set", "train.steps=31"},
              {"optimizer.safetensors: 'exp_avg.embedding.token.weight' has values"});
}

TEST_CASE("hostile: scores that are not finite give exit code 1") {
  const HostileRun run;
  run.change_weights("model.safetensors", [](const std::string& name, std::vector<float>& all) {
    if (name.ends_with("token.weight"))
      for (float& value : all) value = value > 0 ? 3e38f : -3e38f;
  });
  run.rejects({"evaluate", "r"}, {"of split test is "}, 1);
  run.rejects({"evaluate", "r", "--json"}, {"of split test is "}, 1);
}

TEST_CASE("hostile: training that diverges keeps the last finite checkpoint") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", tiny_config());
  const std::vector<std::string> settings = {
      "--set", "train.evaluate_every=0", "--set", "train.checkpoint_every=1",
      "--set", "schedule.kind=linear",   "--set", "schedule.warmup_steps=30",
      "--set", "optim.lr=1e39"};
  std::vector<std::string> arguments = {"train", "c.toml", "--run", "r"};
  arguments.insert(arguments.end(), settings.begin(), settings.end());
  const ProgramOutput output = heed_in(folder.path, arguments);
  CHECK(output.code == 1);
  CHECK_CONTAINS(output.err, "error: step ");
  for (const int64_t step : Checkpoints(folder / "r/checkpoints", 1).steps())
    CHECK_CONTAINS(output.err, fmt::format("the checkpoint of step {} is intact", step));
  // A learning rate that overflows float32 in the first step leaves no checkpoint.
  arguments[3] = "n";
  arguments.insert(arguments.end(),
                   {"--set", "schedule.kind=constant", "--set", "schedule.warmup_steps=0"});
  const ProgramOutput none = heed_in(folder.path, arguments);
  CHECK(none.code == 1);
  CHECK_CONTAINS(none.err, "error: step 1: ");
  CHECK_CONTAINS(none.err, " has become infinite or NaN");
  CHECK(Checkpoints(folder / "n/checkpoints", 1).steps().empty());
}

TEST_CASE("hostile: a validation loss that is not finite stops the run") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", tiny_config());
  const ProgramOutput output = heed_in(  // weights of 1e30 are finite, their logits are not
      folder.path,
      {"train", "c.toml", "--run", "r", "--set", "train.evaluate_every=1", "--set",
       "schedule.kind=constant", "--set", "schedule.warmup_steps=0", "--set", "optim.lr=1e30"});
  CHECK(output.code == 1);
  CHECK_CONTAINS(output.err, "error: step 1: the validation loss is ");
  CHECK(Checkpoints(folder / "r/checkpoints", 1).steps().empty());
}

TEST_CASE("checkpoint: values that are not finite are not saved") {
  const TemporaryFolder folder;
  Checkpoints checkpoints(folder / "checkpoints", 1);
  Tensor values = Tensor::full({1000}, std::numeric_limits<float>::max());
  const NamedParameter w{"w", values};
  checkpoints.save(1, {w}, {}, Json::object(), 0);
  for (const float bad : {infinity, -infinity, std::nanf("")})
    for (const size_t at : {size_t{0}, size_t{500}, size_t{999}}) {
      values.mutable_data()[at] = bad;
      CHECK_CONTAINS(thrown<Error>([&] { checkpoints.save(2, {w}, {}, Json::object(), 0); }),
                     "step 2: w has become infinite or NaN; the checkpoint of step 1 is intact");
      CHECK_CONTAINS(thrown<Error>([&] { checkpoints.save(2, {}, {w}, Json::object(), 0); }),
                     "step 2: w has become infinite or NaN; the checkpoint of step 1 is intact");
      values.mutable_data()[at] = 0;
    }
  CHECK(checkpoints.steps() == std::vector<int64_t>{1});
}

TEST_CASE("hostile: files of terabytes are rejected without reading them") {
  const auto with_size = [](const char* file, const std::string& command, const std::string& part) {
    if (!has_command(command)) return;
    const HostileRun run;
    REQUIRE(::truncate((run / (std::string("r/") + file)).c_str(), off_t{3} << 40) == 0);
    run.rejects({command, "r"}, {part});
  };
  with_size("vocabulary.json", "generate", "r/vocabulary.json: ");
  with_size("config.toml", "generate", "r/config.toml: ");
  with_size("result.json", "compare", "r/result.json: ");
  with_size("checkpoints/step-30/state.json", "generate", "state.json: damaged");
  with_size("checkpoints/step-30/model.safetensors", "generate",
            "model.safetensors: damaged: 3298534");

  // A sparse file with a valid array of 4 TB.
  const HostileRun run;
  const std::string header =
      R"({"w":{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  write_file(run.model(), bytes + header);
  REQUIRE(::truncate(run.model().c_str(),
                     static_cast<off_t>(8 + header.size()) + 4'000'000'000'000) == 0);
  run.all_reject({"model.safetensors: of another model"});
}

TEST_CASE("hostile: a config that needs terabytes is rejected before memory is allocated") {
#ifdef __SANITIZE_THREAD__
  MESSAGE("skipped: the thread sanitizer maps memory of its own for the addresses of the weights");
  return;
#endif
  const HostileRun run;
  run.rebind();
  std::string config = read_file(run / "r/config.toml", "config");
  for (const auto& [from, to] : {std::pair("\ndim = 16 ", "\ndim = 65536 "),
                                 std::pair("\nlayers = 1 ", "\nlayers = 1000 ")}) {
    const size_t at = config.find(from);
    REQUIRE(at != config.npos);
    config.replace(at, std::string(from).size(), to);
  }
  write_file(run / "r/config.toml", config);
  run.rejects({"generate", "r"}, {"model.safetensors: of another model"});
  run.rejects({"evaluate", "r"}, {"model.safetensors: of another model"});
}

TEST_CASE("hostile: FIFOs and devices in place of files are rejected") {
  const char* const files[][3] = {
      {"vocabulary.json", "generate", "r/vocabulary.json: "},
      {"config.toml", "generate", "r/config.toml: "},
      {"result.json", "compare", "r/result.json: "},
      {"checkpoints/step-30/state.json", "generate", "state.json: "},
      {"checkpoints/step-30/model.safetensors", "generate", "model.safetensors: "}};
  for (const auto& [file, command, part] : files)
    for (const bool device : {false, true}) {
      if (!has_command(command)) continue;
      const HostileRun run;
      const std::string path = run / (std::string("r/") + file);
      remove_all(path);
      REQUIRE((device ? ::symlink("/dev/zero", path.c_str()) : ::mkfifo(path.c_str(), 0666)) == 0);
      run.rejects({command, "r"}, {part});
    }
}

TEST_CASE("hostile: nothing is shown of another data file that a run names, but by heed data") {
  const Workspace here;
  here.write("text", std::string(2000, 'a') + "hunter\n");
  here.write("secret", std::string(300, '\n') + "hunter2 " + std::string(300, 'a'));
  here.train("r",
             "[train]\nsteps = 2\nsamples = 0\n[model]\nkind = \"language_model\"\nlayers = 1\ndim "
             "= 8\nheads = 2\n[data]\nkind = \"text\"\nlevel = \"character\"\ncontext = 8\npath = "
             "\"text\"\n");
  here.replace("r/config.toml", "/text\"", "/secret\"");
  const auto files = [&] {
    return shell_in(here.path, "find r -type f ! -name .lock | sort | xargs sha256sum").out;
  };
  const std::string before = files();
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"evaluate", "r"},
        {"attend", "r"},
        {"inspect", "r", "lens"},
        {"train", "--resume", "r", "--set", "train.steps=3"},
        {"train", "--from", "r", "--run", "n"},
        {"pack", "r", "--with-data", "CC0", "--output", "r.tgz"}}) {
    if (!has_command(command[0])) continue;
    const ProgramOutput output = here.heed(command);
    check_rejected(output, 2, {"changed since the training"});
    CHECK((output.out + output.err).find("hunter2") == std::string::npos);
  }
  for (const std::vector<std::string>& command : {std::vector<std::string>{"summary", "r"},
                                                  {"compare", "r"},
                                                  {"generate", "r", "--prompt", "a"},
                                                  {"report", "r", "--output", "r.html"},
                                                  {"export", "r"},
                                                  {"pack", "r", "--output", "r.tgz"}}) {
    if (has_command(command[0])) here.ok(command);
  }
  CHECK(shell_in(here.path, "cat r.html 2>/dev/null; tar -xzOf r.tgz 2>/dev/null")
            .out.find("hunter2") == std::string::npos);
  CHECK(files() == before);
  CHECK_FALSE(here.has("n"));
  CHECK_CONTAINS(here.ok({"data", "r"}), "547 characters for training");  // of secret
}
