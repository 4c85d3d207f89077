# heed_library(core SOURCES … [PRIVATE …] [PUBLIC …] [USES core …] [DOUBLE] [QUICK])
#
# One static library a folder, heed_<folder>, which may use the folders named in USES. With DOUBLE it is
# built a second time with real = double, as heed_<folder>_f64, from the same files, for the tests. QUICK
# is for a folder where no time of a run is spent: quicker to compile.
function(heed_library folder)
  cmake_parse_arguments(ARG "DOUBLE;QUICK" "" "SOURCES;PUBLIC;PRIVATE;USES" ${ARGN})
  heed_source_options(${ARG_SOURCES})
  foreach(real float double)
    if(real STREQUAL float)
      set(suffix "")
      set(target heed_${folder})
      add_library(${target} STATIC ${ARG_SOURCES})
      add_library(heed::${folder} ALIAS ${target})
    elseif(ARG_DOUBLE)
      set(suffix _f64)
      set(target heed_${folder}_f64)
      add_library(${target} STATIC EXCLUDE_FROM_ALL ${ARG_SOURCES})
      target_compile_definitions(${target} PUBLIC HEED_DOUBLE)
    else()
      break()
    endif()
    heed_compile_options(${target})
    if(ARG_QUICK)
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
      heed_precompile(${target} ${target})
    else()
      heed_precompile(${target} heed_core)
    endif()
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_include_directories(${target} PUBLIC
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>        # <heed/core/tensor.h>, for users
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/heed>)  # "core/tensor.h", as here
    list(TRANSFORM ARG_USES REPLACE "(.+)" "heed_\\1${suffix}" OUTPUT_VARIABLE used)
    target_link_libraries(${target} PUBLIC ${ARG_PUBLIC} ${used} PRIVATE ${ARG_PRIVATE})
  endforeach()
endfunction()
