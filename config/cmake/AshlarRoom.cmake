# Rooms, components and tests, each one call.

# ashlar_room(name SOURCES a.cc ... [USES room ...] [LIBS lib ...])
#   One room of the kernel: an object library linked into libashlar.so. USES names the rooms whose headers it may
#   include; tests/gen/check_includes.py holds the #include lines against it.
function(ashlar_room name)
  cmake_parse_arguments(R "" "" "SOURCES;USES;LIBS" ${ARGN})
  add_library(room_${name} OBJECT ${R_SOURCES})
  target_link_libraries(room_${name} PUBLIC ashlar_options ${R_LIBS})
  set_property(GLOBAL APPEND PROPERTY ASHLAR_ROOMS ${name})
  set_property(GLOBAL PROPERTY ASHLAR_ROOM_USES_${name} "${R_USES}")
endfunction()

# ashlar_component(framework name SOURCES a.cc ... [LIBS lib ...])
#   One component: <build>/lib/ashlar/components/ashlar_<framework>_<name>.so, installed beside its fellows.
function(ashlar_component framework name)
  cmake_parse_arguments(C "" "" "SOURCES;LIBS" ${ARGN})
  set(target ashlar_${framework}_${name})
  add_library(${target} MODULE ${C_SOURCES})
  set_target_properties(${target} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${ASHLAR_COMPONENT_SUBDIR}
    BUILD_RPATH "\$ORIGIN/../.." INSTALL_RPATH "\$ORIGIN/../..")
  target_compile_definitions(${target} PRIVATE ASHLAR_BUILD_ID=${ASHLAR_BUILD_ID}ull)
  target_link_libraries(${target} PRIVATE ashlar_options ashlar ${C_LIBS})
  if(NOT ASHLAR_SANITIZE)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,-z,defs)
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION ${ASHLAR_COMPONENT_SUBDIR})
  set_property(GLOBAL APPEND PROPERTY ASHLAR_COMPONENTS ${target})
endfunction()

# ashlar_unit_test(name SOURCES a_test.cc ... [LIBS lib ...])  One GoogleTest binary, labelled "unit".
function(ashlar_unit_test name)
  cmake_parse_arguments(T "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE ashlar_options ashlar ${T_LIBS} GTest::gmock GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 120)
endfunction()
