// An attention of one's own inside heed's layers: talking heads (Shazeer et al. 2020).
//
// The scores of all heads are mixed by a matrix before the softmax, P = softmax(M S), where S has
// one (Tq, Tk) matrix for each of H heads and M is (H, H), at first the identity.
#include <fmt/core.h>

#include <heed/heed.h>

using namespace heed;

class TalkingHeads : public MultiHeadAttention {
 public:
  TalkingHeads(int64_t dim, int64_t heads, const MultiHeadAttentionOptions& options = {})
      : MultiHeadAttention(dim, heads, options),
        mix_(this, "mix", constant_parameter({heads, heads}, 0)) {
    for (int64_t h = 0; h < heads; ++h) mix_.mutable_data()[h * heads + h] = 1;
  }

 protected:
  // M S; S is the scores of the base, (B, H, Tq, Tk).
  Tensor scores(const Tensor& q, const Tensor& k, const Tensor& bias) const override {
    const Tensor s = MultiHeadAttention::scores(q, k, bias);
    return matmul(mix_, s.reshape({s.dim(0), s.dim(1), s.dim(2) * s.dim(3)})).reshape(s.shape());
  }
  // The fused kernel would not mix, so the layer computes its steps one by one.
  Tensor fused(const Tensor&, const KeyValues&, const KeepMask&) const override { return {}; }

 private:
  Part<Tensor> mix_;  // a Part registers itself, so the optimizer finds it
};

// How a model names and makes the sublayer.
const MixingRule talking_heads = {
    .name = "attention",
    .make = [](const ModelOptions& o, const LinearOptions& linear) -> std::unique_ptr<Mixing> {
      return std::make_unique<TalkingHeads>(o.dim, o.heads,
                                            MultiHeadAttentionOptions{.linear = linear});
    }};

int main() {
  scope().seed = 1;
  ModelOptions block;
  block.dim = 16;
  block.heads = 2;
  block.mixing.kind = &talking_heads;
  const Encoder encoder(block, 2);
  Random random(1, Purpose::test);
  Tensor x = Tensor::empty({3, 5, 16});
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = static_cast<real>(random.normal());

  // Train it to return its input backwards, (B, T, D) → the positions in reverse.
  Optimizer optimizer({.lr = 1e-2, .clip_norm = 1}, encoder.parameters());
  const Tensor target = concat({slice(x, 1, 4, 5), slice(x, 1, 3, 4), slice(x, 1, 2, 3),
                                slice(x, 1, 1, 2), slice(x, 1, 0, 1)},
                               1);
  double first = 0, last = 0;
  for (int step = 0; step < 200; ++step) {
    optimizer.zero_grad();
    const Tensor loss = mse_loss(encoder(x, SequenceContext{}), target);
    (step == 0 ? first : last) = loss.item();
    backward(loss);
    optimizer.step();
  }
  fmt::print("{} parameters, loss falls to {:.0f} % of {:.1f}\n", encoder.parameter_count(),
             100 * last / first, first);
}
