# Unity builds compile several CUDA files as one file that includes them. nvcc reads the headers of each file four
# times, and for most of these files that takes most of the compile time. CMake's own unity builds support CUDA only
# from 3.31 on.

# c63_unite(files_variable name files...): writes a CUDA file that includes `files`, and adds its path to the variable.
function(c63_unite files_variable name)
  set(text "")
  foreach(file IN LISTS ARGN)
    cmake_path(GET file STEM stem)
    set(constants kBlocks kEach kThreads kWarps)  # constants that several files define for themselves
    list(TRANSFORM constants REPLACE "(.+)" "#define \\1 \\1_${stem}\n" OUTPUT_VARIABLE defines)
    list(TRANSFORM constants REPLACE "(.+)" "#undef \\1\n" OUTPUT_VARIABLE undefines)
    string(APPEND text ${defines} "#include \"${file}\"\n" ${undefines})
  endforeach()
  set(path ${CMAKE_CURRENT_BINARY_DIR}/unity/${name}.cu)
  file(CONFIGURE OUTPUT ${path} CONTENT "${text}" @ONLY)
  set_source_files_properties(${path} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # CMake 3.31 would unite it once more
  set(${files_variable} ${${files_variable}} ${path} PARENT_SCOPE)
endfunction()

# c63_unite_cuda(sources_variable differing_variable): unites the CUDA files of the first variable, eight in one file.
# Files that use CUB are united in a separate file. So are those that the second variable names: they must be compiled
# differently. Afterwards, the first variable holds all files to compile, and the second holds only the file that must
# be compiled differently.
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
