# Unity builds of CUDA files. nvcc reads a file's headers four times, which takes longer than the rest of most of these files.
# CMake's own unity builds leave out CUDA before 3.31.

# c63_unite(files_variable name files...): makes a file that includes these files, and adds it to the variable.
function(c63_unite files_variable name)
  set(text "")
  foreach(file IN LISTS ARGN)
    cmake_path(GET file STEM stem)
    set(constants kBlocks kEach kThreads kWarps)  # many files define their own
    list(TRANSFORM constants REPLACE "(.+)" "#define \\1 \\1_${stem}\n" OUTPUT_VARIABLE defines)
    list(TRANSFORM constants REPLACE "(.+)" "#undef \\1\n" OUTPUT_VARIABLE undefines)
    string(APPEND text ${defines} "#include \"${file}\"\n" ${undefines})
  endforeach()
  set(path ${CMAKE_CURRENT_BINARY_DIR}/unity/${name}.cu)
  file(CONFIGURE OUTPUT ${path} CONTENT "${text}" @ONLY)
  set(${files_variable} ${${files_variable}} ${path} PARENT_SCOPE)
endfunction()

# c63_unite_cuda(sources_variable differing_variable): combines the CUDA files of the first variable, eight at a time. Files
# that the second variable names are combined separately. Afterwards both variables name the files to compile.
function(c63_unite_cuda sources_variable differing_variable)
  set(kernels ${${sources_variable}})
  set(files ${${sources_variable}})
  list(FILTER kernels INCLUDE REGEX "[.]cu$")
  list(FILTER files EXCLUDE REGEX "[.]cu$")
  list(REMOVE_ITEM kernels ${${differing_variable}})
  set(united "")
  c63_unite(united differing ${${differing_variable}})
  set(cub ${kernels})
  list(FILTER cub INCLUDE REGEX "_cub[.]cu$")  # CUB's headers are the longest
  list(REMOVE_ITEM kernels ${cub})
  c63_unite(files cub ${cub})
  set(number 0)
  while(kernels)
    list(SUBLIST kernels 0 8 batch)
    list(REMOVE_ITEM kernels ${batch})
    c63_unite(files ${number} ${batch})
    math(EXPR number "${number} + 1")
  endwhile()
  set(${sources_variable} ${files} ${united} PARENT_SCOPE)
  set(${differing_variable} ${united} PARENT_SCOPE)
endfunction()
