# Writes OUTPUT, a C++ file with the bytes of files, as lab/report/page_files.h declares them. Run as a script:
#   cmake -DOUTPUT=… -DFOLDER=… -DSTYLE=… -DSCRIPT=… -P embed.cmake
# FOLDER: lab/report/page; STYLE: the style sheet of all pages; SCRIPT: the joined modules.
set(code "// Made by cmake/embed.cmake.\n#include \"lab/report/page_files.h\"\n\nnamespace heed::page_files {\n")

# embed(name FILES…): defines `name` as the text of the files, one after the other.
function(embed name)
  set(hex "")
  foreach(file IN LISTS ARGN)
    file(READ ${file} part HEX)
    string(APPEND hex "${part}")
  endforeach()
  string(LENGTH "${hex}" digits)
  math(EXPR bytes "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," list "${hex}")
  string(REGEX REPLACE "('\\\\x20',)" "\\1\n" list "${list}")  # a line for each word
  set(code "${code}static const char ${name}_bytes[] = {\n${list}0};\n" PARENT_SCOPE)
  set(views "${views}const std::string_view ${name}(${name}_bytes, ${bytes});\n" PARENT_SCOPE)
endfunction()

embed(frame ${FOLDER}/index.html)
embed(style ${STYLE} ${FOLDER}/report.css)
embed(script ${SCRIPT})
file(WRITE ${OUTPUT} "${code}\n${views}\n}  // namespace heed::page_files\n")
