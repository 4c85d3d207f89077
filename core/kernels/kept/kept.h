// What linear and attention keep of their inputs: for backward the elements, or in the precision
// `medium` copies of them that are rounded to bfloat16, where that saves memory; without backward,
// in `medium`, rounded weights.
#pragma once

#include <algorithm>
#include <array>

#include "core/autograd.h"
#include "core/kernels/attention/attention.h"
#include "core/kernels/bfloat16/bfloat16.h"
#include "core/kernels/kept/forms.h"
#include "core/kernels/linear.h"

namespace heed::inline HEED_REAL::kernels {

// Computes the result of a node again, once, from what its closure keeps.
using Again = void (*)(void* closure, real* y);
// Returns how a node does so; null if it cannot.
Again again_of(const Node& node);

// Returns whether x is the result of an operation and nothing else keeps its elements. A closure
// that saves them rounded then saves memory.
inline bool only_holder(const Tensor& x) {
  return x.slot() && x.slot()->producer && x.storage()->references() == 1;
}

// x as backward reads it for dw = dhᵀ x. If nothing else keeps the elements of x, an intermediate
// result, they need not be kept either, with the same bits:
//
//   in `medium`, which rounds x to bfloat16 and packs it in panels for that product, only these
//   panels are kept, half of the memory;
//   else nothing, if the operation that computed x can do so again, and x is
//   large enough for its memory to count. The first of the products that read x computes it again,
//   and it is freed after the last.
class KeptInput {
 public:
  KeptInput() = default;
  KeptInput(const LinearSizes& n, const Tensor& x, const Tensor& w) {
    if (!wants_gradient(w)) return;
    const PackedInput form = packed_input(n);
    if (form && only_holder(x)) {
      pack(n, form, x);
    } else if (again_ = computed_again(x); again_) {
      slot_ = x.slot().get();
    } else {
      elements_ = Saved(x);
    }
  }
  // Returns whether x is large enough to be computed again: small ones cost little memory, and
  // their loops are short.
  static bool is_large(const Tensor& x) { return x.size() >= int64_t{1} << 20; }
  bool is_computed_again() const { return static_cast<bool>(again_); }
  LinearInput get() const {
    if (again_) return {elements_again()};
    if (!panels_) return {elements_.data()};
    return {nullptr, panels_of(*panels_)};
  }

 private:
  static uint32_t* panels_of(const Form& form) { return reinterpret_cast<uint32_t*>(form.words); }
  void pack(const LinearSizes& n, const PackedInput& form, const Tensor& x) {
    panels_ = prepared(x, form.layout(n), form.words, [&](real* words) {
      pack_input(n, x.data(), reinterpret_cast<uint32_t*>(words));
    });
    report(Work::saved, form.words);
  }

  // Returns where all products that read x find its elements in backward. Null if x is small, or
  // cannot be computed again: its operation must be able to, and the only one that has written x.
  static Handle<Form> computed_again(const Tensor& x) {
    constexpr uint32_t written_once = 1;
    if (!is_large(x) || !only_holder(x) || !again_of(*x.slot()->producer) ||
        x.storage()->version != written_once)
      return {};
    constexpr int64_t as_elements = 1;  // no layout of panels
    LastForm last(x);
    Handle<Form> form = last.get();
    if (!form) {
      form = Form::create(as_elements, x.size(), written_once);
      Handle<Form> none = form;
      last.swap(none);
    }
    // An operation computes its result again once. If other forms have been prepared since, the one
    // for which it would do so may be lost.
    return form->layout == as_elements ? form : Handle<Form>();
  }
  const real* elements_again() const {
    if (!again_->words) {
      Node* const node = slot_->producer;
      check(node,
            "backward: this part of the graph has been run and released; compute the loss again");
      again_->allocate();
      again_of (*node)(node->closure, again_->words);
    }
    return again_->words;
  }

  Saved elements_;
  Handle<Form> panels_;
  Handle<Form> again_;    // has words from the first get() on
  Slot* slot_ = nullptr;  // of x, to which the node of the product refers
};

// The weights w (outputs, inputs) of a product y = x wᵀ in `medium` that nothing will
// differentiate, for few rows, as when a text is generated: wᵀ rounded and packed once, for all
// such products until w changes, so that each reads half of the bytes. The bits of y are the same
// with and without.
class KeptWeights {
 public:
  KeptWeights(const LinearSizes& n, const Tensor& w) {
    const bool is_parameter = w.slot() && !w.slot()->producer;
    if (scope().gradients || !is_parameter || n.rows == 0 || n.rows > max_streamed_rows ||
        !can_be_packed(n.inputs, scope().precision))
      return;
    const int64_t words = packed_words(n.inputs, n.outputs);
    // Negative layouts are those of weights.
    panels_ = prepared(w, -n.inputs, words, [&](real* panels) {
      pack_ahead(*tile_kernels(), Matrix{w.data(), n.outputs, n.inputs}.t(), n.inputs,
                 reinterpret_cast<uint32_t*>(panels));
    });
    report(Work::moved, n.rows * (n.inputs + n.outputs) + words);
  }
  // Null if the elements of w are to be read.
  const uint32_t* panels() const {
    return panels_ ? reinterpret_cast<const uint32_t*>(panels_->words) : nullptr;
  }

 private:
  Handle<Form> panels_;
};

// q, k and v as backward reads them. If it only multiplies them in `medium`, and nothing else keeps
// their elements, rounded ones are kept.
class KeptQueryKeyValue {
 public:
  KeptQueryKeyValue(const AttentionSizes& n, const AttentionSettings& settings, const Tensor& q,
                    const Tensor& k, const Tensor& v) {
    if (!wants_gradient(q) && !wants_gradient(k) && !wants_gradient(v)) return;
    const std::array<const Tensor*, 3> inputs{&q, &k, &v};
    const bool round =
        reads_rounded_inputs(n, settings) &&
        std::all_of(inputs.begin(), inputs.end(), [](const Tensor* x) { return only_holder(*x); });
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool same = i > 0 && inputs[i]->storage() == inputs[i - 1]->storage();
      if (round)
        rounded_[i] = same ? rounded_[i - 1] : rounded(*inputs[i]);
      else
        elements_[i] = Saved(*inputs[i]);
    }
  }
  AttentionOperands get() const {
    return {{elements_[0].data(), elements_[1].data(), elements_[2].data()},
            values(rounded_[0]),
            values(rounded_[1]),
            values(rounded_[2])};
  }

 private:
  static uint16_t* values(const Handle<Storage>& storage) {
    return storage ? reinterpret_cast<uint16_t*>(storage->data) : nullptr;
  }
  static Handle<Storage> rounded(const Tensor& x) {
    Handle<Storage> half = Storage::allocate((x.size() + 1) / 2);
    round_attention_input(x.size(), x.data(), values(half));
    report(Work::saved, half->size);
    return half;
  }

  std::array<Saved, 3> elements_;
  std::array<Handle<Storage>, 3> rounded_;
};

}  // namespace heed::inline HEED_REAL::kernels
