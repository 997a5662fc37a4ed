# Programs that users could have written: only <mpi.h> and libmpi_abi, no kernel headers.

# ashlar_mpi_program(name SOURCES a.c ... [FOLDER tests/mpi])   An executable below <build>/<folder>.
function(ashlar_mpi_program name)
  cmake_parse_arguments(P "" "FOLDER" "SOURCES" ${ARGN})
  add_executable(${name} ${P_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/include)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wshadow -Wvla)
  if(ASHLAR_WERROR)
    target_compile_options(${name} PRIVATE -Werror)
  endif()
  if(ASHLAR_SANITIZE)
    target_compile_options(${name} PRIVATE -fsanitize=${ASHLAR_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${name} PRIVATE -fsanitize=${ASHLAR_SANITIZE})
    # clang++ puts the sanitizer into the program, and with C alone the parts that the libraries' C++ needs are not in it.
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
      set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    endif()
  endif()
  target_link_libraries(${name} PRIVATE mpi_abi m)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${P_FOLDER})
endfunction()

# ashlar_mpi_test(name NP 1 2 4 [SOURCES a.c ...] [QUICK 2] [TIMEOUT seconds] [ARGS ...] [LABELS ...])
#   Builds `name` from name.c (or SOURCES) and runs it under the built mpiexec with each number of ranks. The runs named
#   by QUICK also carry the label "quick". A program prints nothing unless it fails; exit status 77 means skipped.
function(ashlar_mpi_test name)
  cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;NP;QUICK;ARGS;LABELS" ${ARGN})
  if(NOT T_SOURCES)
    set(T_SOURCES ${name}.c)
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 60)
  endif()
  ashlar_mpi_program(mpi_${name} SOURCES ${T_SOURCES} FOLDER tests/mpi)
  set_target_properties(mpi_${name} PROPERTIES OUTPUT_NAME ${name})
  foreach(np ${T_NP})
    set(labels mpi ${T_LABELS})
    if(np IN_LIST T_QUICK)
      list(APPEND labels quick)
    endif()
    add_test(NAME mpi.${name}.${np} COMMAND ${CMAKE_BINARY_DIR}/bin/mpiexec -n ${np} $<TARGET_FILE:mpi_${name}> ${T_ARGS})
    # Two cores' worth: a job keeps every core of a small machine busy while it waits.
    set_tests_properties(mpi.${name}.${np} PROPERTIES LABELS "${labels}" TIMEOUT ${T_TIMEOUT} SKIP_RETURN_CODE 77
      PROCESSORS 2)
  endforeach()
endfunction()
