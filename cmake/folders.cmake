# cupola_folder(src/a/b [DEPS folder...] [LIBS target...] [TEST_DEPS folder...] [TEST_DEVICES device...] [TEST_ONLY])
#
# Makes the static library cupola-a-b from the folder's *.cpp, and the test program cupola-a-b-test from its *_test.cpp.
# DEPS are other folders by their dashed name (base, hal-null) or LLVM; the arrows test reads the same rows. TEST_DEPS are
# folders that only the test program links; it runs once on each of TEST_DEVICES.
function(cupola_folder folder)
  cmake_parse_arguments(ARG "TEST_ONLY" "" "DEPS;LIBS;TEST_DEPS;TEST_DEVICES" ${ARGN})
  if(ARG_TEST_ONLY AND NOT CUPOLA_TESTS)
    return()
  endif()
  string(REGEX REPLACE "^src/" "" name ${folder})
  string(REPLACE "/" "-" name ${name})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")

  set(links ${ARG_LIBS})
  foreach(dep IN LISTS ARG_DEPS)
    list(APPEND links cupola-${dep})
  endforeach()

  if(sources)
    add_library(cupola-${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(cupola-${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(cupola-${name} ${scope} ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(cupola-${name} ${scope} ${links})
  if(ARG_TEST_ONLY)
    target_link_libraries(cupola-${name} ${scope} GTest::gtest)
  endif()
  if(tests AND CUPOLA_TESTS)
    list(TRANSFORM ARG_TEST_DEPS PREPEND cupola-)
    cupola_test(cupola-${name}-test SOURCES ${tests} LIBS ${ARG_TEST_DEPS} cupola-${name} DEVICES ${ARG_TEST_DEVICES})
  endif()
endfunction()

# cupola_compiler_library(folder NAME name VERSION a.b SOVERSION a): a library of CUDA's compilers, lib/libNAME.so.A, from the
# folder's *.cpp: thin, without LLVM, for libcupola-compiler does the work. Its tests are cupola-cuda-FOLDER-test.
function(cupola_compiler_library folder)
  cmake_parse_arguments(ARG "" "NAME;VERSION;SOVERSION" "LIBS" ${ARGN})
  set(here ${CMAKE_SOURCE_DIR}/src/cuda/${folder})
  file(GLOB sources CONFIGURE_DEPENDS ${here}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  set(target cupola-cuda-${folder})
  add_library(${target} SHARED ${sources})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/include/cuda PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_options(${target} PUBLIC -fno-sanitize=enum)  # programs pass any number where an enum is asked for
  target_link_libraries(${target} PRIVATE cupola-image ${ARG_LIBS})
  cupola_drop_in(${target} NAME ${ARG_NAME} VERSION ${ARG_VERSION} SOVERSION ${ARG_SOVERSION} MAP ${here}/lib${ARG_NAME}.map STAYS)
  install(TARGETS ${target} LIBRARY DESTINATION lib)
  if(CUPOLA_TESTS AND tests)
    cupola_test(${target}-test SOURCES ${tests} LIBS ${target} cupola-image)
    target_compile_definitions(${target}-test PRIVATE CUPOLA_API_NAMES="${CMAKE_SOURCE_DIR}/tests/api/${folder}_names.txt"
                                                      CUPOLA_API_LIBRARY="$<TARGET_FILE:${target}>")
    add_dependencies(${target}-test cupola-compiler cupola-device)
  endif()
endfunction()

# cupola_test(name SOURCES file... LIBS target... [DEVICES device...]): a GoogleTest program, which is one CTest test of its
# name. With DEVICES it is one for each: the first has the program's name, the others are name-DEVICE.
function(cupola_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;DEVICES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/tests)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0>)  # it is compiled sooner, and need not be fast
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gtest GTest::gmock GTest::gtest_main)
  list(POP_FRONT ARG_DEVICES first)
  cupola_test_entry(${name} ${name} "${first}")
  foreach(device IN LISTS ARG_DEVICES)
    cupola_test_entry(${name}-${device} ${name} ${device})
  endforeach()
endfunction()

# One CTest test. It writes the report of its cases under its own name, which scripts/run_tests.py reads.
function(cupola_test_entry entry program device)
  set(environment GTEST_OUTPUT=xml:${CMAKE_BINARY_DIR}/test-results/gtest/${entry}.xml)
  if(device)
    list(APPEND environment CUPOLA_DEVICE=${device})
  endif()
  add_test(NAME ${entry} COMMAND ${program})
  set_tests_properties(${entry} PROPERTIES TIMEOUT 300 ENVIRONMENT "${environment}")
endfunction()
