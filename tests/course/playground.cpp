#include <cmath>
#include <fstream>

#include "apps/config/load_config.h"
#include "course/playground/api.h"
#include "course/playground/session.h"
#include "doctest/doctest.h"

using namespace heed;

namespace {

constexpr const char* small_sort =
    "model.kind = \"language_model\"\nmodel.layers = 1\nmodel.dim = 8\nmodel.heads = 2\n"
    "train.batch_size = 4\ndata.kind = \"sort\"\ndata.symbols = 3\ndata.lengths = [4, 4]\n"
    "data.val_fraction = 0.3\n";

// The error of a config, or a mistake, that the playground refuses.
std::string refusal(const std::string& toml, const std::string& mistake = "") {
  try {
    PlaygroundSession session(toml, mistake);
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
      load_corpus(experiment.data, experiment.model.kind, static_cast<uint64_t>(experiment.seed));
  Trainer trainer(experiment, corpus);
  for (int step = 0; step < 5; ++step) {
    CHECK(session.step() == trainer.step().loss);
    session.scores();  // what is shown does not change what is trained
    session.predictions(2);
    session.trace("", 1, -1, "decoder.layers.0.attention.head.1");
    session.heads();
    session.ablate("decoder.layers.0.feed_forward");
  }
  CHECK(session.steps_done() == 5);
}

TEST_CASE("playground: the config of the summary makes the same session") {
  const PlaygroundSession session(small_sort);
  const Json summary = session.summary();
  CHECK(summary.at("values").at("model.dim").string() == "8");
  CHECK(!summary.at("values").find("model.dropout"));
  const std::string unused = summary.at("unused").text();
  CHECK(unused.find("\"model.pool\"") != std::string::npos);
  CHECK(unused.find("\"model.dim\"") == std::string::npos);
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

TEST_CASE("playground: a trace of a text, and of one that the model cannot read") {
  PlaygroundSession session(small_sort);
  const Json read = session.trace("2 0 1 1", 0, -1);
  CHECK(read.at("typed").text() == "true");
  CHECK(read.at("inputs").elements().size() == 7);  // the prompt, and the target but its last token
  const Json& map = read.at("maps").elements().at(0);
  CHECK(map.at("queries").elements().size() == 7);
  CHECK(map.at("rows").integer() == 7);
  CHECK(map.at("weights").elements().size() == 2 * 7 * 7);
  CHECK(map.at("weights").elements()[0].integer() == 255);  // the first token sees only itself
  const Json& vectors = read.at("vectors").elements().at(0);
  CHECK(vectors.at("token").elements().size() == 7);
  CHECK(vectors.at("position").elements()[3].elements()[0].number() ==
        doctest::Approx(std::sin(3)).epsilon(1e-3));
  CHECK(read.at("units").elements().at(0).at("values").elements().size() == 32);
  CHECK(read.at("logits").elements()[0].elements().size() == 3);
  CHECK_THROWS_AS(session.trace("2 0 9 1", 0, -1), InputError);
  CHECK_THROWS_AS(session.trace("2 0", 0, -1), InputError);
  CHECK_THROWS_AS(session.trace("", 1 << 20, -1), InputError);
}

TEST_CASE("playground: what is left out of a model is 0, and put back") {
  PlaygroundSession session(small_sort);
  for (int step = 0; step < 20; ++step) session.step();
  const std::string before = session.trace("", 2, -1).text(), scores = session.scores().text();
  for (const char* part : {"decoder.layers.0.attention.head.1", "decoder.layers.0.feed_forward",
                           "decoder.layers.0.attention"}) {
    CAPTURE(part);
    const Json without = session.trace("", 2, -1, part), ablated = session.ablate(part);
    CHECK(without.text() != before);
    const std::string stage = std::string(part).substr(0, std::string(part).find(".head"));
    for (const Json& each : without.at("stages").elements())
      if (each.at("stage").string() == stage && stage == part)
        CHECK(each.at("written").elements()[3].number() == 0);
    CHECK(ablated.at("loss").number() - session.scores().at("loss").number() ==
          doctest::Approx(ablated.at("delta").number()).epsilon(1e-3));
  }
  CHECK(session.trace("", 2, -1).text() == before);
  CHECK(session.scores().text() == scores);
  CHECK_THROWS_WITH_AS(session.trace("", 0, -1, "embedding.position.0"),
                       "\"embedding.position.0\" cannot be left out of this model", InputError);
  CHECK_THROWS_AS(session.ablate("decoder.layers.7.attention"), InputError);
}

TEST_CASE("playground: pixels of an image, and the guess of a model that knows only frequencies") {
  PlaygroundSession session(
      "model.kind = \"classifier\"\nmodel.layers = 1\nmodel.dim = 8\nmodel.heads = 2\n"
      "data.kind = \"shapes\"\ndata.size = 4\ndata.val_size = 30\n");
  const Json read = session.trace("", 3, 5);
  CHECK(read.at("grid").text() == "[4,4]");
  REQUIRE(read.at("pixels").elements().size() == 16);
  int64_t lit = 0;
  for (const Json& pixel : read.at("pixels").elements()) lit += pixel.elements()[0].integer() > 127;
  CHECK(lit <= 8);
  CHECK(session.predictions(4).elements()[3].at("pixels").text() == read.at("pixels").text());
  CHECK(read.at("logits").elements().size() == 6);
  const double guess = session.summary().at("guess").number();
  CHECK(guess > 1);
  CHECK(guess <= std::log(6));
}

TEST_CASE("playground: attention with a mistake that no key makes") {
  // Returns the weight of head 0 for a query and a key.
  const auto weights_with = [](const char* mistake) {
    PlaygroundSession session(small_sort, mistake);
    session.step();
    const Json read = session.trace("2 0 1 1", 0, -1), &map = read.at("maps").elements().at(0);
    CHECK(!session.summary().at("values").find("model.attention.normaliser"));
    return [map](size_t query, size_t key) {
      const double byte = map.at("weights").elements()[7 * query + key].number() / 255;
      return byte * byte * map.at("scale").number();
    };
  };
  const auto wrong_axis = weights_with("wrong_axis");
  const auto no_mask = weights_with("no_causal_mask");
  for (size_t i = 0; i < 7; ++i) {
    double column = 0, row = 0;
    for (size_t j = 0; j < 7; ++j) {
      column += wrong_axis(j, i);
      row += no_mask(i, j);
      CHECK(no_mask(i, j) > 0.01);
      if (j > i) CHECK(wrong_axis(i, j) == 0);
    }
    CHECK(column == doctest::Approx(1).epsilon(0.02));
    CHECK(row == doctest::Approx(1).epsilon(0.02));
  }
  CHECK(refusal(small_sort, "typo") == "there is no mistake named \"typo\"");
  CHECK(
      refusal(small_sort + std::string("model.attention.normaliser = \"sum\""), "wrong_axis") ==
      "config:10:17: model.attention.normaliser = \"sum\": this mistake is one of the softmax; set "
      "\"softmax\"");
  CHECK(refusal("model.kind = \"classifier\"\ndata.kind = \"set\"\ndata.lengths = [6, 10]",
                "no_causal_mask")
            .find("config:1:7: model.kind = \"classifier\" has no causal mask") == 0);
}

TEST_CASE("playground: pictures of positions") {
  const auto pictures_of = [](const std::string& positions) {
    return PlaygroundSession(small_sort + positions).positions().elements();
  };
  const auto number = [](const Json& picture, int64_t row, int64_t column) {
    const int64_t index = row * picture.at("columns").integer() + column;
    return picture.at("values").elements().at(static_cast<size_t>(index)).number();
  };
  const Json sinusoidal = pictures_of("").at(0);
  CHECK(sinusoidal.at("rows").integer() == 7);
  CHECK(number(sinusoidal, 3, 0) == doctest::Approx(std::sin(3)));
  CHECK(number(sinusoidal, 3, 3) == doctest::Approx(std::cos(0.3)));
  const Json rotary = pictures_of("model.positional.kind = \"rotary\"").at(0);
  CHECK(rotary.at("columns").integer() == 4);  // of a head
  CHECK(number(rotary, 2, 0) == doctest::Approx(std::cos(2)));
  CHECK(number(rotary, 2, 3) == doctest::Approx(std::sin(0.02)));
  const std::vector<Json> alibi = pictures_of("model.positional.kind = \"alibi\"");
  REQUIRE(alibi.size() == 2);  // one for each head
  CHECK(number(alibi[1], 6, 2) == doctest::Approx(-4.0 / 256));
  CHECK(pictures_of("model.positional.kind = \"relative\"").size() == 2);
  CHECK(pictures_of("model.positional.kind = \"learned\"").size() == 1);
  CHECK(pictures_of("model.tie_weights = false\nmodel.positional.combine = "
                    "\"concat\"\nmodel.positional.dim = 2")
            .at(0)
            .at("columns")
            .integer() == 2);
  CHECK(pictures_of("model.positional.kind = \"none\"").empty());
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
  for (const char* name : {"sort", "reverse", "copy", "addition", "recall", "subject", "set",
                           "shapes", "video", "graph"}) {
    CAPTURE(name);
    std::ifstream file(std::string(HEED_PLAYGROUND_TASKS) + "/" + name + ".toml");
    REQUIRE(file);
    const PlaygroundSession session(std::string{std::istreambuf_iterator<char>(file), {}});
    CHECK(session.weight_count() > 0);
  }
}

TEST_CASE("playground: the functions in C give null and a message, or JSON") {
  CHECK(heed_make("model.dim = \"wide\"", "") == nullptr);
  CHECK(std::string(heed_error()) ==
        "config:1:13: model.dim: expected an integer, 1 … 65536, found \"wide\"");
  HeedSession* session = heed_make(small_sort, "");
  REQUIRE(session);
  double loss = 0;
  CHECK(heed_step(session, &loss) == 1);
  CHECK(loss > 0);
  CHECK(Json::parse(heed_scores(session), "scores").at("loss").number() > 0);
  CHECK(Json::parse(heed_predictions(session, 3, ""), "predictions").elements().size() == 3);
  CHECK(heed_trace(session, "2 2 9 2", 0, -1, "") == nullptr);
  CHECK(std::string(heed_error()).find("9") != std::string::npos);
  CHECK(Json::parse(heed_heads(session), "heads").at("heads").elements().size() == 2);
  CHECK(heed_ablate(session, "nothing") == nullptr);
  CHECK(Json::parse(heed_keys(), "keys").elements().size() > 100);
  heed_free(session);
  heed_free(nullptr);
}
