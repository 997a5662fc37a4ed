# The component SDK: the C headers under include/ashlar, and what builds outside this tree find it by.
set(sdk ${CMAKE_BINARY_DIR}/sdk)
foreach(header framework/base/error_class.h framework/param/param_row.h framework/plugin/coll.h framework/plugin/component.h framework/plugin/io.h framework/plugin/io_in_front.h
    framework/plugin/launch.h framework/plugin/report.h framework/plugin/tool.h framework/plugin/topology.h framework/plugin/transport.h)
  # Outside the tree the rooms are one folder.
  get_filename_component(name ${header} NAME)
  file(READ ${CMAKE_SOURCE_DIR}/${header} text)
  string(REGEX REPLACE "#include \"framework/(base|param|plugin)/([a-z_]+\\.h)\"" "#include <ashlar/\\2>" text "${text}")
  file(CONFIGURE OUTPUT ${sdk}/include/ashlar/${name} CONTENT "${text}" @ONLY)
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${header})
endforeach()

include(CMakePackageConfigHelpers)
configure_package_config_file(${CMAKE_SOURCE_DIR}/config/sdk/AshlarConfig.cmake.in ${sdk}/AshlarConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Ashlar)
# The contract is unstable until two components outside this tree exist: only the same minor version fits.
write_basic_package_version_file(${sdk}/AshlarConfigVersion.cmake VERSION ${PROJECT_VERSION}
  COMPATIBILITY SameMinorVersion)
configure_file(${CMAKE_SOURCE_DIR}/config/sdk/ashlar-sdk.pc.in ${sdk}/ashlar-sdk.pc @ONLY)

install(DIRECTORY ${sdk}/include/ashlar DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${sdk}/AshlarConfig.cmake ${sdk}/AshlarConfigVersion.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Ashlar)
install(FILES ${sdk}/ashlar-sdk.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
