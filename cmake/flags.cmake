# Compiler options of every target. Never -ffast-math: it breaks infinities and checks for NaN.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# -O3 pays only in core and optim, where a run spends its time (library.cmake); elsewhere it costs build time.
string(REPLACE -O3 -O2 CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

function(heed_compile_options target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -fno-math-errno -fno-trapping-math -ffp-contract=off
    $<$<BOOL:${HEED_WERROR}>:-Werror>)
  if(HEED_ARCH AND APPLE AND CMAKE_SYSTEM_PROCESSOR STREQUAL arm64)
    target_compile_options(${target} PRIVATE -mcpu=${HEED_ARCH})
  elseif(HEED_ARCH)
    target_compile_options(${target} PRIVATE -march=${HEED_ARCH})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # False alarms of GCC 12 about std::string.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
    if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
      # False alarms of GCC 13 and 14 about functions that take a temporary name and return a reference to what it names.
      target_compile_options(${target} PRIVATE -Wno-dangling-reference)
    endif()
    if(CMAKE_UNITY_BUILD)
      # With less garbage collection (from 512 MB on) these large files compile in a tenth less time.
      target_compile_options(${target} PRIVATE --param=ggc-min-heapsize=524288)
    endif()
  else()
    # clang does not know #pragma GCC ivdep, warns of loops that it does not vectorise, and of names in unity
    # builds that hide one of another file.
    target_compile_options(${target} PRIVATE -Wno-unknown-pragmas -Wno-pass-failed -Wno-shadow)
  endif()
  if(HEED_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${HEED_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
      -Wno-uninitialized -Wno-maybe-uninitialized)  # false alarms in sanitized code
    target_link_options(${target} PUBLIC -fsanitize=${HEED_SANITIZE})
  endif()
  if(HEED_SANITIZE MATCHES thread)
    target_compile_definitions(${target} PRIVATE HEED_STD_THREADS)
    target_compile_options(${target} PRIVATE -fopenmp-simd)
  else()
    target_compile_options(${target} PRIVATE "SHELL:${OpenMP_CXX_FLAGS}")
  endif()
endfunction()

# Source files that are left out of unity builds (CMAKE_UNITY_BUILD), most because they need options of their own.
function(heed_source_options)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "/bfloat16/(amx|avx512).cpp$" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
      set_property(SOURCE ${source} PROPERTY COMPILE_OPTIONS  # runs only on processors that have these
        -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512bf16 -mprefer-vector-width=512)
    elseif(source MATCHES "/cpu_check.cpp$" AND HEED_CPU_FEATURES)
      set_property(SOURCE ${source} PROPERTY COMPILE_OPTIONS ${HEED_BASELINE})
      set_property(SOURCE ${source} PROPERTY COMPILE_DEFINITIONS "HEED_CPU_FEATURES=${HEED_CPU_FEATURES}")
    elseif(NOT source MATCHES "/kernels/bfloat16[./]")  # which has names of the float32 kernels
      continue()
    endif()
    set_property(SOURCE ${source} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()
