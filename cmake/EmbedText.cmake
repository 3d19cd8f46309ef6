# Writes a C++ file that holds text files as string constants:
#   cmake -DOUTPUT=x.cpp -DNAMESPACE=n "-DENTRIES=name=file;…" -P EmbedText.cmake
# The text becomes an array, because compilers limit the length of string literals.
set(code "#include <string_view>\n\nnamespace ${NAMESPACE} {\n")
foreach(entry IN LISTS ENTRIES)
  string(FIND "${entry}" "=" equals)
  string(SUBSTRING "${entry}" 0 ${equals} name)
  math(EXPR start "${equals} + 1")
  string(SUBSTRING "${entry}" ${start} -1 file)
  file(READ "${file}" text HEX)
  string(LENGTH "${text}" digits)
  math(EXPR bytes "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," text "${text}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" text "${text}")
  string(APPEND code
    "namespace {\nconstexpr unsigned char k_${name}[] = {\n${text}0};\n}\n"
    "extern const std::string_view ${name};\n"
    "const std::string_view ${name}(reinterpret_cast<const char*>(k_${name}), ${bytes});\n")
endforeach()
string(APPEND code "}\n")
file(WRITE "${OUTPUT}" "${code}")
