# SPDX-License-Identifier: Apache-2.0
option(FRIT_BUILDER "Build the compiler, builder library and tools (off: runtime only)" ON)
option(FRIT_TESTS "Build the tests" ON)
option(FRIT_EXAMPLES "Build the examples" ON)
option(FRIT_FUZZ "Build the libFuzzer targets (Clang)" OFF)
set(FRIT_SANITIZE "" CACHE STRING "Sanitizers for every target, e.g. address,undefined")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
# Programs and the runtime find the libraries and modules beside themselves, installed or not.
set(CMAKE_BUILD_RPATH "$ORIGIN/../lib;$ORIGIN")
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib;$ORIGIN")

find_program(FRIT_CCACHE ccache)
if(FRIT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${FRIT_CCACHE})
endif()

# Flags of our own code; generated code links frit_build_flags without the warnings.
add_library(frit_build_flags INTERFACE)
target_include_directories(frit_build_flags INTERFACE
  ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/src)
if(FRIT_SANITIZE)
  target_compile_options(frit_build_flags INTERFACE -fsanitize=${FRIT_SANITIZE} -fno-omit-frame-pointer -g1)
  target_link_options(frit_build_flags INTERFACE -fsanitize=${FRIT_SANITIZE})
endif()
add_library(frit_warnings INTERFACE)
target_compile_options(frit_warnings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  -Wunused -Woverloaded-virtual -Wundef -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  # GCC bug 105651: std::string operator+ looks like an overlapping copy when optimized.
  target_compile_options(frit_warnings INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND FRIT_SANITIZE)
  # The instrumented code hides from GCC what has been initialized.
  target_compile_options(frit_warnings INTERFACE -Wno-maybe-uninitialized)
endif()
target_link_libraries(frit_warnings INTERFACE frit_build_flags)
