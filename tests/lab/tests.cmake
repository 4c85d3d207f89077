# The tests of lab.
file(GLOB claims CONFIGURE_DEPENDS lab/claims/*.cpp)
heed_test_in_two(lab SOURCES ${claims} PATTERNS "sweep: the data that*" "profile: a cache*" "profile: prints*" "claims --json*"
  "train: --until*" "bench: prints*" "compare: a baseline or*" "compare: two keys*")
heed_program_tests(test_lab)
target_sources(test_lab PRIVATE apps/program.cpp)
target_compile_definitions(test_lab PRIVATE HEED_FIXTURES="${CMAKE_CURRENT_SOURCE_DIR}/fixtures")
heed_nightly_test(study 4 "The study of docs/experiments.md prints what the page shows"
  ${CMAKE_CURRENT_SOURCE_DIR}/docs/study.sh $<TARGET_FILE:heed_program>)
add_test(NAME sweep COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/program/sweep.sh $<TARGET_FILE:heed_program> ${library})
add_test(NAME browser COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/lab/report/run.sh $<TARGET_FILE:heed_program>)
heed_nightly_test(slurm 1 "A sweep whose runs are started by Slurm"
  ${CMAKE_CURRENT_SOURCE_DIR}/program/slurm.sh $<TARGET_FILE:heed_program>)

# The views of `heed inspect` on trained runs, against a second computation.
heed_nightly_test(inspect_runs 3 "heed inspect shows of three trained runs what a second computation gives"
  ${with_python} ${CMAKE_CURRENT_SOURCE_DIR}/lab/inspect/runs.py $<TARGET_FILE:heed_program>)

# ONNX files, checked by libonnx where it is installed, and by ONNX Runtime for node.
find_library(HEED_LIBONNX onnx)
find_package(Protobuf QUIET)
add_test(NAME onnx COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/lab/onnx/run.sh forms
  $<TARGET_FILE:test_lab> $<TARGET_FILE:heed_program> ${PROJECT_SOURCE_DIR}/build/node_modules
  $<$<AND:$<BOOL:${HEED_LIBONNX}>,$<BOOL:${Protobuf_FOUND}>>:${CMAKE_CURRENT_BINARY_DIR}/onnx_check>)
if(HEED_LIBONNX AND Protobuf_FOUND)
  add_executable(onnx_check lab/onnx/check.cpp)
  set_target_properties(onnx_check PROPERTIES UNITY_BUILD OFF)
  target_compile_definitions(onnx_check PRIVATE ONNX_ML ONNX_NAMESPACE=onnx)
  target_link_libraries(onnx_check PRIVATE ${HEED_LIBONNX} onnx_proto protobuf::libprotobuf)
endif()
heed_nightly_test(onnx_trained 11 "ONNX Runtime computes what three trained models compute"
  ${CMAKE_CURRENT_SOURCE_DIR}/lab/onnx/run.sh trained
  $<TARGET_FILE:test_lab> $<TARGET_FILE:heed_program> ${PROJECT_SOURCE_DIR}/build/node_modules)
heed_nightly_test(onnx_page 1 "A page in a browser runs an exported model"
  ${CMAKE_CURRENT_SOURCE_DIR}/lab/onnx/run.sh page
  $<TARGET_FILE:heed_program> ${PROJECT_SOURCE_DIR}/build/node_modules)
