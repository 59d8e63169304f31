# farcl_add_fuzzer(NAME name SOURCES files... [LIBS targets...] CORPUS folder [SECONDS n] [MAX_LENGTH bytes])
#
# SOURCES define LLVMFuzzerTestOneInput. Two things come of them: name_replay, a plain program that always builds and as a test
# of the label unit runs every file of CORPUS through the target, so that an old crash stays a test; and with
# FARCL_BUILD_FUZZERS name itself, a libFuzzer program that as a test of the label fuzz-smoke runs SECONDS (default 10) from
# CORPUS. For longer runs start that program by hand.
function(farcl_add_fuzzer)
  cmake_parse_arguments(F "" "NAME;CORPUS;SECONDS;MAX_LENGTH" "SOURCES;LIBS" ${ARGN})
  if(NOT F_NAME OR NOT F_SOURCES OR NOT F_CORPUS)
    message(FATAL_ERROR "farcl_add_fuzzer needs NAME, SOURCES and CORPUS")
  endif()
  if(NOT F_SECONDS)
    set(F_SECONDS 10)
  endif()
  if(NOT F_MAX_LENGTH)
    set(F_MAX_LENGTH 65536)
  endif()
  get_filename_component(corpus ${F_CORPUS} ABSOLUTE)

  add_executable(${F_NAME}_replay ${F_SOURCES} ${CMAKE_SOURCE_DIR}/cmake/fuzz/replay_main.cpp)
  target_link_libraries(${F_NAME}_replay PRIVATE farcl_flags ${F_LIBS})
  set_target_properties(${F_NAME}_replay PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${F_NAME}_replay COMMAND ${F_NAME}_replay ${corpus})
  set_tests_properties(${F_NAME}_replay PROPERTIES LABELS unit TIMEOUT 60)

  if(FARCL_BUILD_FUZZERS)
    add_executable(${F_NAME} ${F_SOURCES})
    target_link_libraries(${F_NAME} PRIVATE farcl_flags ${F_LIBS})
    target_link_options(${F_NAME} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${F_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
    # New inputs go to a folder of the build tree; the corpus of the source tree is only read.
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz/${F_NAME}.found)
    add_test(NAME ${F_NAME}_smoke
             COMMAND ${F_NAME} -max_total_time=${F_SECONDS} -timeout=10 -rss_limit_mb=2048 -max_len=${F_MAX_LENGTH} -print_final_stats=1
                     -artifact_prefix=${CMAKE_BINARY_DIR}/fuzz/${F_NAME}- ${CMAKE_BINARY_DIR}/fuzz/${F_NAME}.found ${corpus})
    math(EXPR timeout "${F_SECONDS} + 60")
    set_tests_properties(${F_NAME}_smoke PROPERTIES LABELS fuzz-smoke TIMEOUT ${timeout})
  endif()
endfunction()
