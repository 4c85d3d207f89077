# playground_apps: what the session uses of the rooms of apps and lab.
set(playground_apps "")
foreach(file config/config config/config_listing config/config_reader config/experiment config/named_run config/toml
        config/other_names
        inference/attended_example inference/attention_map inference/evaluation inference/generation
        inference/padded inference/positions inference/predictions inference/score inference/scores
        support/files support/json support/names support/table support/terminal support/text_scores support/together
        training/shards training/trainer)
  list(APPEND playground_apps ${CMAKE_CURRENT_LIST_DIR}/../../apps/${file}.cpp)
endforeach()
# Intervals need Boost.Math.
if(EXISTS /usr/include/boost/math/distributions/students_t.hpp)
  set(student student)
else()
  set(student fallback/student)
endif()
foreach(file experiments/statistics experiments/${student} inspect/ablate inspect/eigenvalues inspect/heads inspect/induction
        inspect/inspected inspect/trace)
  list(APPEND playground_apps ${CMAKE_CURRENT_LIST_DIR}/../../lab/${file}.cpp)
endforeach()
