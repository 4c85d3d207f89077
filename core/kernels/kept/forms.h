// Forms of a tensor's elements that a kernel prepares once, for all operations that read them, and
// that a closure keeps in place of the elements.
//
// The last form is attached to the block of the tensor's storage (core/pool.h), which knows nothing
// of it. An operation may call prepared() for its own result. Then no kernel prepares that form
// again, or reads the elements for it.
#pragma once

#include <mutex>
#include <new>

#include "core/pool.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL::kernels {

// A copy of elements in another layout.
struct Form : Counted {
  int64_t layout = 0;    // which differs from those of other forms of the same elements
  int64_t size = 0;      // words
  uint32_t version = 0;  // of the elements
  real* words = nullptr;

  // Returns a form without words.
  static Handle<Form> create(int64_t layout, int64_t size, uint32_t version) {
    Handle<Form> form(new (pool_allocate(sizeof(Form))) Form);
    form->layout = layout;
    form->size = size;
    form->version = version;
    return form;
  }
  void allocate() {
    words = static_cast<real*>(pool_allocate(static_cast<size_t>(size) * sizeof(real)));
  }
  static void destroy(Form* form) {
    pool_free(form->words);
    form->~Form();
    pool_free(form);
  }
};

// Gives access to the last form of a tensor's elements, to one thread at a time.
class LastForm {
 public:
  explicit LastForm(const Tensor& x) : last_(pool_attachment(x.storage().get())) {}
  // Returns it, or an empty handle.
  Handle<Form> get() const {
    Form* const form = static_cast<Form*>(last_.object);
    if (form) form->add_reference();
    return Handle<Form>(form);
  }
  // Exchanges it for `form`.
  void swap(Handle<Form>& form) {
    Form* const replaced = static_cast<Form*>(last_.object);
    last_ = {form.release(), [](void* object) { Handle<Form>{static_cast<Form*>(object)}; }};
    form = Handle<Form>(replaced);
  }

 private:
  static inline std::mutex mutex_;
  const std::lock_guard<std::mutex> lock_{mutex_};
  PoolAttachment& last_;
};

// Returns the last form of x's elements if it has this layout, of `size` words; else calls
// compute(words) and keeps that one. Any number of threads may call it at once; two that find none
// compute one each. What was prepared in a scope with shapes_only has no contents, and fits only
// there.
template <class Compute>
Handle<Form> prepared(const Tensor& x, int64_t layout, int64_t size, Compute compute) {
  const int64_t own_layout = 2 * layout + scope().shapes_only;
  const uint32_t version = x.storage()->version;
  if (Handle<Form> last = LastForm(x).get();
      last && last->layout == own_layout && last->size == size && last->version == version)
    return last;
  const Handle<Form> made = Form::create(own_layout, size, version);
  made->allocate();
  compute(made->words);
  Handle<Form> replaced = made;  // destroyed after the lock
  LastForm(x).swap(replaced);
  return made;
}

}  // namespace heed::inline HEED_REAL::kernels
