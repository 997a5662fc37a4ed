# What users' builds touch: compiler wrappers and pkg-config files, in the build tree as in the prefix, so that tests use
# them where they will be used from.

configure_file(${CMAKE_SOURCE_DIR}/config/wrappers/mpicc ${CMAKE_BINARY_DIR}/bin/mpicc @ONLY)
set(wrappers ${CMAKE_BINARY_DIR}/bin/mpicc)
foreach(name mpicxx mpifort)
  file(COPY_FILE ${CMAKE_BINARY_DIR}/bin/mpicc ${CMAKE_BINARY_DIR}/bin/${name} ONLY_IF_DIFFERENT)
  list(APPEND wrappers ${CMAKE_BINARY_DIR}/bin/${name})
endforeach()
file(CHMOD ${wrappers} PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
configure_file(${CMAKE_SOURCE_DIR}/config/pkgconfig/ashlar-mpi.pc.in ${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/pkgconfig/ashlar-mpi.pc @ONLY)
install(PROGRAMS ${wrappers} DESTINATION bin)
install(FILES ${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/pkgconfig/ashlar-mpi.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${CMAKE_SOURCE_DIR}/include/mpi.h ${CMAKE_SOURCE_DIR}/include/mpi_fortran.h
  ${CMAKE_SOURCE_DIR}/include/mpi_removed.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# Other names: mpic++, mpif90 and mpif77 are usual, mpicc_abi is the standard's name for the ABI compiler (ours is no other),
# and mpi-c and mpi-cxx are what CMake's FindMPI asks pkg-config for.
function(ashlar_second_name folder name target)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/${folder})
  file(CREATE_LINK ${target} ${CMAKE_BINARY_DIR}/${folder}/${name} SYMBOLIC)
  install(FILES ${CMAKE_BINARY_DIR}/${folder}/${name} DESTINATION ${folder})
endfunction()
ashlar_second_name(bin mpic++ mpicxx)
ashlar_second_name(bin mpif90 mpifort)
ashlar_second_name(bin mpif77 mpifort)
ashlar_second_name(bin mpicc_abi mpicc)
ashlar_second_name(bin mpicxx_abi mpicxx)
ashlar_second_name(bin mpifort_abi mpifort)
ashlar_second_name(${CMAKE_INSTALL_LIBDIR}/pkgconfig mpi-c.pc ashlar-mpi.pc)
ashlar_second_name(${CMAKE_INSTALL_LIBDIR}/pkgconfig mpi-cxx.pc ashlar-mpi.pc)
if(IS_SYMLINK ${CMAKE_BINARY_DIR}/include)  # of an earlier configuration: a folder made below it would be in the source
  file(REMOVE ${CMAKE_BINARY_DIR}/include)
endif()
cmake_path(GET CMAKE_INSTALL_INCLUDEDIR PARENT_PATH above)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/${above})
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_INCLUDEDIR} SYMBOLIC)

install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION share/ashlar)
