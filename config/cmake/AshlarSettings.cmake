# Compiler settings shared by every target.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Sanitizers check as much at -O1, and compile in half the time.
set(_ashlar_optimize -O2)
if(ASHLAR_SANITIZE)
  set(_ashlar_optimize -O1)
endif()
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "${_ashlar_optimize} -g1")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "${_ashlar_optimize} -g1")

# One layout in the build tree and in the prefix: everything is found relative to the loaded library, so that the tree
# may be moved. Libraries and headers lie where GNUInstallDirs says (lib, lib64, lib/x86_64-linux-gnu).
include(GNUInstallDirs)
foreach(folder BINDIR LIBDIR INCLUDEDIR DATADIR MANDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
    message(FATAL_ERROR "CMAKE_INSTALL_${folder} is ${CMAKE_INSTALL_${folder}}: it must be relative to the prefix, because "
      "everything is found relative to the library that is loaded")
  endif()
endforeach()
if(NOT CMAKE_INSTALL_BINDIR STREQUAL bin OR NOT CMAKE_INSTALL_DATADIR STREQUAL share)
  message(FATAL_ERROR "Programs are installed in bin and data in share, not in ${CMAKE_INSTALL_BINDIR} and ${CMAKE_INSTALL_DATADIR}")
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(ASHLAR_SUPPORT_SUBDIR ${CMAKE_INSTALL_LIBDIR}/ashlar)
set(ASHLAR_COMPONENT_SUBDIR ${ASHLAR_SUPPORT_SUBDIR}/components)
# Other implementations of the standard ABI have a libmpi_abi.so.1 too. In a distribution's package ours lies in a folder
# of its own, and the link LIBDIR/libmpi_abi.so.1 leads to the one that the administrator chose. Programs name no folder.
if(ASHLAR_ALTERNATIVES)
  set(ASHLAR_LIBRARY_SUBDIR ${ASHLAR_SUPPORT_SUBDIR})
  set(ASHLAR_LIBRARY_RUN_PATH "\$ORIGIN:\$ORIGIN/ashlar")  # opened as a file of that folder, or by the link
  set(ASHLAR_PROGRAM_RUN_PATH "")
else()
  set(ASHLAR_LIBRARY_SUBDIR ${CMAKE_INSTALL_LIBDIR})
  set(ASHLAR_LIBRARY_RUN_PATH "\$ORIGIN")
  set(ASHLAR_PROGRAM_RUN_PATH "-Wl,-rpath,\${libdir} -Wl,--enable-new-dtags ")
endif()
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${ASHLAR_LIBRARY_SUBDIR})
file(RELATIVE_PATH ASHLAR_LIBRARY_FROM_COMPONENTS /${ASHLAR_COMPONENT_SUBDIR} /${ASHLAR_LIBRARY_SUBDIR}) # "../../"
string(REGEX REPLACE "/$" "" ASHLAR_LIBRARY_FROM_COMPONENTS ${ASHLAR_LIBRARY_FROM_COMPONENTS})
file(RELATIVE_PATH ASHLAR_PREFIX_FROM_PKGCONFIG /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # "../../"
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# Language-neutral warnings, plus the C++ ones; third-party headers are included as SYSTEM.
add_library(ashlar_options INTERFACE)
target_compile_options(ashlar_options INTERFACE
  -Wall -Wextra -Wshadow -Wvla -Wundef -Wpointer-arith
  $<$<COMPILE_LANGUAGE:CXX>:-Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -fno-semantic-interposition>
  -fno-math-errno)
if(ASHLAR_WERROR)
  target_compile_options(ashlar_options INTERFACE -Werror)
endif()
target_include_directories(ashlar_options INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/generated)
target_link_options(ashlar_options INTERFACE -Wl,--as-needed)
# Libraries leave no symbol open; clang++ puts a sanitizer's into the program alone.
set(ASHLAR_LINK_COMPLETE -Wl,-z,defs)
if(ASHLAR_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(ASHLAR_LINK_COMPLETE "")
endif()
if(ASHLAR_SANITIZE)
  target_compile_options(ashlar_options INTERFACE -fsanitize=${ASHLAR_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(ashlar_options INTERFACE -fsanitize=${ASHLAR_SANITIZE})
  # TSan does not see fences; ours order memory shared between processes, which it does not see either.
  if(ASHLAR_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(ashlar_options INTERFACE -Wno-tsan)
  endif()
endif()

# The build id ties in-tree components to the kernel whose C++ headers they saw; the loader refuses any other.
string(TIMESTAMP ASHLAR_BUILD_STAMP "%s" UTC)
if(NOT DEFINED CACHE{ASHLAR_BUILD_ID})
  string(RANDOM LENGTH 8 ALPHABET 0123456789abcdef _ashlar_id)
  set(ASHLAR_BUILD_ID "0x1${_ashlar_id}" CACHE STRING "Identity shared by the kernel and its in-tree components")
endif()
