// A language model of one's own from heed's layers, its training loop, and its weights in a file.
//
// The model learns to count: 0 1 2 … 9 0 1 2 …, from any digit on.
#include <fmt/core.h>

#include <heed/heed.h>

using namespace heed;

// Embedding, a stack of causal layers, and a linear layer to the logits of the next token.
class CountingModel : public Module {
 public:
  explicit CountingModel(int64_t vocabulary)
      : embedding_(this, "embedding", vocabulary, options().dim),
        layers_(this, "layers", options(), 2),
        logits_(this, "logits", options().dim, vocabulary) {}
  // ids (B, T) → logits (B, T, vocabulary)
  Tensor operator()(const Ids& ids) const {
    return logits_(layers_(embedding_(ids), SequenceContext{}));
  }

 private:
  static ModelOptions options() {
    ModelOptions block;
    block.dim = 32;
    block.heads = 2;
    block.attention.causal = true;
    block.dropout = 0.1;
    return block;
  }
  Part<Embedding> embedding_;
  Part<Encoder> layers_;
  Part<Linear> logits_;
};

int main() {
  scope().seed = 1;
  scope().training = true;  // without this line dropout does nothing
  constexpr int64_t B = 8, T = 12;
  CountingModel model(10);
  Optimizer optimizer({.lr = 3e-3, .clip_norm = 1}, model.parameters());
  Random random(1, Purpose::test);
  for (int step = 1; step <= 200; ++step) {
    Ids input = Ids::empty({B, T}), target = Ids::empty({B, T});
    for (int64_t b = 0; b < B; ++b) {
      const auto first = static_cast<int32_t>(random.below(10));
      for (int32_t t = 0; t < T; ++t) {
        input.mutable_data()[b * T + t] = (first + t) % 10;
        target.mutable_data()[b * T + t] = (first + t + 1) % 10;
      }
    }
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(model(input).reshape({B * T, 10}), target.reshape({B * T}));
    backward(loss);
    optimizer.step();
    if (step % 100 == 0) fmt::print("step {}: loss {:.3f}\n", step, loss.item());
  }
  save(model, "decoder.safetensors");

  // Another model, with the saved weights, continues 7.
  CountingModel loaded(10);
  load(loaded, "decoder.safetensors");
  scope().training = false;
  scope().gradients = false;
  std::vector<int32_t> ids{7};
  while (ids.size() < 6) {
    const Tensor logits = loaded(Ids::from({1, static_cast<int64_t>(ids.size())}, ids));
    const real* last = logits.data() + logits.size() - 10;
    ids.push_back(static_cast<int32_t>(std::max_element(last, last + 10) - last));
  }
  fmt::print("{}\n", Ids::from({6}, ids));
}
