# Writes OUTPUT, a source file that names the commit that the folder SOURCE stands on, with "-dirty" if files have
# changed since. Without git, or outside a repository of its own, the name is empty.
find_program(git git)
set(commit "")
if(git)
  set(ENV{GIT_OPTIONAL_LOCKS} 0)
  execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --show-prefix
    RESULT_VARIABLE failed OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed AND prefix STREQUAL "")
    execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty --exclude=* --abbrev=12
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
#include "apps/support/version.h"

static const bool known = heed::set_program_commit("@commit@");
]] @ONLY)
