// Models of vectors and of numbers: a decoder-only model that reads vectors or predicts numbers, a
// classifier with an output at every position, and the squared error.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "checks.h"
#include "core/autograd.h"
#include "core/ops.h"
#include "gradient_check.h"
#include "nn/models.h"
#include "support.h"
#include "variants.h"

using namespace heed;
using namespace heed::testing;

namespace {

constexpr real no_number = std::numeric_limits<real>::quiet_NaN();

struct NumberForm {
  const char* name;
  ModelKind kind;
  ModelSizes sizes;
  Pool pool = Pool::mean;
};

const NumberForm number_forms[] = {
    {"vectors to numbers", ModelKind::language_model, {.classes = 1, .features = 2}},
    {"vectors to tokens", ModelKind::language_model, {.classes = 5, .features = 2}},
    {"tokens to numbers", ModelKind::language_model, {.vocabulary = 7, .classes = 1}},
    {"a number for the whole", ModelKind::classifier, {.classes = 1, .features = 2}},
    {"a number at each position", ModelKind::classifier, {.classes = 1, .features = 2}, Pool::none},
    {"a label at each position",
     ModelKind::classifier,
     {.vocabulary = 7, .classes = 5},
     Pool::none}};

std::unique_ptr<Model> number_model(const NumberForm& form) {
  ScopeGuard here;
  here->seed = 5;
  here->calls = 0;
  Variant variant = variants()[0];
  variant.kind = form.kind;
  ModelOptions o = variant.options();
  o.pool = form.pool;
  return make_model(o, form.sizes);
}

// Two examples of 3 and 5 positions, padded with `padding` to `time`.
Inputs number_examples(const NumberForm& form, int64_t time, int32_t padding) {
  Inputs in;
  in.input_lengths = Ids::from({2}, {3, 5});
  in.input = Ids::full({2, time}, padding);
  if (form.sizes.features > 0) in.features = Tensor::full({2, time, 2}, static_cast<real>(padding));
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t t = 0; t < in.input_lengths[b]; ++t) {
      const int64_t at = b * time + t;
      in.input.mutable_data()[at] = static_cast<int32_t>((3 * t + b + 2) % 7);
      for (int64_t f = 0; f < 2 && in.features; ++f)
        in.features.mutable_data()[2 * at + f] =
            static_cast<real>(std::sin(static_cast<double>(7 * b + 3 * t + 5 * f + 1)));
    }
  if (in.features) in.input = {};
  return in;
}

bool is_of_whole(const NumberForm& form) {
  return form.kind == ModelKind::classifier && form.pool != Pool::none;
}

Tensor number_loss(const Model& model, const NumberForm& form, const Inputs& in,
                   Reduction reduction) {
  const int64_t time = (in.features ? in.features.shape() : in.input.shape())[1];
  const Shape shape = is_of_whole(form) ? Shape{2} : Shape{2, time};
  if (form.sizes.classes > 1) {
    Ids targets = Ids::full(shape, ignored);
    targets.mutable_data()[1] = 3;
    targets.mutable_data()[time] = 4;
    return cross_entropy(model.logits(in), targets, reduction);
  }
  Tensor targets = Tensor::full(shape, no_number);
  targets.mutable_data()[1] = real{0.7};
  if (!is_of_whole(form)) targets.mutable_data()[time] = targets.mutable_data()[time + 4] = -2;
  return squared_error(model.logits(in), targets, reduction);
}

}  // namespace

TEST_CASE("the squared error is mse_loss of the targets that are not NaN, and has its gradients") {
  const Shape shape{2, 3};
  Tensor outputs = Tensor::from({2, 3, 1}, {1, 2, 3, -4, 5, 6}).set_requires_grad();
  const Tensor targets = Tensor::from(shape, {0.5, no_number, 1.0, -1.0, no_number, no_number});
  Tensor kept = Tensor::from({3}, {1, 3, -4}).set_requires_grad();
  const Tensor kept_targets = Tensor::from({3}, {0.5, 1.0, -1.0});
  for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
    const Tensor ours = squared_error(outputs, targets, reduction);
    const Tensor known = mse_loss(kept, kept_targets, reduction);
    CHECK(ours.item() == doctest::Approx(known.item()).epsilon(1e-6));
    backward(ours);
    backward(known);
    const int64_t at[] = {0, 2, 3};
    for (int64_t i = 0; i < 3; ++i)
      CHECK(outputs.grad().data()[at[i]] == doctest::Approx(kept.grad().data()[i]).epsilon(1e-6));
    for (const int64_t i : {1, 4, 5}) CHECK(outputs.grad().data()[i] == 0);
    outputs.clear_grad();
    kept.clear_grad();
  }
  const Tensor each = squared_error(outputs, targets, Reduction::none);
  CHECK(each.shape() == shape);
  const std::vector<real> expected = {real{0.25}, 0, 4, 9, 0, 0};
  CHECK(std::equal(expected.begin(), expected.end(), each.data()));
  CHECK(squared_error(outputs, Tensor::full(shape, no_number)).item() == 0);
  CHECK_THROWS_WITH_AS(squared_error(targets, targets), doctest::Contains("squared_error: outputs"),
                       Error);
}

TEST_CASE("models of vectors and numbers have right gradients, every parameter") {
  for (const NumberForm& form : number_forms) {
    CAPTURE(std::string(form.name));
    const auto model = number_model(form);
    CHECK(model->kind() == form.kind);
    const Inputs in = number_examples(form, 5, 0);
    check_gradients(model->parameters(),
                    [&] { return number_loss(*model, form, in, Reduction::mean); });
  }
}

TEST_CASE("padding changes nothing, and no output of a decoder depends on a later position") {
  for (const NumberForm& form : number_forms) {
    CAPTURE(std::string(form.name));
    const auto model = number_model(form);
    NoGradients here;
    const Tensor shorter = model->logits(number_examples(form, 5, 0)),
                 longer = model->logits(number_examples(form, 7, 3));
    const int64_t classes = form.sizes.classes;
    CHECK(shorter.shape() == (is_of_whole(form) ? Shape{2, classes} : Shape{2, 5, classes}));
    const auto near = [&](const Tensor& x, int64_t i, const Tensor& y, int64_t j) {
      for (int64_t c = 0; c < classes; ++c)
        CHECK(x.data()[i * classes + c] ==
              doctest::Approx(y.data()[j * classes + c]).epsilon(1e-5));
    };
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t t = 0; t < (is_of_whole(form) ? 1 : b == 0 ? 3 : 5); ++t)
        is_of_whole(form) ? near(shorter, b, longer, b)
                          : near(shorter, 5 * b + t, longer, 7 * b + t);
    if (form.kind != ModelKind::language_model) continue;
    Inputs changed = number_examples(form, 5, 0);
    if (changed.features)
      changed.features.mutable_data()[2 * (5 + 3)] += 1;
    else
      changed.input.mutable_data()[5 + 3] = 0;
    const Tensor after = model->logits(changed);
    for (int64_t t = 0; t < 3; ++t) near(after, 5 + t, shorter, 5 + t);
    double moved = 0;
    for (int64_t i = 8 * classes; i < 9 * classes; ++i)
      moved += std::abs(static_cast<double>(after.data()[i] - shorter.data()[i]));
    CHECK(moved > 1e-4);
  }
}

TEST_CASE("each learned query has an output, whatever the number of positions") {
  ScopeGuard here;
  here->seed = 5;
  here->calls = 0;
  ModelOptions o = variants()[2].options();  // a classifier
  o.pool = Pool::queries;
  o.pool_queries = 3;
  const auto model = make_model(o, {.classes = 2, .features = 2});
  const NumberForm form{"", ModelKind::classifier, {.classes = 2, .features = 2}};
  const Inputs in = number_examples(form, 5, 0);
  const Ids targets = Ids::from({2, 3}, {0, 1, ignored, 1, 1, 0});
  check_gradients(model->parameters(), [&] { return cross_entropy(model->logits(in), targets); });
  const NoGradients inference;
  const Tensor logits = model->logits(in);
  CHECK(logits.shape() == Shape{2, 3, 2});
  CHECK(relative_difference(model->logits(number_examples(form, 8, 3)), logits) < model_rounding);
  // The same queries, read together: one label of their concatenation.
  o.pool = Pool::learned;
  here->calls = 0;
  const auto together = make_model(o, {.classes = 2, .features = 2});
  CHECK(together->logits(in).shape() == Shape{2, 2});
  CHECK(together->head().weight.dim(1) == 3 * model->head().weight.dim(1));
}
