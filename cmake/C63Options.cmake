# Sets the compile options of every target, finds CUDA, FFmpeg and other libraries on this machine, and asks git for the
# revision. CMakeLists.txt includes it before all targets.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET default)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

# Only this file decides whether CUDA is used.
set(C63_HAVE_CUDA OFF)
if(NOT C63_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc CACHE FILEPATH "CUDA compiler")
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      # On a machine with a GPU, build for that GPU. On others, build for all major architectures, with PTX for future
      # ones.
      if(EXISTS /dev/nvidia0)
        set(CMAKE_CUDA_ARCHITECTURES native CACHE STRING "CUDA architectures")
      else()
        set(CMAKE_CUDA_ARCHITECTURES all-major CACHE STRING "CUDA architectures")
      endif()
    endif()
    enable_language(CUDA)
    if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      # CMake before 3.26 does not know that nvcc compiles C++20 since 12.0.
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_COMPILE_FEATURES cuda_std_20)
      list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
      find_package(CUDAToolkit 13 REQUIRED)
      set(C63_HAVE_CUDA ON)
    elseif(C63_CUDA STREQUAL "ON")
      message(FATAL_ERROR "C63_CUDA=ON needs CUDA 13 or newer, and ${CMAKE_CUDA_COMPILER} is CUDA ${CMAKE_CUDA_COMPILER_VERSION}")
    else()
      message(WARNING "c63 is built without its CUDA backend, which needs CUDA 13 or newer: "
        "${CMAKE_CUDA_COMPILER} is CUDA ${CMAKE_CUDA_COMPILER_VERSION}")
    endif()
  elseif(C63_CUDA STREQUAL "ON")
    message(FATAL_ERROR "C63_CUDA=ON, but no CUDA compiler was found (set CUDACXX or PATH)")
  endif()
endif()
message(STATUS "c63: CUDA backend ${C63_HAVE_CUDA}")

find_package(Threads REQUIRED)
find_package(PkgConfig)

set(C63_HAVE_FFMPEG OFF)
if(NOT C63_FFMPEG STREQUAL "OFF")
  if(PkgConfig_FOUND)
    pkg_check_modules(FFMPEG IMPORTED_TARGET libavformat libavcodec libavutil libswscale)
  endif()
  if(FFMPEG_FOUND)
    set(C63_HAVE_FFMPEG ON)
  elseif(C63_FFMPEG STREQUAL "ON")
    message(FATAL_ERROR "C63_FFMPEG=ON, but libavformat, libavcodec, libavutil or libswscale was not found")
  endif()
endif()
message(STATUS "c63: FFmpeg input ${C63_HAVE_FFMPEG}")

# Every target of the project links c63_build_options or c63_cold_options. Neither is installed, so programs that use
# the library do not get these options.
add_library(c63_build_options INTERFACE)
target_compile_options(c63_build_options INTERFACE
  # The format rounds a product and then the sum. A fused multiply-add rounds only once, so the bytes would differ. g++
  # fuses even with -std=c++20.
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual>
  $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false --expt-relaxed-constexpr -Xcompiler=-ffp-contract=off,-Wall,-Wextra,-Wshadow>)
if(C63_WERROR)
  target_compile_options(c63_build_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings -Xcompiler=-Werror>)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  # g++ would note that older compilers pass pairs of numbers in another way.
  target_compile_options(c63_build_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-psabi>)
endif()
if(CMAKE_UNITY_BUILD)
  # In unity builds, g++ would warn about a class that uses a name from an anonymous namespace of an included file.
  target_compile_options(c63_build_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()
if(C63_SANITIZE)
  target_compile_options(c63_build_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${C63_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer>
    # Clang's check object-size is off, because the address sanitizer finds the same errors.
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fno-sanitize=object-size>
    # g++ mistakes the code that it adds for sanitizers for code of the program, and warns about cases that cannot
    # happen.
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
      -Wno-maybe-uninitialized>)
  target_link_options(c63_build_options INTERFACE -fsanitize=${C63_SANITIZE})
endif()
if(C63_GPROF)
  target_compile_options(c63_build_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-pg -fno-inline-functions>)
  target_link_options(c63_build_options INTERFACE -pg)
endif()
if(C63_PROFILE)
  target_compile_options(c63_build_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer> $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>)
endif()

# The options for programs, tests and the Python module. They need not be fast, and optimizing them takes much of the
# compile time.
add_library(c63_cold_options INTERFACE)
target_link_libraries(c63_cold_options INTERFACE c63_build_options)
# Targets with the property C63_UNOPTIMIZED are not optimized at all, because they compute little themselves. With C63_QUICK
# this is so for all of them without the property C63_LONG_LOOPS, to save compile time.
target_compile_options(c63_cold_options INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:$<IF:$<OR:$<BOOL:$<TARGET_PROPERTY:C63_UNOPTIMIZED>>,$<AND:$<BOOL:${C63_QUICK}>,$<NOT:$<BOOL:$<TARGET_PROPERTY:C63_LONG_LOOPS>>>>>,-O0,-O1>>)
if(C63_SANITIZE)
  # With sanitizers, clang's optimizer takes three times as long as the rest of the compilation, and finds no more
  # warnings. So it is off. Targets with the property C63_LONG_LOOPS stay optimized, because they would lose more time
  # when they run.
  target_compile_options(c63_cold_options INTERFACE
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,Clang>,$<NOT:$<BOOL:$<TARGET_PROPERTY:C63_LONG_LOOPS>>>>:-O0>)
endif()

# The git revision, for --version and result files.
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} describe --always --dirty=+ --abbrev=12 --match=NOTHING
  OUTPUT_VARIABLE C63_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE git_result)
if(NOT git_result EQUAL 0 OR NOT C63_REVISION)
  set(C63_REVISION unknown)
endif()
