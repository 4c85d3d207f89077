// heed export: the graphs of all forms of models. The first test writes them into $HEED_ONNX_CASES,
// for tests/lab/onnx/run.sh: libonnx checks that they are valid and hold each weight once, ONNX
// Runtime that they compute what the models compute. So does the one of trained runs, in a nightly
// test.
#include <doctest/doctest.h>

#include <cstdlib>

#include "apps/inference/evaluation.h"
#include "apps/inference/generation.h"
#include "apps/support/json.h"
#include "apps/training/saved_run.h"
#include "core/inference_scope.h"
#include "core/random.h"
#include "core/scope.h"
#include "data/made_examples.h"
#include "disk_limits.h"
#include "lab/onnx/model.h"
#include "program.h"

using namespace heed;

namespace {

constexpr int64_t batch = 3, time_steps = 9, source_steps = 7;
const Vocabulary tokens({"a", "b", "c", "d", "e", "f", "g", "<bos>", "<eos>"});

struct Case {
  const char* name;
  ModelOptions options;
  ModelSizes sizes = {.source_vocabulary = 11, .vocabulary = 9, .classes = 4};
};

ModelOptions options(ModelKind kind, const PositionalRule& positions) {
  ModelOptions o;
  o.kind = kind;
  o.dim = 12;
  o.heads = 3;
  o.init.gain = 2;
  o.positional.kind = &positions;
  return o;
}

template <class Change>
Case changed(const char* name, ModelKind kind, const PositionalRule& positions, Change change) {
  Case c{name, options(kind, positions)};
  change(c.options);
  return c;
}

constexpr ModelKind language = ModelKind::language_model, translation = ModelKind::seq2seq,
                    classification = ModelKind::classifier;

// Every choice that has an export at least once.
std::vector<Case> cases() {
  namespace p = positional_encodings;
  using O = ModelOptions;
  std::vector<Case> all = {
      // As in configs/shakespeare.toml and configs/reverse.toml.
      changed("language", language, p::learned, [](O& o) { o.activation = Activation::gelu; }),
      changed("translation", translation, p::sinusoidal, [](O&) {}),
      changed("halves", language, p::sinusoidal,
              [](O& o) {
                o.positional.layout = RotaryLayout::halves;
                o.positional.first_k = 1;
                o.attention.window = 3;
                o.tie_weights = false;
              }),
      changed("rotary", language, p::rotary,
              [](O& o) {
                o.norm.kind = NormKind::rms;
                o.activation = swiglu;
                o.bias = false;
              }),
      changed("rotary_halves", language, p::rotary,
              [](O& o) {
                o.positional.layout = RotaryLayout::halves;
                o.activation = Activation::gelu_tanh;
                o.attention.scale = ScoreScale::inverse;
                o.attention.temperature = 0.5;
              }),
      changed("alibi", language, p::alibi,
              [](O& o) {
                o.norm_first = false;
                o.activation = Activation::tanh;
                o.attention.temperature = 2;
              }),
      changed("relative", language, p::relative,
              [](O& o) {
                o.positional.buckets = 6;
                o.positional.max_distance = 5;
                o.attention.tie_key_value = true;
                o.activation = Activation::sigmoid;
              }),
      changed("dot", language, p::none,
              [](O& o) {
                o.attention.similarity = &similarities::dot;
                o.attention.key_dim = 5;
                o.attention.value_dim = 3;
                o.attention.activation = Activation::silu;
                o.final_norm = Choice::no;
              }),
      changed("attention_only", translation, p::learned,
              [](O& o) {
                o.mixing.feed_forward = false;
                o.norm.kind = NormKind::none;
              }),
      changed("chain", language, p::learned, [](O& o) { o.mixing.residual = false; }),
      changed("integer", language, p::integer,
              [](O& o) {
                o.init.gain = 1;
                o.norm_first = false;
              }),
      changed("concatenated", translation, p::sinusoidal,
              [](O& o) {
                o.positional.combine = PositionalCombine::concat;
                o.positional.dim = 4;
                o.tie_weights = false;
              }),
      changed("unprojected", language, p::none,
              [](O& o) {
                o.attention.project_query = o.attention.project_key = false;
                o.attention.project_value = false;
              }),
      changed("two_widths", translation, p::relative,
              [](O& o) {
                o.encoder_dim = 6;
                o.decoder_layers = 1;
                o.positional.buckets = 8;
                o.positional.max_distance = 6;
              }),
      changed("rotary_translation", translation, p::rotary,
              [](O& o) { o.attention.causal = true; }),
      changed("mean", classification, p::sinusoidal, [](O&) {}),
      changed("first", classification, p::learned,
              [](O& o) {
                o.pool = Pool::first;
                o.attention.window = 2;
              }),
      changed("queries", classification, p::alibi,
              [](O& o) {
                o.pool = Pool::learned;
                o.pool_queries = 2;
              }),
  };
  const auto with_sizes = [&](const char* name, ModelKind kind, const PositionalRule& positions,
                              const ModelSizes& sizes) {
    all.push_back({name, options(kind, positions), sizes});
  };
  ModelSizes shared{.source_vocabulary = 9, .vocabulary = 9};
  with_sizes("shared", translation, p::sinusoidal, shared);
  all.back().options.share_embeddings = true;
  with_sizes("frames", translation, p::sinusoidal, {.vocabulary = 9, .features = 5});
  // As in configs/fashion.toml.
  with_sizes("image", classification, p::learned, {.classes = 4, .features = 5, .grid = {3, 3}});
  with_sizes("integer_image", classification, p::integer,
             {.classes = 4, .features = 5, .grid = {3, 3}});
  all.back().options.positional.combine = PositionalCombine::concat;
  all.back().options.positional.dim = 2;
  with_sizes("regression", language, p::sinusoidal, {.classes = 1, .features = 5});
  with_sizes("rated_tokens", language, p::rotary, {.vocabulary = 9, .classes = 1});
  with_sizes("named_vectors", language, p::learned, {.classes = 9, .features = 5});
  with_sizes("tags", classification, p::sinusoidal, {.vocabulary = 9, .classes = 4});
  all.back().options.pool = Pool::none;
  with_sizes("segments", classification, p::learned, {.classes = 4, .features = 5, .grid = {3, 3}});
  all.back().options.pool = Pool::none;
  with_sizes("video", classification, p::sinusoidal,
             {.classes = 4, .features = 5, .grid = {1, 3, 3}});
  return all;
}

// A model whose parameters are all random, biases and norms included.
std::unique_ptr<Model> random_model(const Case& c) {
  ScopeGuard here;
  here->seed = 7;
  here->step = here->calls = 0;
  std::unique_ptr<Model> model = make_model(c.options, c.sizes);
  Random random(7, Purpose::initialisation, 1);
  for (NamedParameter p : model->parameters())
    for (int64_t i = 0; i < p.tensor.shape().size(); ++i)
      p.tensor.mutable_data()[i] += static_cast<real>(random.uniform() - 0.5) / 2;
  return model;
}

Ids random_ids(const Shape& shape, int64_t vocabulary, uint64_t seed) {
  Random random(seed, Purpose::shuffle, 0);
  Ids ids = Ids::empty(shape);
  for (int64_t i = 0; i < ids.size(); ++i)
    ids.mutable_data()[i] =
        static_cast<int32_t>(random.uniform() * static_cast<double>(vocabulary));
  return ids;
}

Tensor random_features(const Shape& shape) {
  Random random(3, Purpose::shuffle, 0);
  Tensor features = Tensor::empty(shape);
  for (int64_t i = 0; i < shape.size(); ++i)
    features.mutable_data()[i] = static_cast<real>(random.uniform());
  return features;
}

// Inputs of a decoder, which begin with <bos>: (B, T).
Ids made_inputs(ModelKind framing) {
  Corpus corpus;
  corpus.framing = framing;
  corpus.target = std::make_shared<TextCodec>(Level::word, tokens.tokens());
  const Ids ids = random_ids({batch, time_steps - 1}, tokens.begin(), 2);
  std::vector<SequencePair> contents;
  for (const int32_t* row = ids.data(); row < ids.data() + ids.size(); row += time_steps - 1)
    contents.push_back({{}, {row, row + time_steps - 1}});
  return made_batch(corpus, std::move(contents)).input;
}

Inputs inputs_for(const Case& c) {
  const bool is_translation = c.options.kind == translation, features = c.sizes.features > 0;
  Inputs in;
  if (is_translation) {
    if (!features) in.source = random_ids({batch, source_steps}, c.sizes.source_vocabulary, 1);
    in.source_lengths = Ids::from({batch}, {4, 7, 1});
  }
  if (is_translation || !features)
    in.input = c.options.kind == classification
                   ? random_ids({batch, time_steps}, c.sizes.vocabulary, 2)
                   : made_inputs(is_translation ? ModelKind::seq2seq : ModelKind::language_model);
  if (features)
    in.features =
        random_features({batch, is_translation ? source_steps : time_steps, c.sizes.features});
  if (c.options.kind == classification)
    in.input_lengths =
        c.sizes.grid.empty() ? Ids::from({batch}, {5, 9, 1}) : Ids::full({batch}, time_steps);
  return in;
}

template <class Array>
Json array_json(const char* name, const Array& array, const auto& data) {
  constexpr bool integers = std::is_integral_v<std::remove_cvref_t<decltype(data[0])>>;
  Json dims = Json::array(), values = Json::array();
  for (const int64_t length : array.shape()) dims.push(length);
  for (int64_t i = 0; i < array.shape().size(); ++i) {
    if constexpr (integers)
      values.push(static_cast<int64_t>(data[i]));
    else
      values.push(static_cast<double>(data[i]));
  }
  return Json::object()
      .set("name", name)
      .set("type", integers ? "int64" : "float32")
      .set("dims", dims)
      .set("data", values);
}

Json ids_json(const std::vector<Sequence>& sequences) {
  Json all = Json::array();
  for (const Sequence& sequence : sequences) {
    Json ids = Json::array();
    for (const int32_t id : sequence) ids.push(int64_t{id});
    all.push(ids);
  }
  return all;
}

// How greedy search continues: at most `steps` tokens of this vocabulary.
struct Greedy {
  const Vocabulary& vocabulary;
  int64_t steps;
};

// What greedy search generates for each row of the batch, or the most likely class.
Json generated(ModelKind kind, const Model& model, const Inputs& in, const Greedy& greedy) {
  std::vector<Sequence> found;
  if (kind == translation) {
    GenerationOptions o;
    o.max_length = greedy.steps;
    for (const auto& each : outputs(model, greedy.vocabulary, in, o))
      found.push_back(each[0].tokens);
  } else if (kind == language) {
    GenerationOptions o;
    o.sampling.temperature = 0;
    o.max_length = greedy.steps;
    const int64_t time = in.input.shape()[1];
    std::vector<Sequence> prompts;
    for (int64_t b = 0; b < in.input.shape()[0]; ++b)
      prompts.emplace_back(in.input.data() + b * time, in.input.data() + b * time + 3);
    for (const auto& each : continuations(model, greedy.vocabulary, prompts, o))
      found.push_back(each[0].tokens);
  } else {
    for (const int32_t label : predicted_classes(model, in)) found.push_back({label});
  }
  return ids_json(found);
}

// Writes the inputs of a case, and what heed computes for them.
void write_case(const std::string& path, const Case& c, const Model& model, const Inputs& in,
                const Greedy& greedy) {
  Json inputs = Json::array();
  const auto add_ids = [&](const char* name, const Ids& ids) {
    if (ids) inputs.push(array_json(name, ids, ids.data()));
  };
  add_ids("source", in.source);
  add_ids("source_lengths", in.source_lengths);
  add_ids("input", in.input);
  if (c.options.kind == classification && c.sizes.grid.empty())
    add_ids("input_lengths", in.input_lengths);
  if (in.features)
    inputs.push(array_json(c.options.kind == translation ? "source" : "input", in.features,
                           in.features.data()));
  const Tensor logits = model.logits(in);
  const bool is_at_positions =
      c.options.kind == language ? has_own_head(c.sizes) : c.options.pool == Pool::none;
  write_file(
      path, Json::object()
                .set("inputs", inputs)
                .set("logits", array_json("logits", logits, logits.data()))
                .set("begin", int64_t{greedy.vocabulary.begin()})
                .set("end", int64_t{greedy.vocabulary.end()})
                .set("steps", greedy.steps)
                .set("greedy",
                     is_at_positions ? Json::array() : generated(c.options.kind, model, in, greedy))
                .text());
}

}  // namespace

TEST_CASE("onnx: every form of model has a graph, the same bytes each time") {
  const InferenceScope here;
  here->step = 0;
  const char* const folder = std::getenv("HEED_ONNX_CASES");
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    const std::unique_ptr<Model> model = random_model(c);
    const std::string bytes = heed::onnx::graph_of(c.options, c.sizes, model->parameters()).bytes();
    CHECK(bytes == heed::onnx::graph_of(c.options, c.sizes, model->parameters()).bytes());
    if (!folder) continue;
    write_file(in_folder(folder, std::string(c.name) + ".onnx"), bytes);
    write_case(in_folder(folder, std::string(c.name) + ".json"), c, *model, inputs_for(c),
               {tokens, 8});
  }
}

TEST_CASE("onnx: trained runs, as tests/lab/onnx/run.sh compares them" * doctest::skip()) {
  const InferenceScope here;
  const char* const runs = std::getenv("HEED_ONNX_RUNS");
  const char* const folder = std::getenv("HEED_ONNX_CASES");
  REQUIRE((runs && folder));
  for (const char* name : {"shakespeare", "reverse", "fashion"}) {
    const SavedRun run = SavedRun::open(in_folder(runs, name));
    const Checkpoint checkpoint = run.checkpoint("best");
    const Corpus corpus = run.data(checkpoint);
    const Experiment& experiment = run.config.experiment;
    Batch batch;
    Batches::in_order(corpus.splits.at("val"), corpus.framing, 32).get(0, batch);
    write_case(in_folder(folder, std::string(name) + ".json"),
               {name, experiment.model, model_sizes(experiment, corpus)},
               *run.model(corpus, checkpoint.model()), batch,
               {corpus.target ? corpus.target->vocabulary() : tokens, 60});
  }
}

TEST_CASE("onnx: a form without an export is refused by name") {
  const auto refused = [](auto change) {
    Case c{"", options(language, positional_encodings::none)};
    c.options.dim = 12;
    change(c.options);
    return thrown<InputError>([&] { heed::onnx::graph_of(c.options, c.sizes, {}); });
  };
  using O = ModelOptions;
  CHECK_CONTAINS(refused([](O& o) { o.mixing.kind = &mixings::gru; }),
                 "`model.block.mixing` = \"gru\"");
  CHECK_CONTAINS(refused([](O& o) { o.attention.similarity = &similarities::cosine; }),
                 "`model.attention.similarity` = \"cosine\"");
  CHECK_CONTAINS(refused([](O& o) { o.attention.normaliser = &normalisers::hardmax; }),
                 "`model.attention.normaliser` = \"hardmax\"");
  CHECK_CONTAINS(refused([](O& o) { o.attention.combine = Combine::mean; }),
                 "`model.attention.combine`");
  CHECK_CONTAINS(refused([](O& o) {
                   o.attention.key_dims = {2, 4, 6};
                 }),
                 "`model.attention.key_dims`");
  CHECK_CONTAINS(refused([](O& o) { o.attention.graph_distances = 2; }),
                 "`model.attention.graph_distances`");
  static const PositionalRule own = {.name = "own"};
  CHECK_CONTAINS(refused([](O& o) { o.positional.kind = &own; }),
                 "`model.positional.kind` = \"own\"");
}

TEST_CASE("onnx: the command writes a whole file or none, and says what is wrong") {
  const TemporaryFolder folder;
  const ProgramOutput copied = succeeded(
      shell_in(folder.path, "cp -a " HEED_FIXTURES "/run r; mkdir empty; $HEED export r"));
  CHECK_CONTAINS(copied.out, "model.onnx: ONNX, opset 17");
  CHECK_CONTAINS(copied.out, "logits          float32 (batch, length, ");
  CHECK(read_file(folder / "model.onnx", "model").size() > 1000);

  const auto fails = [&](int code, const std::string& script, const std::string& part) {
    check_rejected(shell_in(folder.path, script), code, {part});
  };
  fails(2, "$HEED export r --format torch", "--format: expected onnx, found 'torch'");
  fails(2, "$HEED export r --output empty", "empty: expected the name of a file");
  fails(2, "$HEED export r --output /dev/full", "/dev/full: expected a plain file");
  fails(2, "$HEED export r --output nowhere/x.onnx", "nowhere/x.onnx: cannot write");
  fails(2, "$HEED export empty", "empty");
  fails(1, "ulimit -f 4; $HEED export r --output big.onnx", "big.onnx: cannot write");
  fails(2, "truncate -s 900 r/checkpoints/step-4/model.safetensors; $HEED export r --output a.onnx",
        "model.safetensors: damaged");
  CHECK_CONTAINS(shell_in(folder.path, "ls -A").out, "empty\nmodel.onnx\nr\n");
  fails(2, "rm -r r/checkpoints; $HEED export r", "no checkpoint");
}
