# Unity builds of CUDA files: nvcc reads a file's headers four times, which takes longer than most of these files do without.
# CMake's own leave CUDA out before 3.31.

# c63_unite(files_variable name files...): adds to a variable a file that includes these.
function(c63_unite files_variable name)
  set(text "")
  foreach(file IN LISTS ARGN)
    cmake_path(GET file STEM stem)
    set(constants kBlocks kEach kThreads kWarps)  # of these, many files have one of their own
    list(TRANSFORM constants REPLACE "(.+)" "#define \\1 \\1_${stem}\n" OUTPUT_VARIABLE defines)
    list(TRANSFORM constants REPLACE "(.+)" "#undef \\1\n" OUTPUT_VARIABLE undefines)
    string(APPEND text ${defines} "#include \"${file}\"\n" ${undefines})
  endforeach()
  set(path ${CMAKE_CURRENT_BINARY_DIR}/unity/${name}.cu)
  file(CONFIGURE OUTPUT ${path} CONTENT "${text}" @ONLY)
  set(${files_variable} ${${files_variable}} ${path} PARENT_SCOPE)
endfunction()

# c63_unite_cuda(sources_variable differing_variable): of the files that the first variable names, puts those that the second one
# names into one, and the other CUDA files together eight at a time. Both variables name what there is to compile then.
function(c63_unite_cuda sources_variable differing_variable)
  set(kernels ${${sources_variable}})
  set(files ${${sources_variable}})
  list(FILTER kernels INCLUDE REGEX "[.]cu$")
  list(FILTER files EXCLUDE REGEX "[.]cu$")
  list(REMOVE_ITEM kernels ${${differing_variable}})
  set(united "")
  c63_unite(united differing ${${differing_variable}})
  set(cub ${kernels})
  list(FILTER cub INCLUDE REGEX "_cub[.]cu$")  # its headers are the longest
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
