# Joins ES modules into one script, since a page from the disk cannot import modules. Run as a script:
#   cmake -DENTRY=page.js -DOUTPUT=script.js -P join_modules.cmake
# The script is one block in strict mode: modules with the same top-level name are a SyntaxError, not a surprise.
# Modules write `import { … } from "./path.js";` and `export` before a declaration, nothing else.
cmake_policy(SET CMP0057 NEW)  # IN_LIST
set(seen "")
set(script "")

macro(join_module file)
  get_filename_component(path_${depth} ${file} ABSOLUTE)
  if(NOT path_${depth} IN_LIST seen)
    list(APPEND seen ${path_${depth}})
    file(READ ${path_${depth}} text_${depth})
    string(REGEX MATCHALL "import {[^}]*} from \"[^\"]*\"" imports_${depth} "${text_${depth}}")
    get_filename_component(folder_${depth} ${path_${depth}} DIRECTORY)
    foreach(import_${depth} IN LISTS imports_${depth})
      string(REGEX REPLACE ".* from \"([^\"]*)\"" "\\1" name_${depth} "${import_${depth}}")
      set(next "${folder_${depth}}/${name_${depth}}")
      math(EXPR depth "${depth} + 1")
      join_module("${next}")
      math(EXPR depth "${depth} - 1")
    endforeach()
    string(REGEX REPLACE "import {[^}]*} from \"[^\"]*\";\n" "" text_${depth} "${text_${depth}}")
    string(REGEX REPLACE "\nexport " "\n" text_${depth} "${text_${depth}}")
    string(APPEND script "${text_${depth}}")
  endif()
endmacro()

set(depth 0)
join_module(${ENTRY})
if(script MATCHES "\n(import|export) ")
  message(FATAL_ERROR "${ENTRY}: an import or export that join_modules.cmake does not know")
endif()
file(WRITE ${OUTPUT} "\"use strict\";\n{\n${script}}\n")
