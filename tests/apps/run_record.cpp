// What a run records about itself (run.json), and training it again (train --from).
#include "apps/training/run_record.h"

#include <fmt/format.h>

#include <filesystem>

#include "apps/support/json.h"
#include "apps/support/machine.h"
#include "apps/support/version.h"
#include "apps/training/checkpoint.h"
#include "program.h"
#include "state_file.h"

using namespace heed;

namespace {

struct Folder : Workspace {
  Folder() { write("c.toml", tiny_config()); }
  Json sessions(const std::string& run) const { return json(run + "/run.json").at("sessions"); }
};

}  // namespace

TEST_CASE("run.json: a session for each process that trained the run") {
  const Folder folder;
  folder.ok({"train", "c.toml", "--run", "r", "--set", "threads=1"});
  folder.ok({"train", "--resume", "r", "--set", "train.steps=35"});
  const Json all = folder.sessions("r");
  REQUIRE(all.elements().size() == 2);
  const Json& first = all.elements()[0];
  CHECK(first.at("command").strings()[2] == "c.toml");
  CHECK(first.at("heed").string() == program_version);
  CHECK(first.at("compiler").string() == program_compiler);
  CHECK(first.at("flags").string() == program_flags);
  CHECK(first.find("commit") != nullptr);  // "" if there is none
  CHECK(first.at("kernels").string() == program_kernels);
  CHECK(first.at("processor").string() == processor_name());
  CHECK(first.at("threads").integer() == 1);
  CHECK(first.at("precision").string() == "highest");
  CHECK_FALSE(first.at("blas").string().empty());
  CHECK(first.at("data").string().size() == 16);
  CHECK(first.at("from_step").integer() == 0);
  CHECK(first.at("set_in").at("threads").string() == "command line");
  CHECK(first.at("set_in").at("train.steps").string().starts_with("c.toml:"));
  CHECK(first.at("set_in").find("optim.beta1") == nullptr);  // has its default
  CHECK(first.at("start").string().size() == 20);
  CHECK(first.at("start").string() <= first.at("end").string());
  CHECK(first.at("seconds").number() > 0);
  CHECK(first.at("cpu_seconds").number() > 0);
  CHECK(first.at("peak_rss_mb").number() > 1);
  CHECK(all.elements()[1].at("from_step").integer() == 30);
  CHECK(all.elements()[1].at("data").string() == first.at("data").string());
}

TEST_CASE("run.json: a killed session has no end, a damaged file is rejected") {
  const Folder folder;
  folder.ok({"train", "c.toml", "--run", "r"});
  write_file(folder / "r/run.json", record_of_run());
  const std::vector<std::string> resume = {"train", "--resume", "r", "--set", "train.steps=31"};
  for (const char* text : {"", "{", "[]", "{}", R"({"sessions": 3})", R"({"sessions": [3]})",
                           R"({"sessions": []})", R"({"sessions": [{"heed": "0.1.0"}]})",
                           R"({"sessions": [{"format": 0, "heed": "0.2.0"}]})"}) {
    Folder copy;
    std::filesystem::copy(
        folder / "r", copy / "r",
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
    write_file(copy / "r/run.json", text);
    const std::string config = read_file(copy / "r/config.toml", "config");
    check_rejected(copy.heed(resume), 2,
                   {"r/run.json", "restore the file, or train the run again"});
    CHECK(read_file(copy / "r/config.toml", "config") == config);
  }
  folder.ok(resume);
  const Json all = folder.sessions("r");
  REQUIRE(all.elements().size() == 2);
  CHECK(all.elements()[0].find("end") == nullptr);
  CHECK(all.elements()[1].find("end") != nullptr);
}

TEST_CASE("run.json: every command rejects a run without a format, or of a newer one") {
  const Folder folder;
  folder.ok({"train", "c.toml", "--run", "r"});
  const std::string record = read_file(folder / "r/run.json", "record");
  const auto rejected = [&](const std::vector<std::string>& parts) {
    const std::vector<std::vector<std::string>> commands = {{"train", "--resume", "r"},
                                                            {"train", "--from", "r"},
                                                            {"evaluate", "r"},
                                                            {"generate", "r"},
                                                            {"summary", "r"},
                                                            {"attend", "r"},
                                                            {"compare", "r"},
                                                            {"report", "r"},
                                                            {"inspect", "r", "heads"},
                                                            {"pack", "r"},
                                                            {"export", "r"},
                                                            {"profile", "r"}};
    for (const std::vector<std::string>& command : commands) {
      if (!has_command(command[0])) continue;
      CAPTURE(command[0]);
      check_rejected(folder.heed(command), 2, parts);
    }
  };
  REQUIRE(record.find("\"format\": 1,") != record.npos);
  folder.replace("r/run.json", "\"format\": 1,", "");
  rejected({"r/run.json: 'format' is missing; restore the file, or train the run again"});
  write_file(folder / "r/run.json",
             R"({"sessions": [{"format": 1, "heed": "0.2.0"}, {"format": 2, "heed": "9.8.7"}]})");
  rejected({"r/run.json: written by heed 9.8.7 in format 2; this is heed ",
            "which reads formats up to 1: use heed 9.8.7 or later"});
  remove_all(folder / "r/run.json");
  rejected({"r/run.json: missing: it has the number of the run's format; restore the file, or "});
}

TEST_CASE("run.json: training that fails ends its session") {
  const Folder folder;
  CHECK(folder
            .heed({"train", "c.toml", "--run", "r", "--set", "optim.lr=1e30", "--set",
                   "optim.clip_norm=0"})
            .code == 1);
  const Json all = folder.sessions("r");
  REQUIRE(all.elements().size() == 1);
  CHECK(all.elements()[0].find("end") != nullptr);
}

TEST_CASE("train --from: says whether a run gives the same bits again") {
  const Folder folder;
  folder.ok({"train", "c.toml", "--run", "r"});
  const ProgramOutput same = succeeded(folder.heed({"train", "--from", "r", "--set", "threads=1"}));
  CHECK_CONTAINS(same.out,
                 "the same bits up to step 30: weights, optimizer and metrics; r was "
                 "made with heed " +
                     std::string(program_version) + " on " + processor_name());
  CHECK(same.out.ends_with(" | heed generate runs/r\n"));
  CHECK(names_in_folder(folder / "runs") == std::vector<std::string>{"r"});

  // Another rate, which is not in the config: the losses tell, and without them the weights.
  folder.ok({"train", "c.toml", "--run", "other", "--set", "optim.lr=0.02"});
  folder.replace("other/config.toml", "\nlr = 0.02", "\nlr = 0.01");
  const ProgramOutput losses = folder.heed({"train", "--from", "other", "--run", "a"});
  CHECK(losses.code == 1);
  CHECK_CONTAINS(losses.out, "not the same bits: step ");
  CHECK_CONTAINS(losses.out, "step 10: gradient_norm is ");
  remove_all(folder / "other/metrics.jsonl");
  const ProgramOutput weights = folder.heed({"train", "--from", "other", "--run", "b"});
  CHECK(weights.code == 1);
  CHECK_CONTAINS(weights.out, "not the same bits: step 30: ");
  CHECK_CONTAINS(weights.out, " differs; other was made with heed ");
}

TEST_CASE("train --from: trains as far as the run was trained") {
  const Folder folder;
  folder.ok({"train", "c.toml", "--run", "r", "--until", "12"});
  const ProgramOutput same = succeeded(folder.heed({"train", "--from", "r", "--run", "again"}));
  CHECK_CONTAINS(same.out, "the same bits up to step 12");
  const ProgramOutput partly =
      succeeded(folder.heed({"train", "--from", "r", "--run", "partly", "--until", "6"}));
  CHECK(partly.out.find("bits") == partly.out.npos);
}

TEST_CASE("train --resume: a longer run has segments, which --from repeats") {
  const Folder folder;
  const std::vector<std::string> cosine = {"--set", "schedule.kind=cosine", "--set",
                                           "optim.lr=0.01"};
  const auto train = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "train");
    return succeeded(folder.heed(arguments)).err;
  };
  const auto starts = [&](const std::string& run, const std::string& steps) {
    train({"c.toml", "--run", run, "--set", "train.steps=" + steps, cosine[0], cosine[1], cosine[2],
           cosine[3]});
  };
  starts("r", "20");
  const std::string log =
      train({"--resume", "r", "--set", "train.steps=30", "--set", "train.log_every=4"});
  CHECK_CONTAINS(log,
                 "train.steps = 30, was 20: the cosine schedule now ends at step 30, so the "
                 "learning rate goes from 0 at step 20 to 0.00206 at step 21; ");
  CHECK_CONTAINS(log, "resume with --set schedule.steps=20 too");
  train({"--resume", "r", "--until", "24"});
  train({"--resume", "r", "--set", "train.evaluate_every=7", "--set", "train.steps=35"});
  const Json changed = folder.sessions("r").elements()[1].at("changed");
  CHECK(changed.text() == R"({"train.steps":["20","30"],"train.log_every":["10","4"]})");
  CHECK(folder.sessions("r").elements()[0].find("changed") == nullptr);

  const ProgramOutput same = succeeded(folder.heed({"train", "--from", "r", "--run", "again"}));
  CHECK_CONTAINS(same.out, "the same bits up to step 35: weights, optimizer and metrics");
  CHECK(folder.digest("again/result.json") != "");
  const RunFolder run = RunFolder::open(folder / "r"), again = RunFolder::open(folder / "again");
  const auto history = [](const RunFolder& of) {
    const ConfigListing config =
        config_with_changes(segments_of(of, load_run_config(of.config(), {}).experiment));
    return value_of(config, "train.steps") + "; " + value_of(config, "train.evaluate_every");
  };
  CHECK(history(run) == "20, 30 from step 20, 35 from step 30; 10, 7 from step 30");
  CHECK(history(again) == history(run));
  CHECK_CONTAINS(folder.ok({"train", "--from", "again", "--run", "third"}), "the same bits");

  // With schedule.steps the rate stays as it was.
  starts("kept", "20");
  const std::string silent =
      train({"--resume", "kept", "--set", "train.steps=30", "--set", "schedule.steps=20"});
  CHECK(silent.find("the learning rate goes") == silent.npos);
  const std::string rows = read_file(folder / "kept/metrics.jsonl", "metrics");
  CHECK_CONTAINS(rows.substr(rows.find("{\"step\":30,")), R"("lr":0.0,)");
  CHECK_CONTAINS(folder.ok({"train", "--from", "kept", "--run", "kept-again"}), "the same bits");
  check_rejected(folder.heed({"train", "--resume", "kept", "--set", "schedule.steps=25"}), 2,
                 {"schedule.steps = 20, now 25"});
}

TEST_CASE("train --resume: warns once of another processor or other kernels") {
  const Folder folder;
  folder.ok({"train", "c.toml", "--run", "r"});
  int steps = 30;
  const auto warnings = [&](const char* name, const Json& value) {
    change_state(folder / "r/checkpoints/latest", [&](Json& state) {
      if (value.is_null())
        state.remove(name);
      else
        state.set(name, value);
    });
    const std::string log = succeeded(folder.heed({"train", "--resume", "r", "--set",
                                                   fmt::format("train.steps={}", ++steps)}))
                                .err;
    CHECK(log.find("will differ") == log.rfind("will differ"));
    return log.substr(std::min(log.size(), log.find("started ")));
  };
  CHECK(warnings("kernels", program_kernels).empty());
  CHECK(warnings("kernels", Json()).empty());  // as in a run of heed 0.3.0
  CHECK_CONTAINS(warnings("kernels", "x86-64-v9"),
                 fmt::format("started with kernels for x86-64-v9, not {}: ", program_kernels));
  CHECK(warnings("kernels", program_kernels).empty());
  CHECK_CONTAINS(warnings("processor", "Z80"), "started on another processor (Z80): ");
}

TEST_CASE("train --resume: rejects fewer steps, and rewrites nothing") {
  const Folder folder;
  folder.ok({"train", "c.toml", "--run", "r"});
  folder.ok({"train", "c.toml", "--run", "paused", "--until", "10"});
  for (const std::string run : {"r", "paused"}) {
    const auto files = [&] {
      std::string all;
      for (const char* file : {"config.toml", "run.json", "metrics.jsonl", "train.log",
                               "checkpoints/latest/state.json"})
        all += folder.digest(run + "/" + file);
      return all;
    };
    const std::string before = files();
    check_rejected(folder.heed({"train", "--resume", run, "--set", "train.steps=20"}), 2,
                   {run + ": cannot be shortened: train.steps = 30, now 20; --until 20 pauses it"});
    CHECK(files() == before);
  }
}

TEST_CASE("run record: segments of sessions that were taken back, and damaged ones") {
  const Folder folder;
  folder.ok({"train", "c.toml", "--run", "r"});
  const RunFolder run = RunFolder::open(folder / "r");
  const Experiment now = load_run_config(run.config(), {}).experiment;  // 30 steps
  const auto steps = [&](const std::string& sessions) {
    write_file(run.record(), R"({"sessions": [)" + sessions + "]}");
    std::string text;
    for (const Segment& segment : segments_of(run, now))
      text += fmt::format("{}:{} ", segment.from_step, segment.experiment.train.steps);
    return text;
  };
  const auto session = [](int from, const std::string& steps_before = "", int steps_after = 30) {
    return fmt::format(R"({{"format": 1, "heed": "", "from_step": {}{}}})", from,
                       steps_before.empty()
                           ? ""
                           : fmt::format(R"(, "changed": {{"train.steps": ["{}", "{}"]}})",
                                         steps_before, steps_after));
  };
  const auto changed = [](const std::string& values) {
    return R"({"format": 1, "heed": "", "from_step": 3, "changed": {)" + values + "}}";
  };
  CHECK(steps(session(0) + "," + session(12)) == "0:30 ");
  CHECK(steps(session(0) + "," + session(10, "10")) == "0:10 10:30 ");
  // The third session begins before the second one: what that trained is gone.
  CHECK(steps(session(0) + "," + session(10, "10") + "," + session(5)) == "0:10 5:30 ");
  CHECK(steps(session(0) + "," + session(10, "10", 20) + "," + session(10, "20")) == "0:10 10:30 ");
  CHECK(steps(session(7, "10")) == "0:10 7:30 ");
  for (const std::string& damaged :
       {session(10, "40"), session(10, "x"), session(10, "0"),
        changed(R"("model.dim": ["8", "16"])"), changed(R"("train.steps": ["8"])"),
        changed(R"("none": ["8", "16"])"),
        std::string(R"({"format": 1, "heed": "", "from_step": "3"})"),
        std::string(R"({"format": 1, "heed": ""})")}) {
    CAPTURE(damaged);
    const std::string error = thrown<InputError>([&] { steps(damaged); });
    CHECK(error.starts_with(run.record() + ": "));
    CHECK(error.ends_with("; restore the file"));
  }
}

TEST_CASE("train --from: rejects what cannot be trained again") {
  const Folder folder;
  folder.ok({"train", "c.toml", "--run", "r"});
  const auto rejected = [&](std::vector<std::string> arguments,
                            const std::vector<std::string>& parts) {
    arguments.insert(arguments.begin(), {"train", "--from"});
    arguments.insert(arguments.end(), {"--run", "new"});
    check_rejected(folder.heed(arguments), 2, parts);
    CHECK_FALSE(exists(folder / "new"));
  };
  rejected({"r", "c.toml"}, {"--from r: its config is that of the run: remove c.toml"});
  rejected({"r", "--resume"}, {"remove --resume"});
  rejected({"none"}, {"none: no such run"});
  rejected({"r", "--set", "model.dim=32"}, {"--set model.dim=32: changes what is compared"});
  rejected({"r", "--set", "train.log_every=7"}, {"changes what is compared"});
  remove_all(folder / "r/checkpoints");
  remove_all(folder / "r/metrics.jsonl");
  rejected({"r"}, {"r: no checkpoint and no metrics to compare with"});
}

TEST_CASE("run record: the data of a run, and the file that is to blame if they are not there") {
  const Folder folder;
  write_file(folder / "d.txt", std::string(300, 'a') + std::string(300, 'b'));
  write_file(folder / "text.toml",
             "[train]\nsteps = 1\n[model]\nkind = 'language_model'\nlayers = 1\ndim = 8\n"
             "heads = 1\n[data]\nkind = 'text'\npath = 'd.txt'\ncontext = 8\n");
  folder.ok({"train", "text.toml", "--run", "r"});
  const RunFolder run = RunFolder::open(folder / "r");
  DataOptions options;
  options.kind = &data_kinds::text;
  const std::string recorded = recorded_data(run, options);
  CHECK(recorded.size() == 16);
  folder.replace("r/run.json", "\"data\": \"", "\"data\": 1, \"was\": \"");
  CHECK(thrown<InputError>([&] { recorded_data(run, options); }) ==
        run.record() + ": expected a string, found 1; restore the file");
}
