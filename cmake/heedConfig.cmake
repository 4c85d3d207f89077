# find_package(heed): finds the packages that the installed libraries need, then the libraries.
include(CMakeFindDependencyMacro)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
find_dependency(fmt)
find_dependency(OpenMP COMPONENTS CXX)
find_dependency(OpenBLASOpenMP)
find_dependency(ZLIB)
list(REMOVE_ITEM CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
include(${CMAKE_CURRENT_LIST_DIR}/heedTargets.cmake)
