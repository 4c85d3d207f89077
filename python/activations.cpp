#include "python/activations.h"

#include <map>
#include <numeric>
#include <pybind11/numpy.h>

#include "apps/inference/attended_example.h"
#include "apps/inference/padded.h"
#include "apps/inference/scores.h"
#include "apps/training/saved_run.h"
#include "core/joined.h"
#include "core/named.h"
#include "core/text.h"
#include "data/batch.h"
#include "nn/tap.h"

namespace py = pybind11;

namespace heed {
namespace {

constexpr Named<Site> site_names[] = {
    {"tokens", Site::tokens},
    {"embedded", Site::embedded},
    {"queries", Site::queries},
    {"keys", Site::keys},
    {"values", Site::values},
    {"scores", Site::scores},
    {"weights", Site::weights},
    {"heads", Site::heads},
    {"head_outputs", Site::head_outputs},
    {"preactivation", Site::preactivation},
    {"activation", Site::activation},
    {"scale", Site::scale},
    {"normalised", Site::normalised},
    {"sublayer", Site::sublayer},
    {"stream", Site::stream},
    {"logits", Site::logits},
};

// Keeps what every site shows. A layer that computes again in one forward pass replaces it.
class Recording final : public Tap {
 public:
  explicit Recording(const Model& model) : names_(model.part_names()) {}
  bool wants(const Module& layer, Site) override { return names_.contains(&layer); }
  Tensor see(const Module& layer, Site site, const Tensor& value) override {
    const std::string& name = names_.at(&layer);
    values[(name.empty() ? "" : name + ".") + name_of(site_names, site)] = value;
    return {};
  }

  std::map<std::string, Tensor> values;

 private:
  const std::unordered_map<const Module*, std::string> names_;
};

// Returns an array that keeps the tensor's memory. It cannot be written to: other arrays may share
// it.
py::array array_of(const Tensor& tensor) {
  auto kept = std::make_unique<Tensor>(tensor);
  std::vector<py::ssize_t> shape;
  for (int i = 0; i < tensor.rank(); ++i) shape.push_back(tensor.dim(i));
  const real* const data = kept->data();
  const py::capsule owner(kept.get(), [](void* pointer) { delete static_cast<Tensor*>(pointer); });
  kept.release();
  py::array_t<real> array(shape, data, owner);
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

// Computes what `inputs(corpus)` returns, without the interpreter.
template <class Inputs>
py::dict forward(const Run& run, bool cache, const Inputs& inputs) {
  std::map<std::string, Tensor> values;
  {
    const py::gil_scoped_release released;
    const TrainedModel::Here here(run.loaded());
    const auto given = inputs();
    std::optional<Recording> recording;
    if (cache) recording.emplace(run.model());
    const Tensor logits = run.model().logits(given);
    if (cache) values = std::move(recording->values);
    values["logits"] = logits;
  }
  py::dict arrays;
  for (const auto& [name, tensor] : values) arrays[py::str(name)] = array_of(tensor);
  return arrays;
}

Padded all_padded(const std::vector<Sequence>& all) {
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  return padded(all, order);
}

Sequence sequence_of(const Ids& ids) { return {ids.data(), ids.data() + ids.size()}; }

// Returns the inputs of a model that reads tokens. `sources` are none but for an encoder-decoder.
Inputs inputs_of(const std::vector<Sequence>& sources, const std::vector<Sequence>& inputs) {
  Inputs all;
  if (!sources.empty()) {
    const Padded source = all_padded(sources);
    all.source = source.ids, all.source_lengths = source.lengths;
  }
  const Padded input = all_padded(inputs);
  all.input = input.ids, all.input_lengths = input.lengths;
  return all;
}

void check_reads_tokens(const Run& run) {
  check_input(run.loaded().corpus.format.features == 0,
              "{}: the model reads vectors; name examples of its data: forward(examples=[0])",
              run.loaded().path());
}

// Checks the ids of a row of tokens against the vocabulary that embeds them.
void check_tokens(const char* what, const std::vector<Sequence>& all, const TextCodec* codec) {
  const auto size = codec ? static_cast<int64_t>(codec->vocabulary().size()) : 0;
  for (size_t i = 0; i < all.size(); ++i) {
    check_input(!all[i].empty(), "{} {}: expected at least one token", what, i);
    for (const int32_t id : all[i])
      check_input(id >= 0 && (size == 0 || id < size),
                  "{} {}: there is no token {}; the vocabulary has {}", what, i, id, size);
  }
}

template <class T>
void check_counts(size_t count, const std::optional<std::vector<T>>& targets) {
  check_input(count > 0, "forward: expected at least one input");
  check_input(!targets || targets->size() == count,
              "forward: expected a target for each of {} inputs, found {}", count,
              targets ? targets->size() : 0);
}

}  // namespace

py::dict forward_texts(const Run& run, const std::vector<std::string>& texts,
                       const std::optional<std::vector<std::string>>& targets, bool cache) {
  return forward(run, cache, [&] {
    check_counts(texts.size(), targets);
    check_reads_tokens(run);
    const TrainedModel& loaded = run.loaded();
    std::vector<Sequence> sources, inputs;
    for (size_t i = 0; i < texts.size(); ++i) {
      ExampleRequest request;
      request.text = texts[i];
      if (targets) request.target = (*targets)[i];
      const AttendedExample example = in_context(fmt::format("text {}", i), [&] {
        return attended_example(request, loaded.experiment(), loaded.corpus, *loaded.model);
      });
      if (example.inputs.source) sources.push_back(sequence_of(example.inputs.source));
      inputs.push_back(sequence_of(example.inputs.input));
    }
    return inputs_of(sources, inputs);
  });
}

py::dict forward_tokens(const Run& run, const std::vector<std::vector<int32_t>>& tokens,
                        const std::optional<std::vector<std::vector<int32_t>>>& targets,
                        bool cache) {
  return forward(run, cache, [&] {
    check_counts(tokens.size(), targets);
    check_reads_tokens(run);
    const Corpus& corpus = run.loaded().corpus;
    const bool has_encoder = run.model().kind() == ModelKind::seq2seq;
    check_input(has_encoder || !targets,
                "forward: only an encoder-decoder has targets with its tokens");
    check_input(!has_encoder || targets,
                "forward: an encoder-decoder needs targets with its tokens");
    check_tokens("row", tokens, corpus.source ? corpus.source.get() : corpus.target.get());
    if (!has_encoder) return inputs_of({}, tokens);
    std::vector<Sequence> inputs;
    for (const Sequence& target : *targets) {
      inputs.push_back({corpus.target->vocabulary().begin()});
      inputs.back().insert(inputs.back().end(), target.begin(), target.end());
    }
    check_tokens("target", inputs, corpus.target.get());
    return inputs_of(tokens, inputs);
  });
}

py::dict forward_examples(const Run& run, const std::vector<int64_t>& examples,
                          const std::string& split, bool cache) {
  return forward(run, cache, [&] {
    check_input(!examples.empty(), "forward: expected at least one example");
    const TrainedModel& loaded = run.loaded();
    const Corpus corpus = loaded.run.data(loaded.checkpoint);
    const std::string name = split_or_default(corpus, split);
    const Dataset& all = split_of(corpus, name);
    for (const int64_t i : examples)
      check_input(0 <= i && i < all.size, "example {}: {} has {} examples, counted from 0", i, name,
                  all.size);
    Dataset chosen = all;
    chosen.size = std::ssize(examples);
    chosen.get = [&](int64_t i, Example& example) {
      all.get(examples[static_cast<size_t>(i)], example);
    };
    Batch batch;
    Batches::in_order(chosen, corpus.framing, chosen.size).get(0, batch);
    return batch;
  });
}

}  // namespace heed
