#include "course/grader/grader.h"

#include <cmath>

#include "course/grader/training.h"
#include "nn/positional.h"
#include "optim/arena.h"
#include "optim/kernels/kernels.h"

namespace heed::course {
namespace {

// What an answer to the exercise adam may do wrong.
enum class AdamSlip {
  none,
  no_correction,
  no_first_correction,
  no_second_correction,
  from_0,
  stored_correction,
  no_square,
  no_root,
  gradient_for_mean,
  epsilon_in_root,
  epsilon_before_correction,
  no_epsilon,
  swapped_betas,
  ascent,
  unscaled,
  no_decay,
  l2_in_adamw,
  decoupled_in_adam,
  decay_without_lr,
  decay_after
};

constexpr std::pair<AdamSlip, const char*> adam_sentences[] = {
    {AdamSlip::no_correction,
     "The bias correction is missing: divide m by 1 - β₁ᵗ and v by 1 - β₂ᵗ."},
    {AdamSlip::no_first_correction, "The correction of m is missing: divide it by 1 - β₁ᵗ."},
    {AdamSlip::no_second_correction, "The correction of v is missing: divide it by 1 - β₂ᵗ."},
    {AdamSlip::from_0, "The correction is that of the step before: t counts from 1, as r.step."},
    {AdamSlip::stored_correction,
     "The corrected m and v are stored, so that the next step corrects them again. Store the "
     "running means themselves."},
    {AdamSlip::no_square, "v is a running mean of g. It must be one of g²."},
    {AdamSlip::no_root, "The square root of v is missing."},
    {AdamSlip::gradient_for_mean, "The numerator is the gradient. It must be its running mean m."},
    {AdamSlip::epsilon_in_root, "ε is added under the root. It is added to the root."},
    {AdamSlip::epsilon_before_correction,
     "ε is added to √v before the correction: it is divided by √(1 - β₂ᵗ), too."},
    {AdamSlip::no_epsilon, "ε is not used."},
    {AdamSlip::swapped_betas, "β₁ and β₂ are exchanged: m decays with β₁, v with β₂."},
    {AdamSlip::ascent, "The sign is wrong: this goes up the gradient."},
    {AdamSlip::unscaled, "r.gradient_scale is not used: it multiplies every gradient."},
    {AdamSlip::no_decay, "The weight decay is missing."},
    {AdamSlip::l2_in_adamw,
     "This is Adam's weight decay: AdamW does not add λ w to the gradient, it subtracts lr λ w "
     "from w."},
    {AdamSlip::decoupled_in_adam,
     "This is AdamW's weight decay: Adam adds λ w to the gradient, before m and v."},
    {AdamSlip::decay_without_lr, "AdamW's decay is lr · λ · w: the factor lr is missing."},
    {AdamSlip::decay_after, "The decay uses the new w. It must use the one from before the step."}};

struct AdamCase {
  OptimOptions options;
  double scale;

  bool decoupled() const { return options.kind == &optimizers::adamw; }
};

// One parameter and its state.
struct AdamElement {
  double w, m = 0, v = 0;

  void step(const AdamCase& c, int64_t number, double gradient, AdamSlip slip) {
    using enum AdamSlip;
    const OptimOptions& o = c.options;
    const bool swap = slip == swapped_betas;
    const double beta1 = swap ? o.beta2 : o.beta1, beta2 = swap ? o.beta1 : o.beta2;
    const auto t = static_cast<double>(number - (slip == from_0 ? 1 : 0));
    const double decay = slip == no_decay ? 0 : o.weight_decay;
    const bool decoupled = c.decoupled() ? slip != l2_in_adamw : slip == decoupled_in_adam;
    const double g = (slip == unscaled ? 1 : c.scale) * gradient + (decoupled ? 0 : decay * w);
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * (slip == no_square ? g : g * g);
    const bool first = slip != no_correction && slip != no_first_correction;
    const bool second = slip != no_correction && slip != no_second_correction;
    const double correction1 = first ? 1 - std::pow(beta1, t) : 1;
    const double correction2 = second ? 1 - std::pow(beta2, t) : 1;
    const double epsilon = slip == no_epsilon ? 0 : o.epsilon;
    const double mean = slip == gradient_for_mean ? g : m / correction1;
    const double square = v / correction2;
    const double divisor = slip == no_root           ? square + epsilon
                           : slip == epsilon_in_root ? std::sqrt(square + epsilon)
                           : slip == epsilon_before_correction
                               ? (std::sqrt(v) + epsilon) / std::sqrt(correction2)
                               : std::sqrt(square) + epsilon;
    if (slip == stored_correction) m = mean, v = square;
    const double old = w;
    w -= (slip == ascent ? -1 : 1) * o.lr * mean / divisor;
    if (decoupled)
      w -= (slip == decay_without_lr ? 1 : o.lr) * decay * (slip == decay_after ? w : old);
  }
};

}  // namespace

void grade_adam(Grader& g, void (*adam_step)(const UpdateRange& range)) {
  constexpr int64_t size = 2 * Arena::line, steps = 4;
  const auto check = [&](const AdamCase& c) {
    const Array start = g.array({size}, -1, 1), gradients = g.array({steps, size}, -2, 2);
    const std::string name = fmt::format(
        "{}, lr {:.3g}, β₁ {:.3g}, β₂ {:.3g}, ε {:.3g}, weight decay {:.3g}, gradient_scale {:.3g}",
        c.options.kind->name, c.options.lr, c.options.beta1, c.options.beta2, c.options.epsilon,
        c.options.weight_decay, c.scale);

    // What the answer computes, in two ranges as the library calls it.
    std::vector<double> w = start.values, m(size), v(size), got_w, got_m, got_v;
    for (int64_t t = 0; t < steps; ++t) {
      for (int64_t first = 0; first < size; first += Arena::line)
        adam_step({.options = c.options,
                   .step = t + 1,
                   .lr = c.options.lr,
                   .gradient_scale = c.scale,
                   .weight_decay = c.options.weight_decay,
                   .size = Arena::line,
                   .gradients = gradients.values.data() + t * size + first,
                   .parameters = w.data() + first,
                   .state = {m.data() + first, v.data() + first, nullptr}});
      got_w.insert(got_w.end(), w.begin(), w.end());
      got_m.insert(got_m.end(), m.begin(), m.end());
      got_v.insert(got_v.end(), v.begin(), v.end());
    }

    const auto computed = [&](AdamSlip slip) {
      std::vector<AdamElement> elements, all;
      for (const double value : start.values) elements.push_back({.w = value});
      for (int64_t t = 0; t < steps; ++t)
        for (size_t i = 0; i < elements.size(); ++i) {
          const double gradient = gradients.values[static_cast<size_t>(t) * elements.size() + i];
          elements[i].step(c, t + 1, gradient, slip);
          all.push_back(elements[i]);
        }
      return all;
    };
    const auto near = [](double a, double b) {
      return a == b || (std::isnan(a) && std::isnan(b)) ||
             std::fabs(a - b) <= 1e-9 * std::max(1.0, std::fabs(b));
    };
    const auto sentence = [&]() -> std::string {
      if (got_w.front() == start.values.front() && got_w.back() == start.values.back())
        return "No parameter changes: nothing is computed yet.";
      for (const auto& [slip, words] : adam_sentences) {
        const std::vector<AdamElement> wrong = computed(slip);
        bool same = true;
        for (size_t i = 0; i < wrong.size(); ++i) same = same && near(got_w[i], wrong[i].w);
        if (same) return words;
      }
      return "";
    };
    const std::vector<AdamElement> right = computed(AdamSlip::none);
    const auto expect = [&](const char* what, size_t i, double got, double expected) {
      if (!g.passed() || near(got, expected)) return;
      g.expect(false,
               fmt::format("{}[{}] after step {}: got {:.6g}, expected {:.6g}  ({})", what,
                           i % size, i / size + 1, got, expected, name),
               sentence());
    };
    for (size_t i = 0; i < right.size(); ++i) expect("w", i, got_w[i], right[i].w);
    for (size_t i = 0; i < right.size(); ++i) {
      expect("m", i, got_m[i], right[i].m);
      expect("v", i, got_v[i], right[i].v);
    }
  };
  const auto fresh = [&](const OptimizerRule& kind, double decay) {
    OptimOptions options;
    options.kind = &kind;
    options.lr = g.number(0.1, 0.3);
    options.beta1 = g.number(0.6, 0.8);
    options.beta2 = g.number(0.9, 0.95);
    options.epsilon = g.number(0.02, 0.1);
    options.weight_decay = decay;
    return options;
  };
  check({fresh(optimizers::adam, 0), 1});
  check({fresh(optimizers::adam, 0), g.number(0.2, 0.5)});
  check({fresh(optimizers::adam, g.number(0.3, 0.6)), 1});
  check({fresh(optimizers::adamw, g.number(0.3, 0.6)), g.number(0.2, 0.5)});
}
HEED_GRADE(adam, kernels::adam_step);
HEED_TRAIN(adam, positional_encodings::relative);

}  // namespace heed::course
