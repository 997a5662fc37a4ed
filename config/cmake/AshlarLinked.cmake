# Components linked into the kernel, for file systems where hundreds of processes that open a dozen files each hurt. Their
# files are built and installed all the same: mpiexec and ashlar_info read what they need to know from the manifest.

# ashlar_components_without_libraries(result)
#   framework.name of each component that needs no library of its own. The others are left out of "all": every process of
#   a job would load what few of them need.
function(ashlar_components_without_libraries result)
  get_property(known GLOBAL PROPERTY ASHLAR_COMPONENTS)
  set(names "")
  foreach(target ${known})
    get_property(libraries GLOBAL PROPERTY ASHLAR_LIBRARIES_${target})
    if(NOT libraries)
      string(REGEX REPLACE "^ashlar_([a-z]+)_" "\\1." name ${target})
      list(APPEND names ${name})
    endif()
  endforeach()
  set(${result} ${names} PARENT_SCOPE)
endfunction()

# Of the GNU binutils, whatever the compiler links with: other linkers cannot dissolve groups of sections.
find_program(ASHLAR_LD NAMES ld.bfd ld REQUIRED)
find_program(ASHLAR_OBJCOPY NAMES objcopy REQUIRED)

# ashlar_link_components(library framework.name ...)
#   Each component becomes one object in which only its table is global, under a name of its own: as a file, a component
#   has its names to itself, and so it has here. `library` gets these objects and the list of the tables.
function(ashlar_link_components library)
  set(folder ${CMAKE_BINARY_DIR}/linked)
  set(declarations "")
  set(addresses "")
  set(objects "")
  foreach(component ${ARGN})
    string(REPLACE "." "_" name ${component})
    set(target ashlar_${name})
    get_property(parts GLOBAL PROPERTY ASHLAR_OBJECTS_${target})
    if(NOT parts)
      get_property(known GLOBAL PROPERTY ASHLAR_COMPONENTS)
      list(TRANSFORM known REPLACE "^ashlar_([a-z]+)_" "\\1.")
      list(JOIN known ", " known)
      message(FATAL_ERROR "ASHLAR_LINKED_COMPONENTS: there is no component ${component}; there are ${known}")
    endif()
    set(object ${folder}/${target}.o)
    if(NOT TARGET ${target}_linked)
      file(MAKE_DIRECTORY ${folder})
      # Without groups: a symbol of theirs that is local here must not lose its section to a namesake elsewhere.
      add_custom_command(OUTPUT ${object}
        COMMAND ${ASHLAR_LD} -r --force-group-allocation -o ${object}.whole ${parts}
        COMMAND ${ASHLAR_OBJCOPY} --redefine-sym ashlar_component_v1=ashlar_linked_${name} ${object}.whole
        COMMAND ${ASHLAR_OBJCOPY} --keep-global-symbol=ashlar_linked_${name} ${object}.whole ${object}
        COMMAND ${CMAKE_COMMAND} -E rm ${object}.whole
        DEPENDS ${parts} COMMAND_EXPAND_LISTS VERBATIM COMMENT "Making one object of ${component}")
      add_custom_target(${target}_linked DEPENDS ${object})
    endif()
    add_dependencies(${library} ${target}_linked)
    get_property(libraries GLOBAL PROPERTY ASHLAR_LIBRARIES_${target})
    target_link_libraries(${library} PRIVATE ${libraries})
    list(APPEND objects ${object})
    string(APPEND declarations "extern \"C\" const ashlar_component ashlar_linked_${name};\n")
    string(APPEND addresses "&ashlar_linked_${name}, ")
  endforeach()
  set(list ${CMAKE_BINARY_DIR}/generated/linked_${library}.cc)
  file(CONFIGURE OUTPUT ${list} CONTENT "// The components linked into this library; made by config/cmake/AshlarLinked.cmake.
#include \"framework/plugin/linked.h\"

${declarations}
namespace ashlar::plugin {

const ashlar_component* const* linked_components() {
  static const ashlar_component* const kTables[] = {${addresses}nullptr};
  return kTables;
}

}  // namespace ashlar::plugin
")
  set_source_files_properties(${objects} TARGET_DIRECTORY ${library} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_sources(${library} PRIVATE ${list} ${objects})
endfunction()
