# Makes one CTest test of each suite of a GoogleTest program, after the program is built. gtest_discover_tests() would
# make a CTest test of each single GoogleTest test, and starting a process takes longer than most tests.
#
# c63_discover_suites(target prefix [cost]): adds tests named prefix/suite. A suite counts as skipped if all its tests
# were skipped: no test passed, and the list of skipped tests ends the output. (A list of failed tests would follow it.)
# CTest starts tests with the highest cost first, so that a long test does not run alone at the end.

if(CMAKE_SCRIPT_MODE_FILE)
  cmake_policy(VERSION 3.25)
  list(REMOVE_ITEM RUN "")  # the first entry is empty unless an emulator is set
  execute_process(COMMAND ${RUN} --gtest_list_tests OUTPUT_VARIABLE list COMMAND_ERROR_IS_FATAL ANY)
  list(JOIN RUN "]==] [==[" run)
  set(script "")
  string(REGEX MATCHALL "[^\n]+" lines "${list}")
  foreach(line IN LISTS lines)
    if(line MATCHES "^([^ ]+)[.]( |$)")
      set(suite ${CMAKE_MATCH_1})
      string(APPEND script "add_test([==[${PREFIX}/${suite}]==] [==[${run}]==] [==[--gtest_filter=${suite}.*]==])\n"
        "set_tests_properties([==[${PREFIX}/${suite}]==] PROPERTIES TIMEOUT 600 ${COST} "
        "SKIP_REGULAR_EXPRESSION [==[\\[  PASSED  \\] 0 tests\\.\n(\\[  SKIPPED \\][^\n]*\n?)+$]==])\n")
    endif()
  endforeach()
  file(WRITE ${OUTPUT} "${script}")
  return()
endif()

set(C63_TEST_SUITES_FILE ${CMAKE_CURRENT_LIST_FILE})

function(c63_discover_suites target prefix)
  set(cost "")
  if(ARGC GREATER 2)
    set(cost "COST ${ARGV2}")
  endif()
  set(suites ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
  set(include ${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake)
  file(WRITE ${include} "if(EXISTS [==[${suites}]==])\n  include([==[${suites}]==])\nelse()\n"
    "  add_test([==[${prefix}_NOT_BUILT]==] ${target}_NOT_BUILT)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include})
  add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS ${suites}
    COMMAND ${CMAKE_COMMAND} "-DRUN=${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE:${target}>" -DPREFIX=${prefix} "-DCOST=${cost}"
      -DOUTPUT=${suites} -P ${C63_TEST_SUITES_FILE}
    VERBATIM)
endfunction()
