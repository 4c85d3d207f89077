// `heed evaluate` and `heed generate` with runs of unusual models: a temperature schedule, images,
// video, graphs and audio.
#include <fmt/format.h>

#include "apps/support/json.h"
#include "program.h"
#include "state_file.h"

using namespace heed;

namespace {

// Trains c.toml and checks that `heed evaluate` gives the test scores in result.json.
void check_evaluates_as_measured(const TemporaryFolder& folder) {
  heed_ok(folder.path, {"train", "c.toml", "--run", "r"});
  const Json result = Json::parse(read_file(folder / "r/result.json", "result"), "result.json");
  const std::string evaluated = heed_ok(folder.path, {"evaluate", "r", "--json"});
  const Json scores = Json::parse(evaluated, "output");
  CHECK(scores.at("loss").number() == result.at("test").at("loss").number());
  CHECK(scores.at("exact_match").number() == result.at("test").at("exact_match").number());
}

}  // namespace

TEST_CASE("evaluation uses the temperature of the checkpoint's step") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", tiny_config() +
                                    "[model.attention]\ntemperature = 4\nfinal_temperature = 0.01\n"
                                    "temperature_steps = 40\n");
  check_evaluates_as_measured(folder);
  // The temperature of another step gives another loss.
  std::string text = read_file(folder / "r/config.toml", "config");
  const size_t at = text.find("temperature_steps = 40");
  REQUIRE(at != text.npos);
  write_file(folder / "r/config.toml", text.replace(at, 22, "temperature_steps = 90"));
  change_state(folder / "r/checkpoints/best",
               [](Json& state) { state.set("settings", Json::object()); });
  const Json result = Json::parse(read_file(folder / "r/result.json", "result"), "result.json");
  const std::string evaluated = heed_ok(folder.path, {"evaluate", "r", "--json"});
  CHECK(Json::parse(evaluated, "output").at("loss").number() !=
        result.at("test").at("loss").number());
}

TEST_CASE("runs on images, video, graphs and audio evaluate like training, and cannot generate") {
  const char* const common =
      "seed = 3\n[train]\nsteps = 4\nbatch_size = 8\n[model]\nlayers = 1\ndim = 16\nheads = 2\n";
  const std::pair<const char*, const char*> configs[] = {
      {"kind = 'classifier'\n[data]\nkind = 'shapes'\nsize = 6\n", "images"},
      {"kind = 'classifier'\ndim = 24\n[data]\nkind = 'video'\nsize = 4\nframes = 3\n", "video"},
      {"kind = 'classifier'\npool = 'first'\n[model.block]\nmixing = 'graph_attention'\n"
       "[model.positional]\nkind = 'none'\n[data]\nkind = 'graph'\nedge_kinds = 2\n"
       "lengths = [6, 8]\n",
       "graphs"},
      {"kind = 'seq2seq'\nencoder_dim = 8\n[data]\nkind = 'streams'\nlengths = [1, 3]\n", "audio"},
  };
  for (const auto& [config, kind_of_data] : configs) {
    const std::string name(kind_of_data);
    CAPTURE(name);
    const TemporaryFolder folder;
    std::string text = common;
    if (std::string(config).find("dim = 24") != std::string::npos)
      text.erase(text.find("dim = 16\n"), 9);
    write_file(folder / "c.toml", text + config + "val_size = 20\ntest_size = 20\n");
    check_evaluates_as_measured(folder);
    check_rejected(heed_in(folder.path, {"generate", "r"}, "1 2\n"), 2,
                   {"are vectors", "evaluate"});
  }
}

TEST_CASE("a run on graphs with a global vector evaluates like training, and answers graphs") {
  const TemporaryFolder folder;
  std::string lines;
  for (int i = 0; i < 40; ++i)
    lines += fmt::format(
        R"({{"nodes": [[1], [2]], "edges": [[0, 1, 0.5], [1, 0, 1]], "global": [{}], "target": "{}"}})"
        "\n",
        i, i % 2 == 0 ? "x" : "y");
  write_file(folder / "g.jsonl", lines);
  write_file(folder / "c.toml",
             "[train]\nsteps = 4\nbatch_size = 8\n[model]\nkind = 'classifier'\nlayers = 1\n"
             "dim = 16\nheads = 2\n[model.block]\nmixing = 'graph_attention'\nglobal = 3\n"
             "[model.positional]\nkind = 'none'\n[data]\nkind = 'examples'\npath = 'g.jsonl'\n"
             "test_fraction = 0.2\n");
  check_evaluates_as_measured(folder);
  CHECK_CONTAINS(heed_ok(folder.path, {"summary", "c.toml"}), "global_hidden");
  const auto answer = [&](const std::string& global) {
    return heed_in(folder.path, {"generate", "r"},
                   R"({"nodes": [[1]], "edges": [[0, 0, 1]], "target": "x")" + global + "}\n");
  };
  const std::string label = succeeded(answer(R"(, "global": [4])")).out;
  CHECK((label == "x\n" || label == "y\n"));
  for (const char* global :
       {"", R"(, "global": [4, 5])", R"(, "global": [null])", R"(, "global": 4)"})
    CHECK_CONTAINS(answer(global).err, "\"global\": expected ");
}

TEST_CASE("grids larger than any data are rejected before memory is allocated") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml",
             "[train]\nsteps = 1\nbatch_size = 2\n[model]\nkind = 'classifier'\nlayers = 1\n"
             "dim = 16\nheads = 2\n[data]\nkind = 'shapes'\nsize = 4\nval_size = 2\n"
             "test_size = 2\n");
  heed_ok(folder.path, {"train", "c.toml", "--run", "r"});
  for (const auto& [grid, words] : {std::pair("[1048576, 1048576]", "positions"),
                                    std::pair("[1, 1, 1, 1, 1, 1, 1, 1]", "axes")}) {
    write_file(folder / "r/vocabulary.json",
               fmt::format(R"({{"features": 3, "grid": {}, "labels": ["a", "b"]}})", grid));
    check_rejected(heed_in(folder.path, {"generate", "r"}, ""), 2, {"vocabulary.json", words});
  }
}
