# What every file of the project is compiled with. Never -ffast-math: it breaks infinities and NaN checks.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# -O3 pays in the kernels, where the time of a run is spent; elsewhere it only costs build time.
string(REPLACE -O3 -O2 CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

function(heed_compile_options target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Werror -march=${HEED_ARCH} -fno-math-errno -fno-trapping-math)
  if(HEED_SANITIZE)
    # Sanitized code confuses the two warnings, even inside gcc's own avx512fintrin.h; release has them.
    target_compile_options(${target} PRIVATE
      -fsanitize=${HEED_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
      -Wno-uninitialized -Wno-maybe-uninitialized)
    target_link_options(${target} PUBLIC -fsanitize=${HEED_SANITIZE})
  endif()
  if(HEED_SANITIZE MATCHES thread)
    target_compile_definitions(${target} PRIVATE HEED_STD_THREADS)
    target_compile_options(${target} PRIVATE -fopenmp-simd)
  else()
    target_compile_options(${target} PRIVATE -fopenmp)
  endif()
endfunction()

# What nearly every file includes is parsed once, for `owner`, and shared by all targets that name the
# same owner: a quarter of the time of a build. Files include what they use all the same; the asan preset,
# which precompiles nothing, sees to that. Two things to know of gcc 12. A precompiled header brings the -O
# it was made with along, so that all who share one must have the same. And it forgets that its contents
# are the system's, and gives its known false alarms about std::string.
function(heed_precompile target owner)
  target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE
      <fmt/core.h> <algorithm> <array> <cmath> <functional> <memory> <span> <string> <vector>)
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# The files that are compiled differently from the rest of their folder; the last option wins.
function(heed_source_options)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "/amx.cpp$" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
      set_property(SOURCE ${source} PROPERTY COMPILE_OPTIONS  # it runs only where there is AMX
        $<$<CONFIG:Release>:-O3> -mavx512f -mavx512bw -mavx512vl -mavx512dq -mprefer-vector-width=512)
      set_property(SOURCE ${source} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
    elseif(source MATCHES "/kernels/")
      set_property(SOURCE ${source} PROPERTY COMPILE_OPTIONS
        $<$<CONFIG:Release>:-O3>$<$<CONFIG:RelWithDebInfo>:-O2>)  # -Og keeps a tile of sums in memory
      set_property(SOURCE ${source} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
    elseif(source MATCHES "/cpu_check.cpp$" AND HEED_CPU_FEATURES)
      set_property(SOURCE ${source} PROPERTY COMPILE_OPTIONS ${HEED_BASELINE})
      set_property(SOURCE ${source} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
      set_property(SOURCE ${source} PROPERTY COMPILE_DEFINITIONS "HEED_CPU_FEATURES=${HEED_CPU_FEATURES}")
    endif()
  endforeach()
endfunction()
