# Runs one step of the tests in CMakeLists.txt. STEP is its name.

set(prefix ${WORK}/prefix)

# install_from(build prefix)
macro(install_from build prefix)
  foreach(component IN ITEMS Development Modules)
    run(${CMAKE_COMMAND} --install ${build} --config ${BUILD_TYPE} --prefix ${prefix} --component ${component})
  endforeach()
endmacro()

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "exit status ${result}")
  endif()
endfunction()

# consume(name build options...): configures, builds and runs the consumer of that name in the folder `build`.
function(consume name build)
  file(REMOVE_RECURSE ${WORK}/${build})
  run(${CMAKE_COMMAND} -S ${SOURCE}/${name} -B ${WORK}/${build} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX}
    -DCMAKE_BUILD_TYPE=${BUILD_TYPE} ${ARGN})
  run(${CMAKE_COMMAND} --build ${WORK}/${build} --config ${BUILD_TYPE} --target consumer)
  run(${WORK}/${build}/consumer ${FFMPEG})
endfunction()

if(STEP STREQUAL "install")
  file(REMOVE_RECURSE ${prefix})
  install_from(${BUILD} ${prefix})
elseif(STEP STREQUAL "find_package")
  consume(find_package find_package -DCMAKE_PREFIX_PATH=${prefix})
elseif(STEP STREQUAL "pkg_config")
  find_program(PKG_CONFIG pkg-config REQUIRED)
  set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig:$ENV{PKG_CONFIG_PATH}")
  set(ENV{LD_LIBRARY_PATH} "${prefix}/${LIBDIR}:$ENV{LD_LIBRARY_PATH}")
  execute_process(COMMAND ${PKG_CONFIG} --cflags --libs c63 OUTPUT_VARIABLE flags
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  execute_process(COMMAND ${PKG_CONFIG} --variable=moduledir c63 OUTPUT_VARIABLE modules
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  run(${CXX} -std=c++20 -DC63_MODULES="${modules}" ${SOURCE}/consumer.cpp -o ${WORK}/pkg_config_consumer ${flags})
  run(${WORK}/pkg_config_consumer ${FFMPEG})
elseif(STEP STREQUAL "subproject")
  # This step only tests that c63 compiles, links and installs as a part of another project. To save time, hardly
  # anything is compiled, without optimization and debug information.
  set(BUILD_TYPE Debug)
  set(ENV{C63_OBJECTS} ${BUILD})
  consume(subproject subproject -DC63_PROJECT=${PROJECT} -DBUILD_SHARED_LIBS=ON -DC63_CUDA=OFF -DC63_FFMPEG=${FFMPEG} -DC63_INSTALL=ON
    -DCMAKE_UNITY_BUILD=${UNITY} -DCMAKE_UNITY_BUILD_BATCH_SIZE=${BATCH}
    -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_CXX_COMPILER_LAUNCHER=${SOURCE}/reuse_objects)
  if(NOT EXISTS ${WORK}/subproject/c63/encoder/libc63.so)
    message(FATAL_ERROR "no shared library was built")
  endif()
  file(REMOVE_RECURSE ${prefix}_shared)
  install_from(${WORK}/subproject ${prefix}_shared)
  consume(find_package find_package_shared -DCMAKE_PREFIX_PATH=${prefix}_shared)
else()
  message(FATAL_ERROR "unknown step '${STEP}'")
endif()
