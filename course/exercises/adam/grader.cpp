#include "course/grader/grader.h"

#include <cmath>

#include "course/grader/training.h"
#include "nn/forms/positional.h"
#include "optim/arena.h"
#include "optim/kernels/kernels.h"

namespace heed::course {
namespace {
namespace adam_answers {

// What an answer may do wrong.
enum class Slip {
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

template <Slip slip>
void adam(const UpdateRange& r) {
  using enum Slip;
  const OptimOptions& o = r.options;
  const bool adamw = o.kind == &optimizers::adamw;
  const bool decoupled = adamw ? slip != l2_in_adamw : slip == decoupled_in_adam;
  const double decay = slip == no_decay ? 0 : r.weight_decay;
  const double beta1 = slip == swapped_betas ? o.beta2 : o.beta1;
  const double beta2 = slip == swapped_betas ? o.beta1 : o.beta2;
  const auto t = static_cast<double>(r.step - (slip == from_0 ? 1 : 0));
  const bool first = slip != no_correction && slip != no_first_correction;
  const bool second = slip != no_correction && slip != no_second_correction;
  const double correction1 = first ? 1 - std::pow(beta1, t) : 1;
  const double correction2 = second ? 1 - std::pow(beta2, t) : 1;
  const double epsilon = slip == no_epsilon ? 0 : o.epsilon;
  for (int64_t i = 0; i < r.size; ++i) {
    double &w = r.parameters[i], &m = r.state[0][i], &v = r.state[1][i];
    const double g =
        (slip == unscaled ? 1 : r.gradient_scale) * r.gradients[i] + (decoupled ? 0 : decay * w);
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * (slip == no_square ? g : g * g);
    const double mean = slip == gradient_for_mean ? g : m / correction1, square = v / correction2;
    const double divisor = slip == no_root           ? square + epsilon
                           : slip == epsilon_in_root ? std::sqrt(square + epsilon)
                           : slip == epsilon_before_correction
                               ? (std::sqrt(v) + epsilon) / std::sqrt(correction2)
                               : std::sqrt(square) + epsilon;
    if (slip == stored_correction) m = mean, v = square;
    const double old = w;
    w -= (slip == ascent ? -1 : 1) * r.lr * mean / divisor;
    if (decoupled)
      w -= (slip == decay_without_lr ? 1 : r.lr) * decay * (slip == decay_after ? w : old);
  }
}

}  // namespace adam_answers
}  // namespace

void grade_adam(Grader& g, decltype(&kernels::adam_step) answer) {
  constexpr int64_t size = 2 * Arena::line, steps = 4;
  struct Trained {
    std::vector<double> w, m, v;  // after each step
  };
  const auto check = [&](const OptimOptions& options, double scale) {
    const Array start = g.array({size}, -1, 1), gradients = g.array({steps, size}, -2, 2);
    // In two ranges as the library calls it.
    const auto trained = [&](decltype(answer) step) {
      std::vector<double> w = start.values, m(size), v(size);
      Trained all;
      for (int64_t t = 0; t < steps; ++t) {
        for (int64_t first = 0; first < size; first += Arena::line)
          step({{.size = Arena::line,
                 .matrix = true,
                 .gradients = gradients.values.data() + t * size + first,
                 .parameters = w.data() + first,
                 .state = {m.data() + first, v.data() + first, nullptr}},
                options,
                t + 1,
                options.lr,
                scale,
                options.weight_decay});
        all.w.insert(all.w.end(), w.begin(), w.end());
        all.m.insert(all.m.end(), m.begin(), m.end());
        all.v.insert(all.v.end(), v.begin(), v.end());
      }
      return all;
    };
    const std::string name = fmt::format(
        "{}, lr {:.3g}, β₁ {:.3g}, β₂ {:.3g}, ε {:.3g}, weight decay {:.3g}, gradient_scale {:.3g}",
        options.kind->name, options.lr, options.beta1, options.beta2, options.epsilon,
        options.weight_decay, scale);
    const Trained got = trained(answer),
                  right = trained(adam_answers::adam<adam_answers::Slip::none>);
    const auto numbers = [&](const char* what, auto part) {
      g.check(Numbers{.what =
                          [=](size_t i) {
                            return fmt::format("{}[{}] after step {}", what, i % size,
                                               i / size + 1);
                          },
                      .got = got.*part,
                      .expected = right.*part,
                      .context = name});
    };
    numbers("w", &Trained::w);
    numbers("m", &Trained::m);
    numbers("v", &Trained::v);
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
  check(fresh(optimizers::adam, 0), 1);
  check(fresh(optimizers::adam, 0), g.number(0.2, 0.5));
  check(fresh(optimizers::adam, g.number(0.3, 0.6)), 1);
  check(fresh(optimizers::adamw, g.number(0.3, 0.6)), g.number(0.2, 0.5));
}
namespace {
namespace adam_answers {

const Exercise adam_exercise(
    "adam", grade_adam, {kernels::adam_step},
    {{"", adam<Slip::none>},
     {"No parameter changes: nothing is computed yet.", [](const UpdateRange&) {}},
     {"The bias correction is missing: divide m by 1 - β₁ᵗ and v by 1 - β₂ᵗ.",
      adam<Slip::no_correction>},
     {"The correction of m is missing: divide it by 1 - β₁ᵗ.", adam<Slip::no_first_correction>},
     {"The correction of v is missing: divide it by 1 - β₂ᵗ.", adam<Slip::no_second_correction>},
     {"The correction is that of the previous step: t counts from 1, as r.step does.",
      adam<Slip::from_0>},
     {"The corrected m and v are stored, so the next step corrects them again. Store the running "
      "means themselves.",
      adam<Slip::stored_correction>},
     {"v is a running mean of g. It must be one of g².", adam<Slip::no_square>},
     {"The square root of v is missing.", adam<Slip::no_root>},
     {"The numerator is the gradient. It must be its running mean m.",
      adam<Slip::gradient_for_mean>},
     {"ε is added under the root. Add it to the root.", adam<Slip::epsilon_in_root>},
     {"ε is added to √v before the correction, which then divides it as well. Add it after the "
      "correction.",
      adam<Slip::epsilon_before_correction>},
     {"ε is not used.", adam<Slip::no_epsilon>},
     {"β₁ and β₂ are exchanged: m decays with β₁, v with β₂.", adam<Slip::swapped_betas>},
     {"The sign is wrong: this step follows the gradient upwards.", adam<Slip::ascent>},
     {"r.gradient_scale is not used: it multiplies every gradient.", adam<Slip::unscaled>},
     {"The weight decay is missing.", adam<Slip::no_decay>},
     {"This is Adam's weight decay: AdamW does not add λ w to the gradient, it subtracts lr λ w "
      "from w.",
      adam<Slip::l2_in_adamw>},
     {"This is AdamW's weight decay: Adam adds λ w to the gradient, before m and v.",
      adam<Slip::decoupled_in_adam>},
     {"AdamW's decay is lr · λ · w: the factor lr is missing.", adam<Slip::decay_without_lr>},
     {"The decay uses the new w. It must use the one from before the step.",
      adam<Slip::decay_after>}});
HEED_TRAIN(adam, positional_encodings::relative);

}  // namespace adam_answers
}  // namespace
}  // namespace heed::course
