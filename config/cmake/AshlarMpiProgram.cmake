# Programs that users could have written: only <mpi.h> and libmpi_abi, no kernel headers. And the tests that run them.

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

# What all tests of MPI programs have. PROPERTIES come last and may replace the rest; a value with a semicolon in it needs
# set_tests_properties afterwards. A job counts as two cores' worth: it keeps every core of a small machine busy while it
# waits.
function(ashlar_mpi_test_properties test)
  cmake_parse_arguments(P "QUICK" "TIMEOUT" "LABELS;PROPERTIES" ${ARGN})
  set(labels mpi ${P_LABELS})
  if(P_QUICK)
    list(APPEND labels quick)
  endif()
  if(NOT P_TIMEOUT)
    set(P_TIMEOUT 60)
  endif()
  # Some programs ask for more memory than there can be, which a sanitizer takes for an error of the program otherwise.
  set(environment "")
  if(ASHLAR_SANITIZE)
    set(environment ENVIRONMENT ASAN_OPTIONS=allocator_may_return_null=1)
  endif()
  set_tests_properties(${test} PROPERTIES LABELS "${labels}" TIMEOUT ${P_TIMEOUT} PROCESSORS 2 ${environment}
    ${P_PROPERTIES})
endfunction()

# ashlar_mpi_test(name [NP 1 2 4] [SOURCES a.c ...] [QUICK 2] [TIMEOUT seconds] [SET parameter=value ...] [ARGS ...]
#                 [LABELS ...] [NO_TCP])
#   Builds `name` from name.c (or SOURCES) as the target mpi_<name>, and adds the test mpi.<name>.<ranks> for each number
#   of NP, which runs it under the built mpiexec. The runs named by QUICK also carry the label "quick". A program prints
#   nothing unless it fails; exit status 77 means skipped. ashlar_mpi_run and ashlar_mpi_script add other runs.
#   mpi.<name>.tcp is the run of 2 to 4 ranks over transport/tcp; most of these are slow (`ctest -C every -L tcp`). NO_TCP:
#   there is none, nor one over transport/ofi or ucx, because the program looks at what another transport does.
# Those that run each time: every protocol of messages, collectives, windows, threads.
set(ASHLAR_TCP_CHOSEN pt2pt_sizes pt2pt_order pt2pt_wildcards pt2pt_mprobe pt2pt_queues pt2pt_random pt2pt_truncate
  coll_random comm_more rma_putget threads_lanes topo_graph)
# Over transport/ofi and transport/ucx these alone run, as mpi.<name>.ofi and mpi.<name>.ucx: those that have other protocols
# there than over TCP are among them.
set(ASHLAR_LIBRARY_CHOSEN pt2pt_sizes pt2pt_order pt2pt_wildcards pt2pt_mprobe pt2pt_random pt2pt_truncate coll_random comm_more
  rma_putget threads_lanes)
function(ashlar_mpi_network_tests name)
  cmake_parse_arguments(T "" "TIMEOUT" "NP;SET;ARGS" ${ARGN})
  list(TRANSFORM T_SET PREPEND "--set;")
  set(ranks 0)
  foreach(n ${T_NP})
    if(n GREATER 1 AND n LESS 5 AND n GREATER ranks)
      set(ranks ${n})
    endif()
  endforeach()
  if(ranks EQUAL 0)
    return()
  endif()
  set(when CONFIGURATIONS every)
  set(labels tcp slow)
  if(name IN_LIST ASHLAR_TCP_CHOSEN)
    set(when "")
    set(labels tcp)
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 180)
  endif()
  add_test(NAME mpi.${name}.tcp ${when} COMMAND ${CMAKE_BINARY_DIR}/bin/mpiexec --set transport=tcp,self ${T_SET} -n ${ranks}
    $<TARGET_FILE:mpi_${name}> ${T_ARGS})
  ashlar_mpi_test_properties(mpi.${name}.tcp TIMEOUT ${T_TIMEOUT} LABELS ${labels} PROPERTIES SKIP_RETURN_CODE 77)
  foreach(library ofi ucx)
    if(TARGET ashlar_transport_${library} AND name IN_LIST ASHLAR_LIBRARY_CHOSEN)
      add_test(NAME mpi.${name}.${library} COMMAND ${CMAKE_BINARY_DIR}/bin/mpiexec --set transport=${library},self
        ${T_SET} -n ${ranks} $<TARGET_FILE:mpi_${name}> ${T_ARGS})
      ashlar_mpi_test_properties(mpi.${name}.${library} TIMEOUT ${T_TIMEOUT} LABELS ${library} PROPERTIES SKIP_RETURN_CODE 77)
    endif()
  endforeach()
endfunction()

function(ashlar_mpi_test name)
  cmake_parse_arguments(T "NO_TCP" "TIMEOUT" "SOURCES;NP;QUICK;SET;ARGS;LABELS" ${ARGN})
  set(settings ${T_SET})
  list(TRANSFORM settings PREPEND "--set;")
  if(NOT T_SOURCES)
    set(T_SOURCES ${name}.c)
  endif()
  ashlar_mpi_program(mpi_${name} SOURCES ${T_SOURCES} FOLDER tests/mpi)
  # check.h, and what the programs of several chapters share, lies above the chapters.
  target_include_directories(mpi_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/mpi)
  set_target_properties(mpi_${name} PROPERTIES OUTPUT_NAME ${name})
  foreach(ranks ${T_NP})
    set(quick "")
    if(ranks IN_LIST T_QUICK)
      set(quick QUICK)
    endif()
    add_test(NAME mpi.${name}.${ranks} COMMAND ${CMAKE_BINARY_DIR}/bin/mpiexec ${settings} -n ${ranks}
      $<TARGET_FILE:mpi_${name}> ${T_ARGS})
    ashlar_mpi_test_properties(mpi.${name}.${ranks} ${quick} TIMEOUT ${T_TIMEOUT} LABELS ${T_LABELS}
      PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
  if(NOT T_NO_TCP)
    ashlar_mpi_network_tests(${name} NP ${T_NP} TIMEOUT ${T_TIMEOUT} SET ${T_SET} ARGS ${T_ARGS})
  endif()
endfunction()

# ashlar_mpi_run(program variant ranks [SET parameter=value ...] [OPTIONS ...] [ARGS ...] [QUICK] [TIMEOUT seconds]
#                [PROPERTIES ...])
#   Adds the test mpi.<program>.<variant>: a program of ashlar_mpi_test under mpiexec with parameters and other options.
#   With `ranks` 0 the program runs without a launcher.
function(ashlar_mpi_run program variant ranks)
  cmake_parse_arguments(R "QUICK" "TIMEOUT" "SET;OPTIONS;ARGS;PROPERTIES" ${ARGN})
  set(quick "")
  if(R_QUICK)
    set(quick QUICK)
  endif()
  if(NOT R_TIMEOUT)
    set(R_TIMEOUT 120)
  endif()
  if(ranks EQUAL 0)
    set(launcher "")
    list(PREPEND R_PROPERTIES PROCESSORS 1)
  else()
    set(launcher ${CMAKE_BINARY_DIR}/bin/mpiexec)
    foreach(setting ${R_SET})
      list(APPEND launcher --set ${setting})
    endforeach()
    list(APPEND launcher ${R_OPTIONS} -n ${ranks})
  endif()
  add_test(NAME mpi.${program}.${variant} COMMAND ${launcher} $<TARGET_FILE:mpi_${program}> ${R_ARGS})
  ashlar_mpi_test_properties(mpi.${program}.${variant} ${quick} TIMEOUT ${R_TIMEOUT} PROPERTIES ${R_PROPERTIES})
endfunction()

# ashlar_mpi_script(name script.py PROGRAMS ... [QUICK] [TIMEOUT seconds] [PROPERTIES ...])
#   Adds the test mpi.<name>: a Python script of the chapter's folder, which gets the built mpiexec and PROGRAMS (targets of
#   ashlar_mpi_test, or files) as its arguments and looks at what running them prints.
function(ashlar_mpi_script name script)
  cmake_parse_arguments(S "QUICK" "TIMEOUT" "PROGRAMS;PROPERTIES" ${ARGN})
  set(quick "")
  if(S_QUICK)
    set(quick QUICK)
  endif()
  set(programs "")
  foreach(program ${S_PROGRAMS})
    if(TARGET mpi_${program})
      set(program $<TARGET_FILE:mpi_${program}>)
    endif()
    list(APPEND programs ${program})
  endforeach()
  add_test(NAME mpi.${name} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/${script}
    ${CMAKE_BINARY_DIR}/bin/mpiexec ${programs})
  ashlar_mpi_test_properties(mpi.${name} ${quick} TIMEOUT ${S_TIMEOUT} PROPERTIES ${S_PROPERTIES})
endfunction()
