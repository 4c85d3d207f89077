# HEED_CPU_FEATURES: the instruction sets that -march=${HEED_ARCH} lets the compiler use, as X(avx2) X(fma) …
#   core/cpu_check.cpp compares them with the processor a program is started on.
# HEED_BASELINE: the options that undo -march and the sanitizers for that file, which must run on any x86-64.
set(HEED_CPU_FEATURES "")
set(HEED_BASELINE "")
if(HEED_ARCH AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(HEED_BASELINE -march=x86-64 -fno-sanitize=all)
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -march=${HEED_ARCH} -dM -E -x c++ /dev/null
    OUTPUT_VARIABLE macros ERROR_VARIABLE error RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "HEED_ARCH=${HEED_ARCH}: the compiler does not know this processor:\n${error}")
  endif()
  set(features
    sse3 ssse3 sse4.1 sse4.2 sse4a popcnt bmi bmi2 fma fma4 xop gfni vpclmulqdq avx avx2 avx512f avx512cd
    avx512bw avx512dq avx512vl avx512ifma avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq
    avx512bf16)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # names that __builtin_cpu_supports of clang 14 lacks
    list(APPEND features lzcnt movbe f16c tbm vaes avxvnni avx512fp16)
  endif()
  foreach(feature IN LISTS features)
    string(TOUPPER ${feature} macro)
    string(REPLACE "." "_" macro ${macro})
    if(macros MATCHES "#define __${macro}__ ")
      string(APPEND HEED_CPU_FEATURES "X(${feature}) ")
    endif()
  endforeach()
endif()
