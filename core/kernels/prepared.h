// Forms of a tensor's elements that a kernel prepares once, for all operations that read them, and
// that a closure keeps in place of the elements.
//
// An operation may call prepared() for its own result. Then no kernel prepares that form again, or
// reads the elements for it.
#pragma once

#include <mutex>
#include <utility>

#include "core/tensor.h"

namespace heed::inline HEED_REAL::kernels {

inline std::mutex prepared_mutex;  // held while a handle is copied

// Returns the form of x's elements, of `size` words, that was prepared last, or else calls
// compute(words) and keeps it. Any number of threads may call it at once; two that find none
// compute one each. What was prepared in a scope with shapes_only has no contents, and fits only
// there.
template <class Compute>
Handle<Storage> prepared(const Tensor& x, int64_t form, int64_t size, Compute compute) {
  Storage& elements = *x.storage();
  const int64_t own_form = 2 * form + scope().shapes_only;
  {
    const std::lock_guard lock(prepared_mutex);
    const Handle<Storage>& last = elements.prepared;
    if (last && last->form == own_form && last->size == size && last->version == elements.version)
      return last;
  }
  Handle<Storage> made = Storage::allocate(size);
  made->form = own_form;
  made->version = elements.version;
  compute(made->data);
  Handle<Storage> replaced = made;  // destroyed after the lock
  const std::lock_guard lock(prepared_mutex);
  std::swap(elements.prepared, replaced);
  return made;
}

}  // namespace heed::inline HEED_REAL::kernels
