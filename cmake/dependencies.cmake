# The packages that core and the folders above it need. Packages of the program and of the tests are found
# where they are used.
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})

# With HEED_STATIC all libraries are archives. Debian has none of fmt, spdlog and toml++, which are used as headers, and
# none of SentencePiece and cpp-httplib, without which heed builds.
set(HEED_FMT fmt::fmt)
if(HEED_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  string(APPEND CMAKE_EXE_LINKER_FLAGS " -static")
  set(HEED_FMT fmt::fmt-header-only)
endif()

find_package(fmt REQUIRED)
find_package(CBLAS REQUIRED)
find_package(nlohmann_json REQUIRED)  # headers only: clients need nothing of it

# Without these heed builds, and says which package is missing where a feature needs it.
find_package(ZLIB)           # compressed image files
find_package(SentencePiece)  # subwords
set(HEED_DATA_PACKAGES "")
foreach(package ZLIB SentencePiece)
  if(${package}_FOUND)
    list(APPEND HEED_DATA_PACKAGES ${package})
  endif()
endforeach()

# Threads come from OpenMP. The thread sanitizer cannot see into libgomp: there core/parallel.h uses std::thread.
if(HEED_SANITIZE MATCHES thread)
  find_package(Threads REQUIRED)
  set(HEED_THREADS Threads::Threads)
else()
  if(APPLE AND NOT OpenMP_ROOT)  # Homebrew keeps libomp out of the compiler's folders
    set(OpenMP_ROOT /opt/homebrew/opt/libomp /usr/local/opt/libomp)
  endif()
  find_package(OpenMP REQUIRED COMPONENTS CXX)
  set(HEED_THREADS OpenMP::OpenMP_CXX)
  if(HEED_STATIC)  # a program gets the archive, and the module of Python, which cannot have it, the shared library
    set(HEED_THREADS ${OpenMP_CXX_FLAGS})
  endif()
endif()

# Programs keep their path to BLAS when they are installed.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
