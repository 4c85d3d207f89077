# Finds a library with the C interface of BLAS, as CBLAS::CBLAS. HEED_BLAS says which:
#   OpenBLAS     the OpenMP build of OpenBLAS; the default
#   Accelerate   the library of macOS, where it is the default; this was not tried
#   FILE         any other library that comes with cblas.h, such as that of netlib. It should compute with one thread:
#                heed divides its products itself
#
# Where the pthread build of OpenBLAS is installed too (numpy brings it), plain libopenblas.so.0 is that one, and two
# pools of threads would fight for the cores. So the library is linked by its full path: that puts its
# folder into the rpath of what links it, and the rpath is searched before the system's folders.
if(APPLE)
  set(default Accelerate)
else()
  set(default OpenBLAS)
endif()
set(HEED_BLAS ${default} CACHE STRING "BLAS to use: OpenBLAS, Accelerate (macOS), or the file of a library with cblas.h")

if(HEED_BLAS STREQUAL OpenBLAS)
  find_path(CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES
    ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp openblas-openmp openblas)
  find_library(CBLAS_LIBRARY NAMES openblaso openblas
    HINTS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp PATH_SUFFIXES openblas-openmp)
  set(definition HEED_OPENBLAS)
  set(hint "on Debian: apt-get install libopenblas-openmp-dev")
elseif(HEED_BLAS STREQUAL Accelerate)
  find_path(CBLAS_INCLUDE_DIR Accelerate/Accelerate.h)
  find_library(CBLAS_LIBRARY Accelerate)
  set(definition HEED_ACCELERATE)
  set(hint "Accelerate is a part of macOS")
else()
  find_path(CBLAS_INCLUDE_DIR cblas.h)
  set(CBLAS_LIBRARY ${HEED_BLAS})
  set(definition HEED_BLAS_NAME="${HEED_BLAS}")
  set(hint "HEED_BLAS=${HEED_BLAS} must be the file of a library whose cblas.h is installed")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CBLAS
  REQUIRED_VARS CBLAS_LIBRARY CBLAS_INCLUDE_DIR REASON_FAILURE_MESSAGE "${hint}")
mark_as_advanced(CBLAS_LIBRARY CBLAS_INCLUDE_DIR)

if(CBLAS_FOUND AND NOT TARGET CBLAS::CBLAS)
  add_library(CBLAS::CBLAS INTERFACE IMPORTED)
  set_target_properties(CBLAS::CBLAS PROPERTIES
    INTERFACE_LINK_LIBRARIES "${CBLAS_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CBLAS_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS "${definition}")
endif()
