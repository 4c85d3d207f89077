# cmake --install: the program with its manual page and its completion for bash, the libraries, the public
# headers, and find_package(heed), which gives heed::core, heed::nn, heed::optim, heed::data, and heed::heed for all
# of them. find_package(heed COMPONENTS run) also gives heed::run, which needs further packages; with the components
# core, nn and optim it asks for fmt and BLAS only. And heed.pc for pkg-config.
include(CMakePackageConfigHelpers)
include(cmake/export_headers.cmake)

add_library(heed INTERFACE)
add_library(heed::heed ALIAS heed)
install(TARGETS heed EXPORT heedTargets)
foreach(folder core nn optim data)
  target_link_libraries(heed INTERFACE heed_${folder})
  set_target_properties(heed_${folder} PROPERTIES EXPORT_NAME ${folder})
  install(TARGETS heed_${folder} EXPORT heedTargets)
endforeach()

get_property(internal GLOBAL PROPERTY HEED_INTERNAL)
if(NOT PROJECT_IS_TOP_LEVEL)
  heed_export_headers(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/include "${internal}")
endif()
install(CODE "
  include(\"${PROJECT_SOURCE_DIR}/cmake/export_headers.cmake\")
  heed_export_headers(\"${PROJECT_SOURCE_DIR}\" \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\"
    \"${internal}\")")

if(HEED_PROGRAM)
  install(TARGETS heed_program)
  set(pages ${CMAKE_BINARY_DIR}/pages)
  install(CODE "
    file(MAKE_DIRECTORY \"${pages}\")
    execute_process(COMMAND $<TARGET_FILE:heed_program> --man OUTPUT_FILE \"${pages}/heed.1\"
      COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND $<TARGET_FILE:heed_program> --completion OUTPUT_FILE \"${pages}/heed\"
      COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${pages}/heed.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${pages}/heed DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()
install(FILES LICENSE TYPE DOC)
# The documentation with its reference, if ./heed site has built it.
set(HEED_SITE ${CMAKE_BINARY_DIR}/../site CACHE PATH "Folder of the pages of ./heed site, which are installed in share/doc")
install(DIRECTORY ${HEED_SITE}/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/html OPTIONAL)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heed)
install(EXPORT heedTargets NAMESPACE heed:: DESTINATION ${package_dir})
if(HEED_PROGRAM)
  set_target_properties(heed_run PROPERTIES EXPORT_NAME run)
  install(TARGETS heed_run EXPORT heedRunTargets)
  install(EXPORT heedRunTargets NAMESPACE heed:: DESTINATION ${package_dir})
endif()
write_basic_package_version_file(${CMAKE_BINARY_DIR}/heedConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(cmake/heedConfig.cmake.in ${CMAKE_BINARY_DIR}/heedConfig.cmake @ONLY)
install(FILES cmake/FindCBLAS.cmake cmake/FindSentencePiece.cmake ${CMAKE_BINARY_DIR}/heedConfig.cmake
  ${CMAKE_BINARY_DIR}/heedConfigVersion.cmake DESTINATION ${package_dir})

# For pkg-config, all libraries but run.
file(RELATIVE_PATH include_dir /${CMAKE_INSTALL_LIBDIR}/pkgconfig /${CMAKE_INSTALL_INCLUDEDIR})
get_filename_component(blas_dir "${CBLAS_LIBRARY}" DIRECTORY)
set(data_libraries "")
if(ZLIB_FOUND)
  string(APPEND data_libraries "-lz ")
endif()
if(SentencePiece_FOUND)
  string(APPEND data_libraries "-lsentencepiece_train -lsentencepiece")
endif()
configure_file(packaging/heed.pc.in ${CMAKE_BINARY_DIR}/heed.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/heed.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
