# cmake --install: the program, the libraries with their headers, and find_package(heed), which gives
# heed::core, heed::nn, heed::optim, heed::data, and heed::heed for all of them.
include(CMakePackageConfigHelpers)

add_library(heed INTERFACE)
add_library(heed::heed ALIAS heed)
install(TARGETS heed EXPORT heedTargets)
foreach(folder core nn optim data)
  target_link_libraries(heed INTERFACE heed_${folder})
  set_target_properties(heed_${folder} PROPERTIES EXPORT_NAME ${folder})
  install(TARGETS heed_${folder} EXPORT heedTargets)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heed FILES_MATCHING PATTERN "*.h")
endforeach()
install(TARGETS heed_program)
install(FILES LICENSE TYPE DOC)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heed)
install(EXPORT heedTargets NAMESPACE heed:: DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/heedConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/heedConfig.cmake cmake/FindOpenBLASOpenMP.cmake
  ${CMAKE_BINARY_DIR}/heedConfigVersion.cmake DESTINATION ${package_dir})
