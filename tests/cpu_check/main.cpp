// Is linked with a processor check for a processor that nobody has: nothing here may run.
#include <cstdio>

static const int too_late = std::puts("a static object was made before the processor was checked");

int main() { return too_late ? 0 : 2; }
