# What core and all above it stand on. What only the program or the tests use is found where it is used.
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
find_package(fmt REQUIRED)
find_package(OpenBLASOpenMP REQUIRED)
find_package(ZLIB REQUIRED)  # for data alone, but who links data must find it too

# Threads are OpenMP's, but under the thread sanitizer, which cannot see into libgomp, core/parallel.h
# runs on std::thread.
if(HEED_SANITIZE MATCHES thread)
  find_package(Threads REQUIRED)
  set(HEED_THREADS Threads::Threads)
else()
  find_package(OpenMP REQUIRED COMPONENTS CXX)
  set(HEED_THREADS OpenMP::OpenMP_CXX)
endif()

# A program has its path to OpenBLAS from the start, and keeps it when it is installed.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
