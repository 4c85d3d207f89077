# Finds the OpenMP build of OpenBLAS and nothing else: beside the pthread build (which numpy brings)
# two thread pools would fight for the cores. Linked by its full path, kept by rpath.
find_path(OPENBLAS_INCLUDE_DIR cblas.h REQUIRED
          PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp openblas-openmp)
find_library(OPENBLAS_LIBRARY openblas REQUIRED
             PATH_SUFFIXES openblas-openmp)
get_filename_component(OPENBLAS_LIBRARY_DIR ${OPENBLAS_LIBRARY} DIRECTORY)

add_library(OpenBLAS::OpenBLAS UNKNOWN IMPORTED)
set_target_properties(OpenBLAS::OpenBLAS PROPERTIES
  IMPORTED_LOCATION ${OPENBLAS_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${OPENBLAS_INCLUDE_DIR})
