# SPDX-License-Identifier: Apache-2.0
# Install rules and the find_package(frit) configuration: programs in bin, libraries and modules side
# by side in lib, public headers in include/frit. The runtime can be installed by itself:
#   cmake --install build/release --component runtime
set(CMAKE_INSTALL_LIBDIR lib CACHE PATH "Folder for libraries below the prefix")
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(frit_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/frit)
set(frit_libraries "")

# Installs the shared library frit_<name> as frit::<name> in a component of the same name.
function(frit_install_library name)
  set(target frit_${name})
  if(NOT TARGET ${target})
    return()
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  set(exports ${CMAKE_SOURCE_DIR}/tools/cmake/${target}.map)
  if(EXISTS ${exports})
    target_link_options(${target} PRIVATE -Wl,--version-script=${exports})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${exports})
  endif()
  if(NOT TARGET frit::${name})
    add_library(frit::${name} ALIAS ${target})
  endif()
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>)
  target_compile_features(${target} INTERFACE cxx_std_20)
  install(TARGETS ${target} EXPORT frit_targets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${name}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${name} NAMELINK_COMPONENT development
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  list(APPEND frit_libraries ${target})
  set(frit_libraries ${frit_libraries} PARENT_SCOPE)
endfunction()
frit_install_library(runtime)
frit_install_library(builder)

# Modules are opened by the runtime at load, from the folder it lies in itself.
foreach(module frit_onednn)
  if(TARGET ${module})
    install(TARGETS ${module} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
  endif()
endforeach()

# `programs` builds all that users run, with the modules they open.
add_custom_target(programs)
foreach(module frit_onednn)
  if(TARGET ${module})
    add_dependencies(programs ${module})
  endif()
endforeach()
foreach(program fritexec frit-opt frit-conformance frit-inspect)
  if(TARGET ${program})
    add_dependencies(programs ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  endif()
endforeach()

install(DIRECTORY include/frit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)

if(frit_libraries)
  install(EXPORT frit_targets NAMESPACE frit:: DESTINATION ${frit_package_dir} COMPONENT development)
  configure_package_config_file(tools/cmake/frit-config.cmake.in
    ${CMAKE_BINARY_DIR}/frit-config.cmake INSTALL_DESTINATION ${frit_package_dir}
    NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/frit-config-version.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/frit-config.cmake ${CMAKE_BINARY_DIR}/frit-config-version.cmake
    DESTINATION ${frit_package_dir} COMPONENT development)
endif()
