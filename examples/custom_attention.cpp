// An attention of one's own inside heed's layers: talking heads (Shazeer et al. 2020).
//
// The scores of all heads are mixed by a matrix before the softmax, P = softmax(M S), where S has
// one (Tq, Tk) matrix for each of H heads and M is (H, H), at first the identity.
#include <fmt/core.h>

#include <cmath>
#include <heed/heed.h>

using namespace heed;

class TalkingHeads : public Attention {
 public:
  TalkingHeads(int64_t dim, int64_t heads)
      : heads_(heads),
        qkv_(this, "qkv", dim, 3 * dim),
        mix_(this, "mix", constant_parameter({heads, heads}, 0)),
        output_(this, "output", dim, dim) {
    for (int64_t h = 0; h < heads; ++h) mix_.mutable_data()[h * heads + h] = 1;
  }
  // x (B, T, D) → (B, T, D)
  Tensor operator()(const Tensor& x, const SequenceContext& sequence) const override {
    const std::vector<Tensor> parts = split(qkv_(x), {x.dim(-1), x.dim(-1), x.dim(-1)}, -1);
    const auto head = [&](const Tensor& t) { return split_heads(t, heads_); };  // (B, H, T, K)
    const Tensor q = head(parts[0]), k = head(parts[1]), v = head(parts[2]);
    const Tensor scores =
        matmul(q, transpose(k, -1, -2)) * (1 / std::sqrt(static_cast<real>(q.dim(-1))));
    const int64_t B = x.dim(0), T = x.dim(1);
    const Tensor mixed =
        matmul(mix_, scores.reshape({B, heads_, T * T})).reshape({B, heads_, T, T});
    const Tensor hidden = masked_fill(mixed, sequence.mask, -std::numeric_limits<real>::infinity());
    return output_(merge_heads(matmul(softmax(hidden), v)));
  }
  Tensor across(const Tensor&, const Tensor&, const KeepMask&, Past*) const override {
    throw Error("talking heads: no cross-attention");
  }

 private:
  int64_t heads_;
  Part<Linear> qkv_;  // a Part registers itself, so the optimizer finds it
  Part<Tensor> mix_;
  Part<Linear> output_;
};

// What the layers are made of: the Transformer's parts, but for this attention.
class TalkingParts : public Parts {
 public:
  std::unique_ptr<Mixing> mixing(const BlockOptions& o, const LinearOptions&) const override {
    return std::make_unique<TalkingHeads>(o.dim, o.heads);
  }
};

int main() {
  scope().seed = 1;
  BlockOptions block;
  block.dim = 16;
  block.heads = 2;
  const Encoder encoder(block, 2, TalkingParts());
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
