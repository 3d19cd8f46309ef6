# c63_embed_text(output namespace name=file...): writes the C++ file `output`, which holds text files as string constants
# of type std::string_view. CMake runs again if a file changes. A text becomes an array, because compilers limit the
# length of string literals.
function(c63_embed_text output namespace)
  set(code "#include <string_view>\n\nnamespace ${namespace} {\n")
  foreach(entry IN LISTS ARGN)
    string(REGEX MATCH "^([^=]*)=(.*)$" entry "${entry}")
    set(name ${CMAKE_MATCH_1})
    file(READ "${CMAKE_MATCH_2}" text HEX)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_MATCH_2}")
    string(LENGTH "${text}" digits)
    math(EXPR bytes "${digits} / 2")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," text "${text}")
    string(REGEX REPLACE "(................................................................................)" "\\1\n" text "${text}")
    string(APPEND code
      "namespace {\nconstexpr unsigned char k_${name}[] = {\n${text}0};\n}\n"
      "extern const std::string_view ${name};\n"
      "const std::string_view ${name}(reinterpret_cast<const char*>(k_${name}), ${bytes});\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT "${code}}\n" @ONLY)  # writes the file only if it changes
endfunction()
