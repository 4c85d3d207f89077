// apps/config: reading TOML into structs, the origin of each value, and errors.
#include "apps/config/config.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <unistd.h>

#include "apps/config/experiment.h"
#include "apps/config/load_config.h"
#include "apps/config/other_names.h"
#include "apps/support/files.h"
#include "apps/support/mistakes.h"
#include "apps/training/load_data.h"
#include "core/check.h"
#include "core/suggest.h"
#include "program.h"
#include "temporary.h"

using namespace heed;

namespace {

struct Inner {
  int64_t depth = 2;
  void fields(Fields& f) { f.integer("depth", depth, {1, 10}, "how deep"); }
};

struct Section {
  enum class Kind { plain, automatic, yes };
  Kind kind = Kind::plain;
  double rate = 0.001;
  double share = 0.5;
  bool on = false;
  std::string path;
  std::vector<std::string> paths;
  std::vector<std::string> words = {"a"};
  std::vector<int64_t> lengths = {1, 25};
  Inner inner;

  void fields(Fields& f) {
    static constexpr Named<Kind> kinds[] = {
        {"plain", Kind::plain}, {"auto", Kind::automatic}, {"true", Kind::yes}};
    f.choice("kind", kind, kinds, "what it is");
    f.section("inner", inner, "inside");
    f.number("rate", rate, at_least(0), "how fast");
    f.number("share", share, {0, 1}, "how much | of it");
    f.flag("on", on, "whether");
    f.path("path", path, "a file");
    f.paths("paths", paths, "files");
    f.texts("words", words, "some words");
    f.integers("lengths", lengths, {1, 100}, "shortest and longest");
  }
};

struct Options {
  int64_t seed = 1;
  std::string name = "x";
  Section part;
  void fields(Fields& f) {
    f.integer("seed", seed, Range{}, "of everything");
    f.text("name", name, "what to call it");
    f.section("part", part, "the only part");
  }
};

// A config file c.toml in a new folder.
struct ConfigFile : TemporaryFolder {
  explicit ConfigFile(const std::string& text) { write_file(path + "/c.toml", text); }
  Options read(const std::vector<std::string>& assignments = {}) const {
    ConfigSource source = ConfigSource::read(path + "/c.toml");
    for (const std::string& each : assignments) source.set(each);
    Options options;
    source.fill(options);
    return options;
  }
};

// Returns the error message for a config, without the folder of the file; "" if it is valid.
std::string error_of(const std::string& text, const std::vector<std::string>& assignments = {}) {
  const ConfigFile file(text);
  const std::string message = thrown<InputError>([&] { file.read(assignments); });
  return message.starts_with(file.path) ? message.substr(file.path.size() + 1) : message;
}

}  // namespace

TEST_CASE("config: reads values of every type, and missing keys keep their defaults") {
  const ConfigFile file(
      "seed = 7\n"
      "[part]\nkind = 'auto'\nrate = 3\non = true\npath = 'data/x.txt'\npaths = ['/a', '../b']\n"
      "lengths = [3]\nwords = []\ninner.depth = 0x5\n");
  const Options options = file.read();
  CHECK(options.seed == 7);
  CHECK(options.name == "x");
  CHECK(options.part.kind == Section::Kind::automatic);
  CHECK(options.part.rate == 3.0);
  CHECK(options.part.share == 0.5);
  CHECK(options.part.on);
  CHECK(options.part.path == file.path + "/data/x.txt");
  CHECK(options.part.paths == std::vector<std::string>{"/a", "/tmp/b"});
  CHECK(options.part.words.empty());
  CHECK(options.part.lengths == std::vector<int64_t>{3});
  CHECK(options.part.inner.depth == 5);
  CHECK(ConfigFile("part.kind = true").read().part.kind == Section::Kind::yes);
  CHECK(ConfigFile("part.paths = 'one'").read().part.paths.size() == 1);
  CHECK(ConfigFile("# nothing\n[part]\n").read().part.rate == 0.001);
}

TEST_CASE("config: --set overrides the file and resolves paths from the current folder") {
  const ConfigFile file("name = 'file'\n[part]\nrate = 1.0\n");
  const Options options =
      file.read({"part.rate=1e-4", "name=some words", "part.lengths=[2, 3]", "part.path=here.txt",
                 "part.kind=true", "part.words=one", "seed=1", "seed=-2"});
  CHECK(options.part.rate == 1e-4);
  CHECK(options.name == "some words");
  CHECK(options.part.lengths == std::vector<int64_t>{2, 3});
  CHECK(options.part.path == absolute_path("here.txt", "."));
  CHECK(options.part.path.front() == '/');
  CHECK(options.part.kind == Section::Kind::yes);
  CHECK(options.part.words == std::vector<std::string>{"one"});
  CHECK(options.seed == -2);
  CHECK(file.read({"name=7"}).name == "7");
  CHECK(file.read({"name=1979-05-27"}).name == "1979-05-27");
  CHECK(file.read({"name=\"a\\tb\""}).name == "a\tb");
  CHECK(file.read({"name="}).name == "");
  CHECK(file.read({"name=a=b # c"}).name == "a=b # c");
}

TEST_CASE("config: a base is read first, with its path relative to the file that names it") {
  TemporaryFolder folder;
  make_folders(folder / "deep");
  write_file(folder / "root.toml", "seed = 1\nname = 'root'\n[part]\npath = 'r'\nrate = 1.0\n");
  write_file(folder / "deep/middle.toml",
             "base = '../root.toml'\nname = 'middle'\npart.rate = 2\n");
  write_file(folder / "c.toml", "base = 'deep/middle.toml'\n[part]\nrate = 3.0\n");
  ConfigSource source = ConfigSource::read(folder / "c.toml");
  source.set("part.on=true");
  Options options;
  const Origins origins = source.fill(options);
  CHECK(options.name == "middle");
  CHECK(options.part.rate == 3.0);
  CHECK(options.part.path == folder / "r");
  CHECK(origins.at("part.rate").location() == folder / "c.toml:3");
  CHECK(origins.at("name").location() == folder / "deep/middle.toml:2 (base)");
  CHECK(origins.at("part.on").location() == "command line");
  CHECK(!origins.contains("part.share"));

  write_file(folder / "root.toml", "base = 'c.toml'");
  CHECK_CONTAINS(thrown<InputError>([&] { ConfigSource::read(folder / "c.toml"); }),
                 "root.toml:1:1: base = \"c.toml\" inherits from itself");
  write_file(folder / "root.toml", "base = 'none.toml'");
  CHECK_CONTAINS(thrown<InputError>([&] { ConfigSource::read(folder / "c.toml"); }),
                 "none.toml: cannot read");
  CHECK_CONTAINS(error_of("base = 3"), "c.toml:1:1: base: expected the path");
  CHECK_CONTAINS(error_of("base = 'c.toml'"), "inherits from itself");
}

TEST_CASE("config: errors for unknown keys have the line, similar keys and valid keys") {
  CHECK_CONTAINS(
      error_of("\n[part]\n  rat = 1"),
      "c.toml:3:3: unknown key 'part.rat'; did you mean 'part.rate'? [part] has kind, rate");
  CHECK_CONTAINS(error_of("depht = 1"), "did you mean 'part.inner.depth'? a config has");
  CHECK_CONTAINS(error_of("[part]\nseed = 3"), "did you mean 'seed'?");
  CHECK_CONTAINS(error_of("[prat]\nrate = 3"), "did you mean 'part.rate'?");
  CHECK_CONTAINS(error_of("zzz = 1"), "unknown key 'zzz'; a config has seed, name, [part]");
  CHECK_CONTAINS(error_of("[nothing]"), "c.toml:1:2: unknown key 'nothing'");
  CHECK_CONTAINS(error_of("part = 3"), "part: expected a section, found a value");
  CHECK_CONTAINS(error_of("[seed]\nx = 1"), "seed: expected a value, found a section");
  CHECK_CONTAINS(error_of("[[part]]\nrate = 1"), "part: expected a section, found a value");
  CHECK_CONTAINS(error_of("\"part.rate\" = 1"), "unknown key");
  CHECK_CONTAINS(error_of("\"a\\u001b\\n\" = 1"), "unknown key '\"a\\u001B\\u000A\"'");
  CHECK_CONTAINS(error_of("\nsée = 1"), "c.toml:2: expected 'é' in quotes");
  CHECK_CONTAINS(error_of("name = 1a'\u048b'"), "c.toml:1: expected '\u048b' in quotes");
  CHECK_CONTAINS(error_of("seed = \u00b2"), "c.toml:1: expected '\u00b2' in quotes");
  CHECK_CONTAINS(error_of("seed = \x80"), "c.toml:1: not valid UTF-8: convert the file");
  CHECK_CONTAINS(error_of("\xFF\xFEs"), "c.toml: UTF-16, not UTF-8: convert it with iconv");
  CHECK_CONTAINS(error_of("seed = \"\"\"unfinished"), "c.toml:1:");
  CHECK(error_of("\uFEFFname = \"\"\"é\"\"\"\"\"\n[part]  # é\npath = 'é'\nwords = [\"é\"]") == "");
  CHECK_CONTAINS(error_of("seed = 1", {"part.rat=1"}),
                 "--set part.rat=1: unknown key 'part.rat'; did you mean");
  CHECK_CONTAINS(error_of("seed = 1", {"seed"}), "--set seed: expected a key and a value");
  CHECK_CONTAINS(error_of("seed = 1", {"=1"}), "expected a key and a value");
  CHECK_CONTAINS(error_of("seed = 1", {"name=a\nb"}), "without control characters");
  CHECK_CONTAINS(error_of("seed = 1", {"part.lengths=[1,"}), "expected a value of TOML");
  CHECK_CONTAINS(error_of("seed = 1", {"name=\xFF"}), "--set name=");
}

TEST_CASE("config: all mistakes are named, in the order of the file, at most ten") {
  const auto mistakes_of = [](const std::string& text,
                              const std::vector<std::string>& assignments = {}) {
    const ConfigFile file(text);
    std::vector<std::string> found;
    try {
      file.read(assignments);
    } catch (const Mistakes& mistakes) {
      for (const std::string& each : mistakes.each())
        found.push_back(each.starts_with(file.path) ? each.substr(file.path.size() + 1) : each);
      CHECK_CONTAINS(mistakes.what(), fmt::format("(and {} more)", found.size() - 1));
    }
    return found;
  };
  const std::vector<std::string> found =
      mistakes_of("[part]\nzz = 1\nshare = 7\nrat = 1\n[part.inner]\ndepth = 'x'\n[other]\na = 1\n",
                  {"seed=y", "b=1", "name=7"});
  const std::vector<std::string> starts = {
      "c.toml:2:1: unknown key 'part.zz'; [part] has kind, rate",
      "c.toml:3:9: part.share: expected",
      "c.toml:4:1: unknown key 'part.rat'; did you mean 'part.rate'?",
      "c.toml:6:9: part.inner.depth: expected",
      "c.toml:8:1: unknown key 'other.a'; a config has [part]",
      "--set seed=y: seed: expected an integer",
      "--set b=1: unknown key 'b'; a config has seed, name, [part]"};
  REQUIRE(found.size() == starts.size());
  for (size_t i = 0; i < starts.size(); ++i)
    CHECK_MESSAGE(found[i].starts_with(starts[i]), found[i], " | ", starts[i]);
  CHECK(found[2].ends_with("?"));  // the keys of [part] are listed once
  std::string many;
  for (int i = 10; i < 30; ++i) many += fmt::format("key{} = {}\n", i, i);
  CHECK(mistakes_of(many).size() == 10);
  CHECK_CONTAINS(mistakes_of(many)[9], "c.toml:10:1: unknown key 'key19'");

  const TemporaryFolder folder;
  write_file(folder / "c.toml", "[model]\nn_layer = 6\n[train]\nblock_size = 8\n");
  const ProgramOutput output = heed_in(folder.path, {"config", "c.toml"});
  CHECK(output.code == 2);
  CHECK(
      output.err.starts_with("error: c.toml:2:1: unknown key 'model.n_layer'; did you mean "
                             "'model.layers'? [model] has "));
  CHECK_CONTAINS(
      output.err,
      "\nerror: c.toml:4:1: unknown key 'train.block_size'; did you mean 'data.context'?");
}

TEST_CASE("config: names of other programs lead to a key") {
  const ConfigListing keys = list_config(Experiment());
  for (const char* name :
       {"min_frequency", "n_layer", "learning_rate", "block_size", "max_iters", "n_head", "n_embd",
        "grad_clip", "warmup_iters", "d_model", "nhead", "dim_feedforward", "num_encoder_layers",
        "random_seed", "validation_freq", "voc_limit", "ff_size", "clip_grad_norm", "T_max"}) {
    CHECK_MESSAGE(find_entry(keys, key_of_other_name(name)), name);
  }
  CHECK(key_of_other_name("learning_rate") == "optim.lr");
  CHECK(key_of_other_name("") == "");
  CHECK(key_of_other_name("rate") == "");
  // A name of the table is no key itself.
  for (const ConfigEntry& entry : keys)
    CHECK_MESSAGE(key_of_other_name(entry.name) == "", entry.name);
}

TEST_CASE("config: numbers that TOML does not accept are read by --set, and named in a file") {
  const ConfigFile file("seed = 1");
  CHECK(file.read({"part.rate=.001"}).part.rate == 0.001);
  CHECK(file.read({"part.rate=+.5"}).part.rate == 0.5);
  CHECK(file.read({"part.rate=1."}).part.rate == 1.0);
  CHECK(file.read({"name=.5"}).name == ".5");
  CHECK_CONTAINS(error_of("seed = 1", {"part.rate=1e400"}),
                 "part.rate: expected a number that is not too large, found \"1e400\"");
  CHECK_CONTAINS(error_of("seed = 1", {"seed=.5"}), "expected an integer, found 0.5");
  CHECK_CONTAINS(error_of("part.rate = .001 # x"), "; write .001 as 0.001");
  CHECK_CONTAINS(error_of("\n[part]\nrate = -.5"), "c.toml:3:9: ");
  CHECK_CONTAINS(error_of("\n[part]\nrate = -.5"), "; write -.5 as -0.5");
  CHECK_CONTAINS(error_of("part.lengths = [2, 03]"), "; write 03 as 3");
  CHECK_CONTAINS(error_of("part.rate = 1e999"), "; 1e999 is too large for a number");
  CHECK(error_of("part.rate = 1,000").find("write") == std::string::npos);
  CHECK(error_of(".5 = 1").find("write") == std::string::npos);
}

TEST_CASE("config: errors for wrong types and ranges have the line and column") {
  CHECK_CONTAINS(error_of("seed = 1.5"), "c.toml:1:8: seed: expected an integer, found 1.5");
  CHECK_CONTAINS(error_of("seed = 'a'"), "found \"a\"");
  CHECK_CONTAINS(error_of("name = 3"), "name: expected a string in quotes, found 3");
  CHECK_CONTAINS(error_of("part.on = 1"), "part.on: expected true or false, found 1");
  CHECK_CONTAINS(error_of("part.rate = true"), "part.rate: expected a number, ≥ 0, found true");
  CHECK_CONTAINS(error_of("[part]\nshare = 1.5"),
                 "c.toml:2:9: part.share: expected a number, 0 … 1");
  CHECK_CONTAINS(error_of("part.share = nan"), "found nan");
  CHECK_CONTAINS(error_of("part.rate = inf"), "found inf");
  CHECK_CONTAINS(error_of("part.inner.depth = 11"), "expected an integer, 1 … 10, found 11");
  CHECK_CONTAINS(error_of("part.lengths = 3"), "expected a list of integers");
  CHECK_CONTAINS(error_of("part.lengths = [1, 1000]"), "c.toml:1:20: part.lengths: expected");
  CHECK_CONTAINS(error_of("part.words = ['a', 2]"), "expected a string in quotes, found 2");
  CHECK_CONTAINS(error_of("part.words = [['a']]"), "found a list");
  CHECK_CONTAINS(error_of("part.kind = 'plian'"),
                 "expected one of plain, auto, true (did you mean 'plain'?), found \"plian\"");
  CHECK_CONTAINS(error_of("part.kind = false"), "expected one of plain, auto, true, found false");
  CHECK_CONTAINS(error_of("part.rate = 1979-05-27"), "found a date or time");
  CHECK_CONTAINS(error_of("[part.rate]"), "found a section");
  CHECK_CONTAINS(error_of("seed = 1", {"part.share=x"}),
                 "--set part.share=x: part.share: expected");
}

TEST_CASE("config: malformed and oversized files are rejected") {
  CHECK_CONTAINS(error_of(""), "c.toml: empty");
  CHECK_CONTAINS(error_of("seed ="), "c.toml:1:7: ");
  CHECK_CONTAINS(error_of("seed = 1\nseed = 2"), "c.toml:2:");
  CHECK_CONTAINS(error_of("name = '\xFF'"), "c.toml:1:");
  CHECK_CONTAINS(error_of(std::string("name = 'a\0b'", 12)), "c.toml:1:");
  CHECK_CONTAINS(error_of(std::string(100, '\0')), "c.toml:1:");
  CHECK_CONTAINS(error_of("seed = 99999999999999999999"), "c.toml:1:");
  CHECK_CONTAINS(error_of("part.rate = 1e999"), "c.toml:1:");
  CHECK_CONTAINS(error_of("seed = " + std::string(100'000, '[')), "c.toml:1:");
  CHECK_CONTAINS(error_of("seed = " + std::string(100'000, '9')), "c.toml:1:");
  std::string dots;
  for (int i = 0; i < 100'000; ++i) dots += "a.";
  CHECK_CONTAINS(error_of(dots + "a = 1"), "c.toml:1: expected keys of at most 16 parts");
  CHECK_CONTAINS(error_of("['x'.\"y=\\\"\"." + dots + "a]"), "c.toml:1: expected keys of at most");
  CHECK_CONTAINS(error_of("# " + dots + "\nname = '" + dots + "'\nx = {" + dots + "a = 1}"),
                 "c.toml:3: expected keys of at most");
  CHECK_CONTAINS(error_of("name = \"\"\"" + dots + "\n\"\"\"\n" + "seed = '" + dots + "'"),
                 "found \"");
  CHECK_CONTAINS(error_of(std::string(2'000'000, '#')),
                 "expected a config, found more than 1048576 bytes");
  CHECK_CONTAINS(thrown<InputError>([] { ConfigSource::read("/tmp"); }),
                 "/tmp: expected a config, found a folder");
  CHECK_CONTAINS(error_of("base = '/dev/zero'"), "/dev/zero: expected a config, found a FIFO");
  CHECK_CONTAINS(thrown<InputError>([] { ConfigSource::read("/nowhere.toml"); }), "cannot read");
}

TEST_CASE("config: written configs parse to the same values") {
  Options options;
  options.seed = std::numeric_limits<int64_t>::min();
  options.name = "q\"\\\n\t\x01\x7F # ü";
  options.part.rate = 0.1 + 0.2;
  options.part.share = 1;
  options.part.words = {"", "a, b", "]"};
  options.part.lengths = {};
  options.part.kind = Section::Kind::yes;
  options.part.path = "/a b";
  options.part.inner.depth = 9;
  const ConfigListing listing = list_config(options);
  const Options back = ConfigFile(config_text(listing)).read();
  CHECK(config_differences(listing, list_config(back)).empty());
  CHECK(back.part.rate == options.part.rate);
  CHECK(back.name == options.name);
  for (const double number : {1e300, 5e-324, 1.0, -0.0, 1e16, 123456789.125, 1e-5}) {
    Options one;
    one.part.rate = std::abs(number);
    CHECK(ConfigFile(config_text(list_config(one))).read().part.rate == std::abs(number));
  }
}

TEST_CASE("config: at most 20 bases in a row") {
  const TemporaryFolder folder;
  write_file(folder / "0.toml", "seed = 7");
  for (int i = 1; i <= 21; ++i)
    write_file(folder / std::to_string(i) + ".toml", fmt::format("base = '{}.toml'", i - 1));
  Options options;
  ConfigSource::read(folder / "20.toml").fill(options);
  CHECK(options.seed == 7);
  CHECK_CONTAINS(thrown<InputError>([&] { ConfigSource::read(folder / "21.toml"); }),
                 "1.toml:1:1: base: expected at most 20 bases in a row");
}

TEST_CASE("config: long values do not move the help of other lines beyond column 40") {
  Options options;
  options.name = std::string(60, 'x');
  CHECK_CONTAINS(config_text(list_config(options)),
                 "seed = 1" + std::string(32, ' ') + "  # of everything\n");
}

TEST_CASE("config: the text shows the help or the origin of each value") {
  const ConfigFile file("part.share = 0.25\n");
  Options options;
  const Origins origins = ConfigSource::read(file / "c.toml").fill(options);
  CHECK(config_text(list_config(options)) ==
        "seed = 1    # of everything\n"
        "name = \"x\"  # what to call it\n"
        "\n"
        "[part]  # the only part\n"
        "kind = \"plain\"     # what it is\n"
        "rate = 0.001       # how fast\n"
        "share = 0.25       # how much | of it\n"
        "on = false         # whether\n"
        "path = \"\"          # a file\n"
        "paths = []         # files\n"
        "words = [\"a\"]      # some words\n"
        "lengths = [1, 25]  # shortest and longest\n"
        "\n"
        "[part.inner]  # inside\n"
        "depth = 2  # how deep\n");
  const std::string with_origins = config_text(list_config(options), origins);
  CHECK_CONTAINS(with_origins, "share = 0.25       # " + file.path + "/c.toml:1\n");
  CHECK_CONTAINS(with_origins, "seed = 1    # default\n");
  const std::string reference = config_reference(list_config(Options()));
  CHECK_CONTAINS(reference, "## [part.inner]\n\ninside.\n");
  CHECK_CONTAINS(reference, "| `part.share` | number | `0.5` | 0 … 1 | how much \\| of it |\n");
  CHECK_CONTAINS(reference,
                 "| `part.kind` | choice | `\"plain\"` | plain, auto, true | what it is |\n");
  options.name = "a||b";
  CHECK_CONTAINS(config_reference(list_config(options)), "| `\"a\\|\\|b\"` |");
}

// Configs of earlier versions must keep their meaning. tests/fixtures/config_keys.txt has the keys,
// types, defaults and ranges of 0.2.0, as `heed config --reference` prints them. New keys and new
// values of a choice are allowed.
TEST_CASE("config: keys, types, defaults, ranges and choices of 0.2.0 are unchanged") {
  std::map<std::string, ConfigEntry> entries;
  for (const ConfigEntry& entry : list_config(Experiment())) entries[entry.key] = entry;
  const auto fixtures = std::filesystem::path(__FILE__).parent_path().parent_path() / "fixtures";
  std::ifstream file(fixtures / "config_keys.txt");
  int count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    CAPTURE(line);
    const ConfigEntry& entry = entries[line.substr(0, line.find(" | "))];
    const std::string values = fmt::format("{} | {} | {} | ", entry.key, entry.type, entry.text());
    CHECK(line.starts_with(values));
    const std::string allowed = line.substr(std::min(line.size(), values.size()));
    if (entry.type != "choice") CHECK(entry.allowed == allowed);
    std::istringstream words(allowed);
    for (std::string word; std::getline(words >> std::ws, word, ',');)
      CHECK((", " + entry.allowed + ",").find(" " + word + ",") != std::string::npos);
  }
  CHECK(count == 135);
}

TEST_CASE("config: config_differences lists differing keys") {
  Options a, b;
  b.part.rate = 2;
  b.part.inner.depth = 3;
  const auto differences = config_differences(list_config(a), list_config(b));
  REQUIRE(differences.size() == 2);
  CHECK(differences[0].a.key == "part.rate");
  CHECK(differences[0].a.text() == "0.001");
  CHECK(differences[0].b.text() == "2.0");
  CHECK(differences[1].b.key == "part.inner.depth");
}

TEST_CASE("config: an error gets the location of the first of its keys that is set") {
  const Origins origins{{"part.rate", {Origin::Kind::file, "c.toml", 3, 1}},
                        {"rate", {Origin::Kind::file, "c.toml", 9, 1}},
                        {"seed", {Origin::Kind::command_line, "--set seed=3", 0, 0}}};
  const auto located = [&](const std::string& text) {
    return std::string(with_origin(InputError(text), origins).what());
  };
  CHECK(located("`part.rate` = 3 is not `seed`") == "c.toml:3:1: part.rate = 3 is not seed");
  CHECK(located("`part.inner.depth` needs `seed`") == "--set seed=3: part.inner.depth needs seed");
  CHECK(located("no part.rate in it") == "no part.rate in it");
  CHECK(located(located("wrong `seed`")) == "--set seed=3: wrong seed");  // only one location
  CHECK(located("see `heed seed` and `Seed`: `seed`") ==
        "--set seed=3: see `heed seed` and `Seed`: seed");
  for (const char* text : {"", "`", "``", "```", "a `b", "`seed", "``seed"})
    CHECK(located(text) == text);
}

TEST_CASE("config: a value that contains another key's name does not become the culprit") {
  const TemporaryFolder folder;
  const std::string config = folder / "c.toml";
  write_file(config,
             "data.kind = \"pairs\"\n"
             "data.path = \"/nowhere/model.dim/data.kind\"\nmodel.dim = 32\n");
  const LoadedConfig loaded = load_config(config, {});
  CHECK_CONTAINS(thrown<InputError>([&] { load_data(loaded); }), config + ":2:6: data.path: ");
  // No key is the culprit of a broken file, whatever its path contains.
  const std::string file = folder / "model.dim = 32";
  write_file(file, "no tab\n");
  const LoadedConfig broken = load_config(config, {"data.path=" + file});
  CHECK(thrown<InputError>([&] { load_data(broken); }).starts_with(file + ": line 1 has 1 column"));
}

// Computes the edit distance by its definition, in exponential time.
int distance_by_definition(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return static_cast<int>(a.size() + b.size());
  const auto of = [&](size_t from_a, size_t from_b) {
    return distance_by_definition(a.substr(from_a), b.substr(from_b));
  };
  int least = std::min({of(1, 0) + 1, of(0, 1) + 1, of(1, 1) + (a[0] != b[0])});
  if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0])
    least = std::min(least, of(2, 2) + 1);
  return least;
}

TEST_CASE("config: edit distance") {
  std::vector<std::string> words = {""};  // all words of up to 4 letters a and b
  for (size_t i = 0; words[i].size() < 4; ++i)
    for (const char letter : {'a', 'b'}) words.push_back(words[i] + letter);
  for (const std::string& a : words)
    for (const std::string& b : words)
      CHECK_MESSAGE(edit_distance(a, b) == distance_by_definition(a, b), a, " ", b);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(nearest("batchsize", {"train.batch_size", "train.steps"}) == "train.batch_size");
  CHECK(nearest("x", {"seed"}) == "");
  CHECK(nearest(std::string(1'000'000, 'a'), {"seed"}) == "");
}
