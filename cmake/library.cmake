# heed_library(core SOURCES … [PRIVATE …] [PUBLIC …] [USES core …] [DOUBLE])
#
# One static library a folder, heed_<folder>, which may use the folders named in USES. With DOUBLE it is
# built a second time with real = double, as heed_<folder>_f64, from the same files.
function(heed_library folder)
  cmake_parse_arguments(ARG "DOUBLE" "" "SOURCES;PUBLIC;PRIVATE;USES" ${ARGN})
  set(variants "")
  if(ARG_DOUBLE)
    set(variants _f64)
  endif()
  foreach(variant IN LISTS variants ITEMS "")
    set(target heed_${folder}${variant})
    add_library(${target} STATIC ${ARG_SOURCES})
    heed_compile_options(${target})
    target_include_directories(${target} PUBLIC
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/heed>)
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_link_libraries(${target} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
    foreach(used IN LISTS ARG_USES)
      target_link_libraries(${target} PUBLIC heed_${used}${variant})
    endforeach()
    if(variant STREQUAL "_f64")
      target_compile_definitions(${target} PUBLIC HEED_DOUBLE)
    endif()
  endforeach()
endfunction()

# What every file of the project is compiled with. Never -ffast-math: it breaks infinities and NaN checks.
function(heed_compile_options target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Werror -march=${HEED_ARCH} -fno-math-errno -fno-trapping-math)
  if(HEED_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${HEED_SANITIZE} -fno-omit-frame-pointer
      -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${HEED_SANITIZE})
  endif()
endfunction()
