// Counts every call to operator new of the test program. A file of its own, so that nothing is
// inlined.
#include <cstdint>
#include <cstdlib>
#include <new>

extern int64_t operator_new_calls;
int64_t operator_new_calls = 0;

void* operator new(size_t bytes) {
  ++operator_new_calls;
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
