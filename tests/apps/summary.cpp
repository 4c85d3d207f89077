// heed summary: parameter counts of published models, FLOPs computed by hand, memory compared with
// a real step, and models too large for any machine.
#include "apps/cost/summary.h"

#include <doctest/doctest.h>

#include <cmath>

#include "allocations.h"
#include "apps/cost/notice.h"
#include "apps/inference/evaluation.h"
#include "apps/training/trainer.h"
#include "core/parallel.h"
#include "core/pool.h"
#include "nn/options.h"
#include "temporary.h"
#include "thread_ranks.h"

using namespace heed;

namespace {

// Token sequences, all of the maximum length.
Dataset full(ModelKind framing, int64_t source, int64_t input) {
  return {100, [=](int64_t i, Example& example) {
            const auto token = static_cast<int32_t>(i % 3);
            const auto length = static_cast<size_t>(input);
            example.source.assign(framing == ModelKind::seq2seq ? static_cast<size_t>(source) : 0,
                                  token);
            example.input.assign(length, token);
            example.target.assign(framing == ModelKind::classifier ? 1 : length, token);
          }};
}

std::shared_ptr<const TextCodec> task_vocabulary(int64_t vocabulary) {
  std::vector<std::string> tokens;
  for (int64_t i = 0; i < vocabulary; ++i) tokens.push_back(std::to_string(i));
  return std::make_shared<TextCodec>(Level::word, std::move(tokens));
}

Corpus corpus_for(const Experiment& experiment, int64_t vocabulary, int64_t source, int64_t input) {
  Corpus corpus;
  corpus.framing = experiment.model.kind;
  corpus.source = corpus.target = task_vocabulary(vocabulary);
  if (corpus.framing == ModelKind::classifier) corpus.labels = {"a", "b", "c", "d", "e"};
  corpus.splits["train"] = full(corpus.framing, source, input);
  corpus.longest_source = corpus.framing == ModelKind::seq2seq ? source : 0;
  corpus.longest_input = input;
  return corpus;
}

// Feature vectors on a grid or of the nodes of a graph.
Dataset full_features(const ExampleFormat& format, int64_t positions, int64_t edges) {
  return feature_dataset(format, 100, [=](int64_t, Example& example) {
    const auto count = static_cast<size_t>(edges);
    example.target.assign(1, 0);
    example.features.assign(static_cast<size_t>(positions * format.features), 1);
    example.sender.assign(count, 0);
    example.receiver.assign(count, 1);
    example.edge_features.assign(count * static_cast<size_t>(format.edge_features), 1);
  });
}

// Returns data for a classifier: a grid, or a graph if `grid` is empty.
Corpus features_corpus(std::vector<int64_t> grid, int64_t positions, int64_t edges) {
  Corpus corpus;
  corpus.framing = ModelKind::classifier;
  corpus.format = {7, edges > 0, edges > 0 ? 3 : 0};
  corpus.labels = {"a", "b", "c"};
  corpus.splits["train"] = full_features(corpus.format, positions, edges);
  corpus.longest_input = positions;
  corpus.max_edges = edges;
  corpus.grid = std::move(grid);
  return corpus;
}

// One layer (encoder-decoder: one each), D = 4, F = 8, one head.
Experiment small(ModelKind kind) {
  Experiment e;
  e.model.kind = kind;
  e.model.layers = e.model.heads = 1;
  e.model.dim = 4;
  e.model.feed_forward = 8;
  e.train.batch_size = 2;
  return e;
}

Experiment learned_positions(int64_t layers, int64_t heads, int64_t dim, int64_t length) {
  Experiment e;
  e.model.kind = ModelKind::language_model;
  e.model.layers = layers;
  e.model.heads = heads;
  e.model.dim = dim;
  e.model.positional = {&positional_encodings::learned, length};
  return e;
}

int64_t count(const Experiment& e, int64_t vocabulary, int64_t length) {
  return summarize(e, corpus_for(e, vocabulary, 0, length)).parameters;
}

const SummaryPart& part(const Summary& summary, const std::string& name) {
  for (const SummaryPart& p : summary.parts)
    if (p.name == name) return p;
  FAIL("no part ", name);
  return summary.parts[0];
}

void check_flops(const Flops& flops, double forward, double backward) {
  CHECK(flops.forward == forward);
  CHECK(flops.backward == backward);
}

}  // namespace

TEST_CASE("summary: parameter counts match published models") {
  // The checkpoint of GPT-2 small (Radford et al. 2019).
  CHECK(count(learned_positions(12, 12, 768, 1024), 50257, 1024) == 124'439'808);
  // nanoGPT's character model of Shakespeare, without biases. nanoGPT reports 10,646,784, without
  // position embeddings.
  Experiment e = learned_positions(6, 6, 384, 256);
  e.model.bias = false;
  const Summary characters = summarize(e, corpus_for(e, 65, 0, 256));
  CHECK(characters.parameters == 10'646'784 + 256 * 384);
  CHECK(part(characters, "embedding").parameters == (65 + 256) * 384);
  // minGPT's adder of two digits, with a separate head without bias.
  e = learned_positions(2, 4, 128, 6);
  e.model.tie_weights = false;
  CHECK(count(e, 10, 6) == 400'128);
}

TEST_CASE("summary: FLOPs of a language model") {
  Experiment e = small(ModelKind::language_model);
  e.model.layers = 2;
  e.model.heads = 2;
  e.train.accumulate = 3;
  const Summary s = summarize(e, corpus_for(e, 7, 0, 5));
  // 6 sequences of 5: 30 rows. Four 4 × 4 matrices: 4 · 2 · 30 · 16 = 3840, and Q Kᵀ and P V:
  // 2 · 2 · 6 · 5 · 5 · 4 = 2400; backward 2 · 3840 + 5 / 2 · 2400.
  check_flops(part(s, "decoder.layers.0-1.attention").flops, 6240, 13680);
  // 4 × 8 and 8 × 4: 2 · 2 · 30 · 32.
  check_flops(part(s, "decoder.layers.0-1.feed_forward").flops, 3840, 7680);
  check_flops(part(s, "head").flops, 2 * 30 * 4 * 7, 4 * 30 * 4 * 7);
  CHECK(part(s, "head").parameters == 0);
  check_flops(part(s, "decoder.layers.0-1.attention_norm").flops, 0, 0);
  check_flops(part(s, "embedding").flops, 0, 0);
  check_flops(s.flops, 2 * (6240 + 3840) + 1680, 2 * (13680 + 7680) + 3360);
  e.model.activation = swiglu;  // three matrices
  check_flops(part(summarize(e, corpus_for(e, 7, 0, 5)), "decoder.layers.0-1.feed_forward").flops,
              5760, 11520);
}

TEST_CASE("summary: FLOPs and parameters of an encoder-decoder") {
  Experiment e = small(ModelKind::seq2seq);
  e.train.batch_size = 1;
  Corpus corpus = corpus_for(e, 6, 3, 2);
  corpus.target = task_vocabulary(7);
  const Summary s = summarize(e, corpus);
  // Ts = 3: 4 · 2 · 3 · 16 + 4 · 3 · 3 · 4; T = 2: 4 · 2 · 2 · 16 + 4 · 2 · 2 · 4.
  check_flops(part(s, "encoder.layers.0.attention").flops, 384 + 144, 768 + 360);
  check_flops(part(s, "encoder.layers.0.feed_forward").flops, 384, 768);
  check_flops(part(s, "decoder.layers.0.attention").flops, 256 + 64, 512 + 160);
  // Two matrices read 2 rows and two read 3: 2 · 2 · 2 · 16 + 2 · 2 · 3 · 16 + 4 · 2 · 3 · 4.
  check_flops(part(s, "decoder.layers.0.cross_attention").flops, 128 + 192 + 96, 640 + 240);
  check_flops(part(s, "decoder.layers.0.feed_forward").flops, 256, 512);
  check_flops(part(s, "head").flops, 2 * 2 * 28, 4 * 2 * 28);
  // Embeddings: 6 · 4 and 7 · 4. Norm: 8. Attention: 4 (16 + 4). Feed-forward: 32 + 8 + 32 + 4.
  CHECK(part(s, "source_embedding").parameters == 24);
  CHECK(part(s, "encoder.layers.0.feed_forward").parameters == 76);
  CHECK(part(s, "decoder.norm").parameters == 8);
  CHECK(s.parameters == 24 + 28 + (16 + 80 + 76) + 8 + (24 + 80 + 80 + 76) + 8);
  // Encoder and decoder of different depth.
  e.model.layers = 3;
  e.model.decoder_layers = 2;
  CHECK(summarize(e, corpus).parameters == 24 + 28 + 3 * 172 + 8 + 2 * 260 + 8);
  e.model.layers = 0;
  CHECK(summarize(e, corpus).parameters == 24 + 28 + 8 + 2 * 260 + 8);
}

TEST_CASE("summary: FLOPs and parameters of a classifier") {
  const Experiment e = small(ModelKind::classifier);
  const Summary s = summarize(e, corpus_for(e, 6, 0, 3));
  CHECK(s.parameters == 24 + 172 + 8 + (4 * 5 + 5));
  // The mean of 3 states: 2 · 2 · 3 · 4, and 2 · 2 · 20 for the classes.
  check_flops(part(s, "head").flops, 48 + 80, 48 + 160);
  check_flops(part(s, "encoder.layers.0.feed_forward").flops, 2 * 2 * 6 * 32, 4 * 2 * 6 * 32);
}

TEST_CASE("summary: frozen parameters have no gradient and no optimizer state") {
  Experiment e = small(ModelKind::language_model);
  e.model.layers = 12;
  const Corpus corpus = corpus_for(e, 7, 0, 5);
  const Summary all = summarize(e, corpus);
  CHECK(all.trained == all.parameters);
  e.train.freeze = {"decoder.layers.1.*", "decoder.layers.1?.feed_forward.*", "embedding.*"};
  const Summary s = summarize(e, corpus);
  CHECK(s.parameters == all.parameters);
  CHECK(s.trained == all.parameters - 172 - 2 * 76 - 28);
  CHECK(s.memory.parameters == 4.0 * static_cast<double>(s.parameters));
  CHECK(s.memory.gradients == 4.0 * static_cast<double>(s.trained));
  CHECK(part(s, "decoder.layers.2-9.attention").layers == 8);
  CHECK(part(s, "decoder.layers.10-11.attention").lines[0].trains);
  CHECK(!part(s, "decoder.layers.1.attention").lines[0].trains);
  // The gradient of a frozen matrix is not computed: backward has one matrix product, not two.
  check_flops(part(s, "decoder.layers.10-11.feed_forward").flops, 2 * 2 * 10 * 32, 2 * 2 * 10 * 32);
}

TEST_CASE("summary: memory equals values computed by hand") {
  Experiment e = small(ModelKind::language_model);
  e.model.heads = 2;
  e.model.dim = 256;
  e.train.accumulate = 3;
  const Corpus corpus = corpus_for(e, 7, 0, 5);
  Memory m = summarize(e, corpus).memory;
  CHECK(m.optimizer == 2 * m.gradients);
  CHECK(m.lasting() == 4 * m.parameters);
  CHECK(m.construction == 0);  // copies are smaller than the optimizer state
  CHECK(m.evaluation == 0);    // no data to evaluate
  e.optim.amsgrad = true;
  CHECK(summarize(e, corpus).memory.optimizer == 3 * m.gradients);
  e.optim = {};
  e.optim.kind = &optimizers::sgd;
  m = summarize(e, corpus).memory;
  CHECK(m.optimizer == 0);
  // The optimizer copies the parameters.
  CHECK(m.construction / m.parameters == doctest::Approx(1).epsilon(0.02));
  e.optim.momentum = 0.9;
  CHECK(summarize(e, corpus).memory.optimizer == m.gradients);
  // The batches of one step, and those of the next step in preparation.
  const double batches = m.batches;
  e.train.accumulate = 7;
  CHECK(summarize(e, corpus).memory.batches == 2 * batches);

  // 64 · 5 rows of 8 hidden values. GELU also keeps its derivative.
  e = small(ModelKind::language_model);
  e.train.batch_size = 64;
  const double relu = summarize(e, corpus).memory.activations;
  e.model.activation = Activation::gelu;
  CHECK(summarize(e, corpus).memory.activations >= relu + 4 * 64 * 5 * 8);
  // 50,000 rows: the loss computes at most 2^24 logits at once, in chunks.
  e.train.batch_size = 10'000;
  const auto activations = [&](int64_t vocabulary) {
    return summarize(e, corpus_for(e, vocabulary, 0, 5)).memory.activations;
  };
  CHECK(activations(4000) < activations(400) + 4.0 * (1 << 24));
}

TEST_CASE("summary: the memory estimate matches a real evaluation") {
  Experiment e = small(ModelKind::language_model);
  e.train.evaluate_batch_size = 1'000'000;
  Corpus corpus = corpus_for(e, 50, 0, 16);
  corpus.splits["val"] = full(ModelKind::language_model, 0, 16);
  const Summary s = summarize(e, corpus);
  CHECK(s.step.evaluation_batch == 100);
  const auto model = make_model(e.model, model_sizes(e, corpus));
  pool_trim();
  const int64_t before = pool_statistics().live_bytes;
  pool_reset_peak();
  evaluate(*model, corpus.splits.at("val"), corpus.framing, 100);
  CHECK(s.memory.evaluation ==
        doctest::Approx(pool_statistics().peak_bytes - before).epsilon(0.02));
}

namespace {

// Returns the memory that a step takes while it runs.
double measured_memory(const Experiment& e, const Corpus& corpus) {
  pool_trim();
  Trainer trainer(e, corpus);
  const int64_t lasting = pool_statistics().live_bytes;
  pool_reset_peak();
  static_cast<void>(trainer.step());
  return static_cast<double>(pool_statistics().peak_bytes - lasting);
}

// Returns estimated / measured memory of a step, without parameters, gradients and optimizer state.
double estimate_over_measured(const Experiment& e, const Corpus& corpus) {
  const Memory estimate = summarize(e, corpus).memory;
  return (estimate.batches + estimate.activations + estimate.backward) / measured_memory(e, corpus);
}

double estimate_over_measured(Experiment e) {
  e.model.layers = 3;
  return estimate_over_measured(e, corpus_for(e, 500, 24, 32));
}

}  // namespace

TEST_CASE("summary: the memory estimate matches a real step") {
  for (const ModelKind kind :
       {ModelKind::seq2seq, ModelKind::language_model, ModelKind::classifier})
    for (const FeedForwardActivation activation :
         {FeedForwardActivation{Activation::relu}, FeedForwardActivation{Activation::gelu}, swiglu})
      for (const double dropout : {0.0, 0.1}) {
        Experiment e;
        e.model.kind = kind;
        e.model.activation = activation;
        e.model.dropout = dropout;
        CAPTURE(static_cast<int>(kind));
        CAPTURE(name_of(feed_forward_activation_names, activation));
        CAPTURE(dropout);
        CHECK(estimate_over_measured(e) == doctest::Approx(1).epsilon(0.02));
      }
}

TEST_CASE("summary: the memory estimate matches for every attention and mixing") {
  using Change = void (*)(ModelOptions&);
  const std::pair<std::string, Change> forms[] = {
      {"additive", [](ModelOptions& m) { m.attention.similarity = &similarities::additive; }},
      {"cosine", [](ModelOptions& m) { m.attention.similarity = &similarities::cosine; }},
      {"gaussian", [](ModelOptions& m) { m.attention.similarity = &similarities::gaussian; }},
      {"count", [](ModelOptions& m) { m.attention.normaliser = &normalisers::count; }},
      {"alibi", [](ModelOptions& m) { m.positional.kind = &positional_encodings::alibi; }},
      {"rotary", [](ModelOptions& m) { m.positional.kind = &positional_encodings::rotary; }},
      {"wide", [](ModelOptions& m) { m.attention.head_width = HeadWidth::wide; }},
      {"convolution", [](ModelOptions& m) { m.mixing.kind = &mixings::convolution; }},
      {"scalar convolution",
       [](ModelOptions& m) {
         m.mixing.kind = &mixings::convolution, m.mixing.scalar_kernel = true;
       }},
      {"gru", [](ModelOptions& m) { m.mixing.kind = &mixings::gru; }},
      {"lstm", [](ModelOptions& m) { m.mixing.kind = &mixings::lstm; }},
      {"induced", [](ModelOptions& m) { m.mixing.kind = &mixings::induced_attention; }},
      {"wide encoder", [](ModelOptions& m) { m.kind = ModelKind::seq2seq, m.encoder_dim = 256; }},
      {"dense", [](ModelOptions& m) { m.mixing.kind = &mixings::dense; }},
      {"full",
       [](ModelOptions& m) {
         m.mixing.kind = &mixings::dense, m.mixing.full_matrix = true, m.mixing.length = 32;
       }},
  };
  for (const auto& form : forms) {
    const auto& [name, change] = form;
    CAPTURE(form.first);
    Experiment e;
    e.model.kind = ModelKind::classifier;
    change(e.model);
    CHECK(estimate_over_measured(e) == doctest::Approx(1).epsilon(0.02));
  }
}

TEST_CASE("summary: the memory estimate includes edges of graphs and axes of grids") {
  Experiment graph;
  graph.model.kind = ModelKind::classifier;
  graph.model.mixing.kind = &mixings::graph_attention;
  const Corpus sparse = features_corpus({}, 12, 40), dense = features_corpus({}, 12, 144);
  for (const Corpus* corpus : {&sparse, &dense})
    CHECK(estimate_over_measured(graph, *corpus) == doctest::Approx(1).epsilon(0.02));
  const Summary few = summarize(graph, sparse), many = summarize(graph, dense);
  CHECK(many.memory.activations > 2 * few.memory.activations);
  CHECK(many.flops.total() > few.flops.total());  // keys and values of edges

  Experiment grid;
  grid.model.kind = ModelKind::classifier;
  const Corpus cells = features_corpus({6, 8}, 48, 0);
  CHECK(estimate_over_measured(grid, cells) == doctest::Approx(1).epsilon(0.02));
  const double all = summarize(grid, cells).flops.total();
  grid.model.attention.axes = {1};
  CHECK(estimate_over_measured(grid, cells) == doctest::Approx(1).epsilon(0.02));
  CHECK(summarize(grid, cells).flops.total() < all);
}

TEST_CASE("summary: the memory estimate of shards, whose gradients wait for one another") {
  Experiment e;
  e.model.layers = 3;
  const Corpus corpus = corpus_for(e, 500, 24, 32);
  const Summary whole = summarize(e, corpus);
  const int before = thread_count();
  set_thread_count(1);
  e.train.shards = 4;  // one thread computes them one by one; two arrays wait
  const Summary s = summarize(e, corpus);
  CHECK(s.memory.gradients == 3 * whole.memory.gradients);
  Trainer trainer(e, corpus);
  const int64_t live = pool_statistics().live_bytes;
  const Handle<Storage> array = trainer.optimizer().layout().arena.similar();
  const auto waiting = static_cast<double>(2 * (pool_statistics().live_bytes - live));
  CHECK(s.memory.batches + s.memory.activations + s.memory.backward + waiting ==
        doctest::Approx(measured_memory(e, corpus)).epsilon(0.02));
  set_thread_count(4);
  const Summary four = summarize(e, corpus);
  CHECK(four.memory.gradients == 4 * whole.memory.gradients);
  CHECK(four.memory.activations == 4 * s.memory.activations);
  CHECK(four.flops.total() == doctest::Approx(whole.flops.total()).epsilon(0.01));
  set_thread_count(before);
}

TEST_CASE("summary: each of several ranks has its part of the optimizer state") {
  Experiment e;
  e.train.shards = 4;
  const Corpus corpus = corpus_for(e, 500, 24, 32);
  const Memory whole = summarize(e, corpus).memory;
  on_ranks(4, [&] {
    const Memory own = summarize(e, corpus).memory;
    CHECK(own.optimizer == whole.optimizer / 4);
    CHECK(own.gradients == whole.parameters);  // no other shard waits
    CHECK(own.batches == whole.batches / 4);
  });
}

TEST_CASE("summary: models larger than the machine are rejected without their work") {
#ifdef __SANITIZE_THREAD__
  MESSAGE("skipped: the thread sanitizer maps memory of its own for the addresses of the weights");
  return;
#endif
  Experiment e;
  e.model.kind = ModelKind::language_model;
  e.model.layers = 500;
  const Corpus corpus = corpus_for(e, 65, 0, 64);
  pool_trim();
  const int64_t held = pool_statistics().held_bytes;
  const auto requests_at = [&](int64_t dim) {  // for memory
    e.model.dim = dim;
    const int64_t before = allocations();
    summarize(e, corpus);
    return allocations() - before;
  };
  const int64_t small = requests_at(60);
  CHECK((requests_at(60000) < 2 * small || !allocations_are_counted));
  const Summary s = summarize(e, corpus);
  CHECK(pool_statistics().held_bytes == held);
  const std::string text = thrown<InputError>([&] { check_memory(s); });
  CHECK_CONTAINS(text, "parameters, gradients and optimizer state take 314.3 TiB");
  CHECK_CONTAINS(text, "lower `model.dim`, `model.feed_forward` or `model.layers`");

  // The largest values that a config allows.
  e.model.kind = ModelKind::seq2seq;
  e.model.dim = 1 << 16;
  e.model.layers = 1000;
  e.model.feed_forward = 1 << 20;
  e.train.batch_size = e.train.accumulate = 1'000'000;
  e.train.freeze = {"*.weight"};
  const Summary largest = summarize(e, corpus_for(e, 65, 30, 30));
  CHECK(std::isfinite(largest.flops.total()));
  CHECK(largest.parameters > 300'000'000'000'000);
  CHECK(!table(largest).empty());
  CHECK_THROWS_AS(check_memory(largest), InputError);

  int64_t length = 1 << 20;  // an array is larger than the address space
  const auto error_of = [&] {
    return thrown<InputError>([&] { summarize(e, corpus_for(e, 65, length, length)); });
  };
  const std::string too_long = error_of();
  CHECK_CONTAINS(too_long, "the model cannot be computed: ");
  CHECK_CONTAINS(too_long, "train.batch_size");
  length = 8;
  e.model.dim = int64_t{1} << 40;
  CHECK_CONTAINS(error_of(), "model: dim: expected an integer, 1 … 65536");
  e.model.dim = 64;
  e.model.layers = int64_t{1} << 60;
  e.train.freeze = {};
  CHECK_CONTAINS(error_of(), "lower `model.layers`");
}

TEST_CASE("summary: large or long trainings are announced, others are not") {
  const Experiment e = small(ModelKind::language_model);
  const Corpus corpus = corpus_for(e, 65, 0, 50);
  BatchPositions positions = batch_positions(e, corpus, 10);
  CHECK(positions.median == 2 * 50);
  CHECK(positions.longest == 2 * 50);
  CHECK(positions.mean_flops == 2 * 50 * (6 * 10 + 12 * 4 * 50));
  CHECK(positions.first_flops == positions.mean_flops);
  Summary s = summarize(e, corpus);
  s.available = 2 * s.memory.peak();
  CHECK(size_notice(s, positions) == "");
  positions.longest = 10 * positions.median;
  CHECK(size_notice(s, positions) == "");
  ++positions.longest;
  CHECK_CONTAINS(size_notice(s, positions),
                 "longest batch: 2 sequences of 50, 10 times the median one; memory: about ");
  positions.longest = positions.median;
  s.memory = {.parameters = 3 << 20};
  s.available = 5 << 20;
  CHECK(size_notice(s, positions) ==
        "longest batch: 2 sequences of 50; memory: about 3 MiB at the peak, 5 MiB are left");
  positions.mean_flops = 2 * positions.first_flops;
  CHECK(time_notice({1.5}, positions, 1200) ==
        "duration: about 1:00:00 for 1200 steps, by one measured step of 1.500 s");
  CHECK(time_notice({1.5, 4096}, positions, 1200) ==
        "duration: about 1:00:00 for 1200 steps, by one measured step of 4,096 tokens of each "
        "sequence");
  const FirstStep first = first_step(e, corpus, 10, positions);
  CHECK(first.seconds > 0);
  CHECK(first.longest == 0);
}

TEST_CASE("summary: a step that takes minutes is announced, and measured on a part of it") {
  for (const ModelKind kind :
       {ModelKind::seq2seq, ModelKind::language_model, ModelKind::classifier}) {
    const Experiment e = small(kind);
    Corpus corpus = corpus_for(e, 65, 1'000'000, 1'000'000);
    corpus.splits.at("train").size = 4;
    const BatchPositions positions = batch_positions(e, corpus, 10);
    CHECK(positions.median == positions.longest);
    CHECK(positions.longest_flops == positions.mean_flops);
    CHECK(positions.longest_flops > slow_flops);
    Summary s = summarize(e, corpus);
    s.available = 3 * s.memory.peak();
    CHECK_CONTAINS(size_notice(s, positions), "longest batch: 2 ");
    // As if the model had a billion parameters, so that no part has few FLOPs.
    const FirstStep first = first_step(e, corpus, 1'000'000'000, positions);
    CHECK(first.longest == 64);
    CHECK(first.seconds > 0);
  }
}

TEST_CASE("summary: an evaluation that does not fit names a batch that does") {
  Experiment e = small(ModelKind::seq2seq);
  e.train.evaluate_batch_size = 100;
  Corpus corpus = corpus_for(e, 65, 40'000, 40'000);  // the longest of all splits
  corpus.splits["short"] = full(corpus.framing, 10, 10);
  corpus.splits["long"] = full(corpus.framing, 2000, 2000);
  check_evaluation_memory(e, corpus, "short", 4 << 20);
  const std::string text =
      thrown<InputError>([&] { check_evaluation_memory(e, corpus, "long", 16 << 20); });
  CHECK_CONTAINS(text, "evaluating batches of 100 pairs of 2,000 and 2,000 needs about ");
  CHECK_CONTAINS(text, "this machine has 16 MiB left; use --set train.evaluate_batch_size=");
  e.train.evaluate_batch_size = std::stoi(text.substr(text.rfind('=') + 1));
  CHECK(e.train.evaluate_batch_size < 100);
  check_evaluation_memory(e, corpus, "long", 16 << 20);
  CHECK_CONTAINS(thrown<InputError>([&] { check_evaluation_memory(e, corpus, "long", 1000); }),
                 "one example alone does not fit");
}

TEST_CASE("summary: lines that do not fit together are refused") {
  for (const ModelKind kind :
       {ModelKind::seq2seq, ModelKind::classifier, ModelKind::language_model}) {
    const Experiment e = small(kind);
    const Corpus corpus = corpus_for(e, 65, 8, 8);
    const auto check = [&](size_t tokens, double available) {
      const std::vector<Sequence> lines(32, Sequence(tokens, 1));
      check_lines_memory(e, corpus, lines, available);
    };
    check(1000, 0);  // few tokens
    check(20'000, 1e12);
    CHECK_CONTAINS(thrown<InputError>([&] { check(20'000, 1 << 20); }),
                   "--input: 32 lines of up to 20,000 tokens need about ");
  }
}

TEST_CASE("summary: the error names the largest memory use and the keys that reduce it") {
  Experiment e;
  const Corpus corpus = corpus_for(e, 65, 8, 8);
  Summary s = summarize(e, corpus);
  check_memory(s);
  s.memory.parameters = 1e9;
  s.available = 1000;
  const auto error_of = [&] { return thrown<InputError>([&] { check_memory(s); }); };
  CHECK_CONTAINS(error_of(), "this machine has 1000 B: parameters");
  s.memory.activations = 1e12;
  CHECK_CONTAINS(error_of(), "take 931.3 GiB; lower `train.batch_size`");
  s.memory.evaluation = 1e13;
  CHECK_CONTAINS(error_of(), "lower `train.evaluate_batch_size`");
  s.memory.batches = 1e14;
  CHECK_CONTAINS(error_of(), "lower `train.accumulate`");
  s.available = s.memory.peak();
  check_memory(s);

  e = learned_positions(1, 1, 8, 1 << 16);
  s = summarize(e, corpus_for(e, 65, 0, 8));
  s.available = 1000;
  CHECK_CONTAINS(error_of(), "model.positional.max_length");
  e.model.positional.max_length = 4;
  CHECK_CONTAINS(thrown<InputError>([&] { summarize(e, corpus_for(e, 65, 0, 8)); }),
                 "`model.positional.max_length` = 4 is too small");
  e.model.positional.max_length = 8;
  CHECK_NOTHROW(model_sizes(e, corpus_for(e, 65, 0, 8)));
  e.model.positional.max_length = 7;
  CHECK_THROWS_AS(model_sizes(e, corpus_for(e, 65, 0, 8)), InputError);
  e.model.positional.kind = &positional_encodings::none;
  e.model.mixing.kind = &mixings::dense;
  e.model.mixing.length = 8;
  CHECK_NOTHROW(model_sizes(e, corpus_for(e, 65, 0, 8)));
  e.model.mixing.length = 7;
  CHECK_CONTAINS(thrown<InputError>([&] { model_sizes(e, corpus_for(e, 65, 0, 8)); }),
                 "`model.block.length` = 7 is too small");
}

TEST_CASE("summary: prints a table") {
  Experiment e = learned_positions(12, 12, 768, 1024);
  e.train.batch_size = 12;
  e.train.accumulate = 40;
  e.train.freeze = {"embedding.position.weight"};
  std::string text = table(summarize(e, corpus_for(e, 50257, 0, 1024)));
  for (size_t at; (at = text.find("  ")) != text.npos;) text.erase(at, 1);
  for (const char* line : {
           "\n token.weight 50257 × 768 38,597,376\n",
           "\n position.weight 1024 × 768 786,432 frozen\n",
           "\ndecoder.layers.0-11.feed_forward 4,722,432 13.92 TFLOP × 12\n",
           "\nhead tied 0 150.8 TFLOP\n",  // the chunked loss computes the logits twice
           "\nparameters 124,439,808\n that train 123,653,376\n",
           " for 40 × 12 sequences of 1,024\n",
           "\n parameters 474.7 MiB\n",
       })
    CHECK_CONTAINS(text, line);
}
