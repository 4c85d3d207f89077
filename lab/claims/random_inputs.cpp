#include "lab/claims/random_inputs.h"

#include <algorithm>
#include <numeric>

#include "core/check.h"
#include "core/scope.h"
#include "lab/claims/samples.h"

namespace heed::claims {
namespace {

constexpr int64_t decoder_time = 8;

Ids random_tokens(int64_t count, int64_t vocabulary) {
  Random random(scope().next_stream(Purpose::test));
  Ids ids = Ids::empty({1, count});
  for (int64_t t = 0; t < count; ++t)
    ids.mutable_data()[t] = static_cast<int32_t>(random.below(static_cast<uint64_t>(vocabulary)));
  return ids;
}

// An edge between any two nodes with probability 0.3, and from each node to itself.
std::shared_ptr<const Edges> random_edges(int64_t nodes, int64_t features) {
  Random random(scope().next_stream(Purpose::test));
  std::vector<int32_t> senders, receivers;
  for (int32_t to = 0; to < nodes; ++to)
    for (int32_t from = 0; from < nodes; ++from)
      if (from == to || random.uniform() < 0.3) {
        senders.push_back(from);
        receivers.push_back(to);
      }
  const auto count = static_cast<int64_t>(senders.size());
  return std::make_shared<Edges>(Edges{Ids::from({count}, senders), Ids::from({count}, receivers),
                                       features > 0 ? normal({count, features}) : Tensor()});
}

// Random different tokens at [first, last), unless the vocabulary has only one.
Ids with_replaced(const Ids& tokens, int64_t first, int64_t last, int64_t vocabulary) {
  std::vector<int64_t> replaced(tokens.data(), tokens.data() + tokens.size());
  Random random(scope().next_stream(Purpose::test));
  for (int64_t t = first; t < last && vocabulary > 1; ++t) {
    const auto step = 1 + random.below(static_cast<uint64_t>(vocabulary - 1));
    int64_t& token = replaced[static_cast<size_t>(t)];
    token = (token + static_cast<int64_t>(step)) % vocabulary;
  }
  return Ids::from(tokens.shape(), replaced);
}

int64_t input_length(const Subject& subject, int64_t padding) {
  const ModelOptions& o = subject.options;
  if (!subject.sizes.grid.empty()) return Shape(subject.sizes.grid).size();
  int64_t time = 12 + padding;
  if (o.positional.kind == &positional_encodings::learned)
    time = std::min(time, o.positional.max_length);
  if (o.mixing.kind == &mixings::dense) time = std::min(time, o.mixing.length);
  check_input(time - padding >= 3, "the model reads {} positions, which is too few to permute",
              time);
  return time;
}

}  // namespace

bool reads_edges(const ModelOptions& options) {
  return options.mixing.kind == &mixings::graph_attention || options.attention.graph_distances > 0;
}

RandomInputs::RandomInputs(const Subject& subject, int64_t padding)
    : subject_(subject), time_(input_length(subject, padding)) {
  const ModelSizes& sizes = subject.sizes;
  if (sizes.features > 0)
    inputs_.features = normal({1, time_, sizes.features});
  else
    tokens(inputs_) = random_tokens(time_, vocabulary());
  lengths(inputs_) = Ids::full({1}, static_cast<int32_t>(time_));
  if (reads_edges(subject.options)) inputs_.edges = random_edges(time_, sizes.edge_features);
  if (subject.options.kind != ModelKind::seq2seq) return;
  const bool learned = subject.options.positional.kind == &positional_encodings::learned;
  const int64_t target =
      std::min(decoder_time, learned ? subject.options.positional.max_length : decoder_time);
  inputs_.input = random_tokens(target, sizes.vocabulary);
  inputs_.input_lengths = Ids::full({1}, static_cast<int32_t>(target));
}

Ids& RandomInputs::tokens(Inputs& inputs) const {
  return subject_.options.kind == ModelKind::seq2seq ? inputs.source : inputs.input;
}

Ids& RandomInputs::lengths(Inputs& inputs) const {
  return subject_.options.kind == ModelKind::seq2seq ? inputs.source_lengths : inputs.input_lengths;
}

int64_t RandomInputs::vocabulary() const {
  const bool is_seq2seq = subject_.options.kind == ModelKind::seq2seq;
  return is_seq2seq ? subject_.sizes.source_vocabulary : subject_.sizes.vocabulary;
}

Inputs RandomInputs::selected(const Ids& from) const {
  Inputs moved = inputs_;
  lengths(moved) = Ids::full({1}, static_cast<int32_t>(from.size()));
  if (inputs_.features) {
    moved.features = permuted(inputs_.features, from);
  } else {
    Ids& to = tokens(moved);
    const Ids old = to;
    to = Ids::empty({1, from.size()});
    for (int64_t t = 0; t < from.size(); ++t) to.mutable_data()[t] = old[from[t]];
  }
  if (inputs_.edges) moved.edges = selected_edges(from);
  return moved;
}

std::shared_ptr<const Edges> RandomInputs::selected_edges(const Ids& from) const {
  Ids moved_to = Ids::full({time_}, -1);  // the inverse of `from`
  for (int32_t t = 0; t < from.size(); ++t) moved_to.mutable_data()[from[t]] = t;
  std::vector<int32_t> kept, senders, receivers;
  for (int32_t e = 0; e < inputs_.edges->sender.size(); ++e) {
    const int32_t sender = moved_to[inputs_.edges->sender[e]];
    const int32_t receiver = moved_to[inputs_.edges->receiver[e]];
    if (sender < 0 || receiver < 0) continue;
    kept.push_back(e);
    senders.push_back(sender);
    receivers.push_back(receiver);
  }
  const Shape count{static_cast<int64_t>(kept.size())};
  const Tensor& features = inputs_.edges->features;
  return std::make_shared<Edges>(
      Edges{Ids::from(count, senders), Ids::from(count, receivers),
            features ? embedding(features, Ids::from(count, kept)) : features});
}

Inputs RandomInputs::replaced(int64_t first, int64_t last) const {
  Inputs changed = inputs_;
  if (!inputs_.features) {
    tokens(changed) = with_replaced(tokens(changed), first, last, vocabulary());
    return changed;
  }
  const Tensor& x = inputs_.features;
  const Tensor others = slice(normal(x.shape()), 1, first, last);
  changed.features = concat({slice(x, 1, 0, first), others, slice(x, 1, last, time_)}, 1);
  return changed;
}

Inputs RandomInputs::with_another_target(int64_t first, int64_t last) const {
  Inputs changed = inputs_;
  changed.input = with_replaced(inputs_.input, first, last, subject_.sizes.vocabulary);
  return changed;
}

Inputs RandomInputs::padded_after(int64_t length) const {
  Inputs padded = inputs_;
  lengths(padded) = Ids::full({1}, static_cast<int32_t>(length));
  padded.edges = truncated(length).edges;
  return padded;
}

Inputs RandomInputs::truncated(int64_t length) const {
  Ids first = Ids::empty({length});
  std::iota(first.mutable_data(), first.mutable_data() + length, 0);
  return selected(first);
}

}  // namespace heed::claims
