# Rooms, components and tests, each one call.

# ashlar_std_headers(target [no_exceptions])
#   The compiler reads the standard headers below once, for all libraries: parsing them is two thirds of what a source of
#   ours costs. It accepts a precompiled header only for the options that made it, so targets without exceptions share a
#   second one, and for clang++ targets with hidden symbols a third and a fourth. Two builds do without: clang++ without
#   sanitizers, so that a source which lacks an #include does not compile there, and sanitizers of g++ 12, which fails
#   inside itself now and then when it has both.
set(ASHLAR_STD_HEADERS <algorithm> <array> <atomic> <cerrno> <coroutine> <cstddef> <cstdint> <cstdio> <cstdlib> <cstring>
  <functional> <limits> <memory> <mutex> <new> <span> <string> <string_view> <utility> <vector>)
function(ashlar_std_headers target)
  set(no_exceptions ${ARGN})
  set(owner ashlar_std_headers)
  if(no_exceptions)
    target_compile_options(${target} PRIVATE -fno-exceptions)
    string(APPEND owner _no_exceptions)
  endif()
  set(gnu FALSE)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    set(gnu TRUE)
  endif()
  if(gnu AND ASHLAR_SANITIZE OR NOT gnu AND NOT ASHLAR_SANITIZE)
    return()
  endif()
  get_target_property(visibility ${target} CXX_VISIBILITY_PRESET)
  if(visibility AND NOT gnu)
    string(APPEND owner _${visibility})
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)  # That of libraries is among these options.
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  if(NOT TARGET ${owner})
    set(source ${CMAKE_BINARY_DIR}/generated/${owner}.cc)
    file(CONFIGURE OUTPUT ${source} CONTENT "// A precompiled header belongs to a target, and a target needs a source.\n")
    add_library(${owner} OBJECT ${source})
    target_link_libraries(${owner} PRIVATE ashlar_options)
    target_compile_options(${owner} PRIVATE $<$<BOOL:${no_exceptions}>:-fno-exceptions>)
    if(NOT gnu)
      target_compile_options(${owner} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")  # for compiler caches
      if(visibility)
        set_target_properties(${owner} PROPERTIES CXX_VISIBILITY_PRESET ${visibility})
      endif()
    endif()
    target_precompile_headers(${owner} PRIVATE ${ASHLAR_STD_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# ashlar_several_at_once(target)
#   g++ compiles eight sources of the target as one: what they include beside the standard headers is parsed once for them.
#   For programs, and rooms that only starting and ending pass through: elsewhere functions would be inlined that stand in
#   files of their own for a reason. clang++ and sanitizers compile each source alone, for the reasons above.
function(ashlar_several_at_once target)
  if(NOT ASHLAR_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# ashlar_room(name SOURCES a.cc ... [USES room ...] [LIBS lib ...] [NO_EXCEPTIONS])
#   One room of the kernel: an object library linked into libashlar.so. USES names the rooms whose headers it may
#   include; tests/gen/check_includes.py holds the #include lines against it.
function(ashlar_room name)
  cmake_parse_arguments(R "NO_EXCEPTIONS" "" "SOURCES;USES;LIBS" ${ARGN})
  add_library(room_${name} OBJECT ${R_SOURCES})
  target_link_libraries(room_${name} PUBLIC ashlar_options ${R_LIBS})
  ashlar_std_headers(room_${name} ${R_NO_EXCEPTIONS})
  set_property(GLOBAL APPEND PROPERTY ASHLAR_ROOMS ${name})
  set_property(GLOBAL PROPERTY ASHLAR_ROOM_USES_${name} "${R_USES}")
endfunction()

# ashlar_component(framework name SOURCES a.cc ... [LIBS lib ...] [NO_EXCEPTIONS])
#   One component: <build>/LIBDIR/ashlar/components/ashlar_<framework>_<name>.so, installed beside its fellows. Its objects are
#   a library ashlar_<framework>_<name>_objects, to which options of compilation belong.
function(ashlar_component framework name)
  cmake_parse_arguments(C "NO_EXCEPTIONS" "" "SOURCES;LIBS" ${ARGN})
  set(target ashlar_${framework}_${name})
  set(objects ${C_SOURCES})
  list(FILTER objects INCLUDE REGEX "TARGET_OBJECTS")
  list(FILTER C_SOURCES EXCLUDE REGEX "TARGET_OBJECTS")
  add_library(${target}_objects OBJECT ${C_SOURCES})
  set_target_properties(${target}_objects PROPERTIES CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_compile_definitions(${target}_objects PRIVATE ASHLAR_BUILD_ID=${ASHLAR_BUILD_ID}ull)
  # A symbol that is unique in the process would belong to two components, and keep a file from being closed. The same
  # holds for the component's own object and static libraries.
  set(not_unique $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  target_compile_options(${target}_objects PRIVATE ${not_unique})
  foreach(part ${objects})
    string(REGEX REPLACE ".*TARGET_OBJECTS:([a-z0-9_]+)>" "\\1" library ${part})
    target_compile_options(${library} PRIVATE ${not_unique})
  endforeach()
  target_link_libraries(${target}_objects PRIVATE ashlar_options ${C_LIBS})
  ashlar_std_headers(${target}_objects ${C_NO_EXCEPTIONS})
  list(APPEND objects $<TARGET_OBJECTS:${target}_objects>)
  add_library(${target} MODULE ${objects})
  set_target_properties(${target} PROPERTIES PREFIX "" LINKER_LANGUAGE CXX
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${ASHLAR_COMPONENT_SUBDIR}
    BUILD_RPATH "\$ORIGIN/${ASHLAR_LIBRARY_FROM_COMPONENTS}"
    INSTALL_RPATH "\$ORIGIN/${ASHLAR_LIBRARY_FROM_COMPONENTS}")
  target_link_libraries(${target} PRIVATE ashlar_options ashlar ${C_LIBS})
  if(NOT ASHLAR_SANITIZE)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL ${ASHLAR_LINK_COMPLETE})
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION ${ASHLAR_COMPONENT_SUBDIR})
  set_property(GLOBAL APPEND PROPERTY ASHLAR_COMPONENTS ${target})
  if(NOT TARGET components_${framework})  # All of one framework, as far as what they need is installed.
    add_custom_target(components_${framework})
  endif()
  add_dependencies(components_${framework} ${target})
  # For who links it in: its own static libraries' objects go with it, other libraries are linked.
  foreach(lib ${C_LIBS})
    get_target_property(type ${lib} TYPE)
    if(type STREQUAL STATIC_LIBRARY)
      list(APPEND objects $<TARGET_OBJECTS:${lib}>)
      target_compile_options(${lib} PRIVATE ${not_unique})
    else()
      set_property(GLOBAL APPEND PROPERTY ASHLAR_LIBRARIES_${target} ${lib})
    endif()
  endforeach()
  set_property(GLOBAL PROPERTY ASHLAR_OBJECTS_${target} "${objects}")
endfunction()

# ashlar_gtest_headers(target)
#   The headers of GoogleTest are most of a test's compile time: they are compiled once, and tests are built quickly rather
#   than into fast code. At -O1 gcc 12 sees overruns inside std::string that are not there.
set(ASHLAR_GTEST_OPTIONS "$<$<CONFIG:RelWithDebInfo,Release>:-O1>")
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  list(APPEND ASHLAR_GTEST_OPTIONS "$<$<CONFIG:RelWithDebInfo,Release>:-Wno-array-bounds;-Wno-stringop-overflow>")
endif()
function(ashlar_gtest_headers target)
  target_link_libraries(${target} PRIVATE ashlar_options GTest::gmock GTest::gtest)
  target_compile_options(${target} PRIVATE ${ASHLAR_GTEST_OPTIONS})
  if(NOT TARGET ashlar_gtest_headers)
    add_library(ashlar_gtest_headers OBJECT ${CMAKE_SOURCE_DIR}/tests/unit/headers.cc)
    target_link_libraries(ashlar_gtest_headers PRIVATE ashlar_options GTest::gmock GTest::gtest)
    target_compile_options(ashlar_gtest_headers PRIVATE ${ASHLAR_GTEST_OPTIONS} -fPIE)
    target_precompile_headers(ashlar_gtest_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <algorithm> <atomic> <chrono>
      <functional> <map> <memory> <random> <string> <thread> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ashlar_gtest_headers)
endfunction()

# ashlar_gtest(target)  What every GoogleTest binary of the tests has.
function(ashlar_gtest target)
  ashlar_gtest_headers(${target})
  target_link_libraries(${target} PRIVATE GTest::gtest_main)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_dependencies(unit_tests ${target})
endfunction()

# ashlar_unit_test(name SOURCES a_test.cc ... [LIBS lib ...])  One GoogleTest binary, labelled "unit".
function(ashlar_unit_test name)
  cmake_parse_arguments(T "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE ashlar ${T_LIBS})
  ashlar_gtest(${name})
  ashlar_several_at_once(${name})
  add_test(NAME ${name} COMMAND ${name})
  # With sanitizers the longest takes a minute on a machine that does nothing else.
  set(limit 120)
  if(ASHLAR_SANITIZE)
    set(limit 300)
  endif()
  # Some tests ask for more memory than there is, which sanitizers take for an error of the program otherwise.
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT ${limit}
    ENVIRONMENT "ASAN_OPTIONS=allocator_may_return_null=1;TSAN_OPTIONS=allocator_may_return_null=1")
endfunction()
