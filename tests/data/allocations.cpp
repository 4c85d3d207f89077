// Counts every call to operator new of the test program. A file of its own, so that nothing is
// inlined.
#include <cstdint>
#include <cstdlib>
#include <new>

extern int64_t operator_new_calls;
int64_t operator_new_calls = 0;

static void* counted(size_t bytes, size_t alignment) {
  ++operator_new_calls;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void* operator new(size_t bytes) {
  if (void* memory = counted(bytes, 16)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
