# Finds the OpenMP build of OpenBLAS and no other, as OpenBLAS::OpenMP.
#
# Where the pthread build is installed too (numpy brings it), plain libopenblas.so.0 is that one, and two
# pools of threads would fight for the cores. So the library is linked by its full path: that puts its
# folder into the rpath of what links it, and the rpath is searched before the system's folders.
find_path(OPENBLAS_OPENMP_INCLUDE_DIR cblas.h PATH_SUFFIXES
  ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp openblas-openmp openblas)
find_library(OPENBLAS_OPENMP_LIBRARY NAMES openblaso openblas
  HINTS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp PATH_SUFFIXES openblas-openmp)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLASOpenMP
  REQUIRED_VARS OPENBLAS_OPENMP_LIBRARY OPENBLAS_OPENMP_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "on Debian: apt-get install libopenblas-openmp-dev")
mark_as_advanced(OPENBLAS_OPENMP_LIBRARY OPENBLAS_OPENMP_INCLUDE_DIR)

if(OpenBLASOpenMP_FOUND AND NOT TARGET OpenBLAS::OpenMP)
  add_library(OpenBLAS::OpenMP UNKNOWN IMPORTED)
  set_target_properties(OpenBLAS::OpenMP PROPERTIES
    IMPORTED_LOCATION ${OPENBLAS_OPENMP_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${OPENBLAS_OPENMP_INCLUDE_DIR})
endif()
