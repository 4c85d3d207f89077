#include <fstream>
#include <iterator>

#include "apps/config/load_config.h"
#include "apps/playground/api.h"
#include "apps/playground/session.h"
#include "doctest/doctest.h"

using namespace heed;

namespace {

constexpr const char* small_sort =
    "model.kind = \"language_model\"\nmodel.layers = 1\nmodel.dim = 8\nmodel.heads = 2\n"
    "train.batch_size = 4\ndata.kind = \"sort\"\ndata.symbols = 3\ndata.lengths = [4, 4]\n"
    "data.val_fraction = 0.3\n";

// The error of a config that the playground refuses.
std::string refusal(const std::string& toml) {
  try {
    PlaygroundSession session(toml);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("playground: a session trains as a trainer of the same config") {
  PlaygroundSession session(small_sort);
  Experiment experiment;
  ConfigSource::of(parse_toml(small_sort, "config"), "config").fill(experiment);
  const Corpus corpus =
      load_corpus(experiment.data, experiment.framing(), static_cast<uint64_t>(experiment.seed));
  Trainer trainer(experiment, corpus);
  for (int step = 0; step < 5; ++step) {
    CHECK(session.step() == trainer.step().loss);
    session.scores();  // what is shown does not change what is trained
    session.predictions(2);
    session.attention("");
  }
  CHECK(session.steps_done() == 5);
}

TEST_CASE("playground: the config of the summary makes the same session") {
  const PlaygroundSession session(small_sort);
  const Json summary = session.summary();
  CHECK(summary.at("values").at("model.dim").string() == "8");
  CHECK(!summary.at("values").find("model.dropout"));
  const PlaygroundSession again(summary.at("config").string());
  CHECK(again.summary().text() == summary.text());
  CHECK(summary.at("parameter_count").integer() == session.weight_count());
}

TEST_CASE("playground: weights that are put back are the same") {
  PlaygroundSession session(small_sort);
  std::vector<real> before(static_cast<size_t>(session.weight_count()));
  session.weights(before);
  const std::string scores = session.scores().text();
  const double loss = session.step();
  CHECK(session.scores().text() != scores);
  std::vector<real> after(before.size());
  session.weights(after);
  CHECK(after != before);
  session.set_weights(before);
  CHECK(session.scores().text() == scores);
  session.set_weights(after);
  const double second = session.step();
  PlaygroundSession other(small_sort);
  CHECK(other.step() == loss);
  CHECK(other.step() == second);
}

TEST_CASE("playground: attention on a text, and on a text that the model cannot read") {
  PlaygroundSession session(small_sort);
  const Json read = session.attention("2 0 1 1");
  CHECK(read.at("source").string() == "2 0 1 1");
  const Json& map = read.at("maps").elements().at(0);
  CHECK(map.at("rows").elements().size() == 7);  // the prompt, and the target but its last token
  CHECK(map.at("weights").elements().size() == 2 * 7 * 7);
  CHECK(map.at("weights").elements()[0].integer() == 255);  // the first token sees only itself
  CHECK_THROWS_AS(session.attention("2 0 9 1"), InputError);
  CHECK_THROWS_AS(session.attention("2 0"), InputError);
}

TEST_CASE("playground: refuses what reads files, what is too large and what is no config") {
  CHECK(refusal("data.kind = \"text\"\ndata.path = \"/etc/passwd\"") ==
        "config:1:6: data.kind = \"text\" reads files, which a page cannot: choose a generated "
        "task");
  CHECK(refusal("train.load = \"/etc\"") ==
        "config:1:7: train.load: a page reads no files; remove this key");
  CHECK(refusal("base = \"/etc/passwd\"").find("unknown key 'base'") != std::string::npos);
  CHECK(refusal("seed = 1\nmodel.dim = 1024") ==
        "config:2:7: model.dim = 1024 is too large for a page, which allows at most 256: train it "
        "with `heed train`");
  CHECK(refusal("data.lengths = [1, 65]").find("at most 64") != std::string::npos);
  CHECK(refusal("model.dim = 256\nmodel.layers = 12").find("too many for a page") !=
        std::string::npos);
  CHECK(refusal("model.dim = 128\nmodel.layers = 4\ntrain.batch_size = 256\ndata.lengths = [1, 64]")
            .find("multiplications, too many for a page") != std::string::npos);
  CHECK(refusal("model.heads = 3").find("model.heads") != std::string::npos);
  CHECK(refusal(std::string(70'000, '#')) == "the config is longer than 65536 bytes");
}

TEST_CASE("playground: the tasks of the page are configs that it accepts") {
  for (const char* name : {"sort", "reverse", "addition", "recall", "subject", "set", "shapes"}) {
    CAPTURE(name);
    std::ifstream file(std::string(HEED_PLAYGROUND_TASKS) + "/" + name + ".toml");
    REQUIRE(file);
    const PlaygroundSession session(std::string{std::istreambuf_iterator<char>(file), {}});
    CHECK(session.weight_count() > 0);
  }
}

TEST_CASE("playground: the functions in C give null and a message, or JSON") {
  CHECK(heed_make("model.dim = \"wide\"") == nullptr);
  CHECK(std::string(heed_error()) ==
        "config:1:13: model.dim: expected an integer, 1 … 65536, found \"wide\"");
  HeedSession* session = heed_make(small_sort);
  REQUIRE(session);
  double loss = 0;
  CHECK(heed_step(session, &loss) == 1);
  CHECK(loss > 0);
  CHECK(Json::parse(heed_scores(session), "scores").at("loss").number() > 0);
  CHECK(Json::parse(heed_predictions(session, 3), "predictions").elements().size() == 3);
  CHECK(heed_attention(session, "2 2 9 2") == nullptr);
  CHECK(std::string(heed_error()).find("9") != std::string::npos);
  CHECK(Json::parse(heed_keys(), "keys").elements().size() > 100);
  heed_free(session);
  heed_free(nullptr);
}
