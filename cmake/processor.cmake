# heed_cpu_features(OUTPUT ARCH): the instruction sets that -march=ARCH lets the compiler use, as X(avx2) X(fma) …
function(heed_cpu_features output arch)
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -march=${arch} -dM -E -x c++ /dev/null
    OUTPUT_VARIABLE macros ERROR_VARIABLE error RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "-march=${arch}: the compiler does not know this processor:\n${error}")
  endif()
  set(features
    sse3 ssse3 sse4.1 sse4.2 sse4a popcnt bmi bmi2 fma fma4 xop gfni vpclmulqdq avx avx2 avx512f avx512cd
    avx512bw avx512dq avx512vl avx512ifma avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq
    avx512bf16)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # names that __builtin_cpu_supports of clang 14 lacks
    list(APPEND features lzcnt movbe f16c tbm vaes avxvnni avx512fp16)
  endif()
  set(found "")
  foreach(feature IN LISTS features)
    string(TOUPPER ${feature} macro)
    string(REPLACE "." "_" macro ${macro})
    if(macros MATCHES "#define __${macro}__ ")
      string(APPEND found "X(${feature}) ")
    endif()
  endforeach()
  set(${output} ${found} PARENT_SCOPE)
endfunction()

# HEED_CPU_FEATURES: those of HEED_ARCH. core/cpu_check.cpp compares them with the processor a program is started on.
# HEED_KINDS: with HEED_SIBLINGS, all kinds of processor that there are programs for, with their features, for
#   apps/choose_kernels.cpp.
# HEED_BASELINE: the options that undo -march and the sanitizers for these files, which must run on any x86-64.
set(HEED_CPU_FEATURES "")
set(HEED_BASELINE "")
set(HEED_KINDS "")
if(HEED_ARCH AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(HEED_BASELINE -march=x86-64 -fno-sanitize=all)
  heed_cpu_features(HEED_CPU_FEATURES ${HEED_ARCH})
  if(HEED_SIBLINGS)
    foreach(kind IN LISTS HEED_SIBLINGS HEED_ARCH)
      heed_cpu_features(features ${kind})
      string(APPEND HEED_KINDS "KIND(${kind}, ${features})")
    endforeach()
  endif()
endif()
