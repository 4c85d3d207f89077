# heed_export_headers(source destination internal): copies the public headers of heed to destination/heed: all but those
# that begin with a name in the list `internal` (of heed_library()).
#
# Inside heed a header is "core/tensor.h"; a client includes <heed/core/tensor.h>. The copies include one another
# by the client's names, so that only the folder above heed/ is on the client's include path and a core/tensor.h
# of the client's own disturbs nobody.
function(heed_export_headers source destination internal)
  file(GLOB_RECURSE headers RELATIVE ${source} ${source}/core/*.h ${source}/nn/*.h ${source}/optim/*.h
    ${source}/data/*.h)
  foreach(name IN LISTS internal)
    list(FILTER headers EXCLUDE REGEX "^${name}")
  endforeach()
  list(APPEND headers heed.h apps/run/run.h)
  foreach(header IN LISTS headers)
    file(READ ${source}/${header} text)
    string(REPLACE "apps/run/" "" header ${header})
    string(REGEX REPLACE "#include \"([a-z_/0-9]+\\.h)\"" "#include <heed/\\1>" text "${text}")
    set(copy ${destination}/heed/${header})
    set(before "")
    if(EXISTS ${copy})
      file(READ ${copy} before)
    endif()
    if(NOT before STREQUAL text)
      file(WRITE ${copy} "${text}")
    endif()
  endforeach()
endfunction()
