# The tests of the course, and of the documents, which show every command.
heed_test(course)
heed_program_tests(test_course)
target_sources(test_course PRIVATE apps/program.cpp)
target_compile_definitions(test_course PRIVATE HEED_PLAYGROUND_TASKS="${PROJECT_SOURCE_DIR}/course/playground/tasks")
add_test(NAME docs COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/docs/run.sh $<TARGET_FILE:heed_program>)
add_test(NAME comments COMMAND ${with_python} ${CMAKE_CURRENT_SOURCE_DIR}/docs/comments.py ${CMAKE_CURRENT_BINARY_DIR}/comments)

# What grades answers, and the miniature, in double.
file(GLOB sources CONFIGURE_DEPENDS course/exercises/*.cpp)
include(course/exercises/samples.cmake)
add_executable(test_graders $<TARGET_OBJECTS:test_main> ${sources} ${samples})
set_source_files_properties(${samples} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
heed_test_options(test_graders)
target_link_libraries(test_graders PRIVATE course_graders heed_grader)
add_test(NAME graders COMMAND test_graders)

# The wrong answers to the exercises that replace a function of the library, in a program that replaces it.
if(NOT HEED_SANITIZE)
  set(programs "")
  foreach(exercise adam broadcast-shapes cross-entropy layer-norm matmul-backward multiply-backward rotary softmax)
    set(target replaced_${exercise})
    add_executable(${target} ${PROJECT_SOURCE_DIR}/course/exercises/${exercise}/exercise.cpp $<TARGET_OBJECTS:course_main>)
    heed_compile_options(${target})
    target_compile_options(${target} PRIVATE -O0 -w)
    target_compile_definitions(${target} PRIVATE HEED_DOUBLE)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${target} PRIVATE course_library)
    set_target_properties(${target} PROPERTIES INSTALL_RPATH $<TARGET_FILE_DIR:course_library>)
    list(APPEND programs $<TARGET_FILE:${target}>)
  endforeach()
  add_test(NAME replaced COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/course/replaced.sh $<TARGET_FILE:course_training> ${programs})
endif()

# The text of the course. One program has the C++ blocks of all pages, and a page has two tests: see course/text/run.sh.
# The blocks are not optimised, which builds faster; a page may leave a variable unused.
if(NOT HEED_SANITIZE AND NOT HEED_REFERENCE)  # neither is a matter of the text, and both take long
  add_library(course_plot STATIC ${PROJECT_SOURCE_DIR}/course/plot.cpp)
  heed_test_options(course_plot)
  target_link_libraries(course_plot PRIVATE heed_apps heed_core)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/course/text)
  add_executable(course_pages course/text/main.cpp)
  set_target_properties(course_pages PROPERTIES UNITY_BUILD_BATCH_SIZE 6)
  heed_compile_options(course_pages)
  target_compile_options(course_pages PRIVATE -O0 -w)
  target_link_libraries(course_pages PRIVATE course_plot heed_nn heed_optim heed_data)
  target_include_directories(course_pages PRIVATE ${PROJECT_SOURCE_DIR})
  target_precompile_headers(course_pages PRIVATE course/text/page.h)
  set(programs $<TARGET_FILE:course_pages> $<TARGET_FILE:heed_program>)
  add_test(NAME course_text COMMAND ${folder}/itself.sh ${programs})
  file(GLOB pages CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/course/[0-9]*.md ${PROJECT_SOURCE_DIR}/course/teaching.md ${PROJECT_SOURCE_DIR}/course/minimal.md
    ${PROJECT_SOURCE_DIR}/course/diary.md ${PROJECT_SOURCE_DIR}/course/symmetry.md
    ${PROJECT_SOURCE_DIR}/docs/operations.md ${PROJECT_SOURCE_DIR}/docs/classes.md ${PROJECT_SOURCE_DIR}/docs/scores.md)
  foreach(page IN LISTS pages ITEMS ${folder}/example.md)
    get_filename_component(name ${page} NAME_WE)
    file(RELATIVE_PATH shown ${PROJECT_SOURCE_DIR} ${page})
    set(source ${CMAKE_CURRENT_BINARY_DIR}/course/${name}.cpp)
    add_custom_command(OUTPUT ${source}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/course
      COMMAND ${folder}/run.sh program ${page} > ${source}
      DEPENDS ${page} ${folder}/run.sh ${folder}/blocks.awk VERBATIM)
    target_sources(course_pages PRIVATE ${source})
    if(NOT name STREQUAL "example")
      string(REGEX REPLACE "_.*" "" name ${name})
      set(run ${folder}/run.sh)
      if(CMAKE_BUILD_TYPE STREQUAL Debug AND name MATCHES "^(diary|symmetry)$")
        set(run ${CMAKE_COMMAND} -E echo "skipped: training amplifies how rounding differs from a release build:")
      endif()
      add_test(NAME course_${name} COMMAND ${run} quick ${page} ${programs})
      file(STRINGS ${page} long REGEX "^```sh nightly")
      if(long)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
        heed_nightly_test(course_${name}_nightly 2 "The long commands of ${shown} print what the page shows"
          ${run} nightly ${page} ${programs})
      endif()
    endif()
  endforeach()
endif()

# The exercises of the course, by `heed course`.
if(NOT HEED_SANITIZE AND NOT HEED_REFERENCE)
  set(exercises ${CMAKE_CURRENT_SOURCE_DIR}/course/exercises.sh $<TARGET_FILE:heed_program>)
  add_test(NAME exercises COMMAND ${exercises} quick)
  heed_nightly_test(all_exercises 6 "Every exercise: the stub fails, and the solution passes"
    ${exercises} all)
  set(museum ${CMAKE_CURRENT_SOURCE_DIR}/course/museum.sh $<TARGET_FILE:heed_program>)
  add_test(NAME museum COMMAND ${museum} quick)
  heed_nightly_test(all_museum 5 "Every exhibit of the museum builds, and shows what it says"
    ${museum} all)
  # The first looks for work folders that are left, where the second has some.
  set_tests_properties(exercises course_teaching PROPERTIES RESOURCE_LOCK answers)
endif()

# The playground: compiled by emscripten, compared with the program, and opened in Chromium. The test builds
# playground_double, with which it compares the module in double.
include(${PROJECT_SOURCE_DIR}/course/playground/sources.cmake)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
add_executable(playground_double EXCLUDE_FROM_ALL course/playground/native_double.cpp ${playground_apps})
heed_test_options(playground_double)
target_compile_options(playground_double PRIVATE -Wno-shadow)  # rooms that are one file only here
target_link_libraries(playground_double PRIVATE
  heed_nn_f64 heed_optim_f64 heed_data_f64 nlohmann_json::nlohmann_json tomlplusplus::tomlplusplus)
add_test(NAME playground_library COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/course/playground/library.sh ${PROJECT_SOURCE_DIR}
  ${playground_apps})
heed_nightly_test(playground 12 "The playground computes what the program computes, in a browser and within its memory"
  ${CMAKE_CURRENT_SOURCE_DIR}/course/playground/run.sh ${PROJECT_BINARY_DIR})

# The site, in a browser. npm fetches its packages into the build folder.
heed_nightly_test(site 4 "The site builds, and a browser finds no fault in its pages"
  ${CMAKE_CURRENT_SOURCE_DIR}/course/site/run.sh ${CMAKE_CURRENT_BINARY_DIR}/site)

# The slides of a class, by pandoc.
heed_nightly_test(slides 1 "The slides of all weeks"
  ${CMAKE_CURRENT_SOURCE_DIR}/course/slides/run.sh ${CMAKE_CURRENT_BINARY_DIR}/slides)
