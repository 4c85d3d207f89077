# HEED_CPU_FEATURES: what -march=${HEED_ARCH} lets the compiler use, asked of its own macros, as the
# argument of core/cpu_check.cpp, which compares it with the processor a program is started on.
# HEED_BASELINE: what undoes -march (and the sanitizers) for that file, which must run anywhere and first.
set(HEED_CPU_FEATURES "")
set(HEED_BASELINE "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(HEED_BASELINE -march=x86-64 -fno-sanitize=all)
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -march=${HEED_ARCH} -dM -E -x c++ /dev/null
    OUTPUT_VARIABLE macros ERROR_VARIABLE error RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "HEED_ARCH=${HEED_ARCH} is not a processor that the compiler knows:\n${error}")
  endif()
  foreach(feature
      sse3 ssse3 sse4.1 sse4.2 sse4a popcnt lzcnt movbe bmi bmi2 f16c fma fma4 xop tbm gfni vaes
      vpclmulqdq avx avx2 avxvnni avx512f avx512cd avx512bw avx512dq avx512vl avx512ifma avx512vbmi
      avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq avx512bf16 avx512fp16)
    string(TOUPPER ${feature} macro)
    string(REPLACE "." "_" macro ${macro})
    if(macros MATCHES "#define __${macro}__ ")
      string(APPEND HEED_CPU_FEATURES "X(${feature}) ")
    endif()
  endforeach()
endif()
