# The compiler side: LLVM, MLIR and Clang 22, and how its libraries are built.

find_package(MLIR REQUIRED CONFIG PATHS /usr/lib/llvm-22 NO_DEFAULT_PATH)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "LLVM/MLIR 22 is needed, ${LLVM_VERSION} was found in ${LLVM_DIR}")
endif()
set(LLVM_LINK_LLVM_DYLIB ON)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddMLIR)

# The parts of MLIR that are used, as archives: to load its shared library, with 57,000 symbols to look up, would take
# a quarter of the time that dlcc --check needs.
set(DL_MLIR MLIRArithDialect MLIRBytecodeReader MLIRBytecodeWriter MLIRIR MLIRInferTypeOpInterface
  MLIRMathDialect MLIRParser MLIRPass MLIRSideEffectInterfaces MLIRSupport MLIRTransforms)

function(dl_compile_settings target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter -fno-plt ${DL_PCH_OPTIONS})
endfunction()

# dl_precompiled_header(name HEADER...): a precompiled header; most of what a file takes to compile are headers.
function(dl_precompiled_header name)
  file(WRITE ${CMAKE_BINARY_DIR}/${name}.cpp "// Carries the precompiled header.\n")
  add_library(${name} STATIC ${CMAKE_BINARY_DIR}/${name}.cpp)
  target_precompile_headers(${name} PRIVATE ${ARGN})
  dl_compile_settings(${name})
endfunction()

set(DL_MLIR_HEADERS
  <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/BuiltinTypes.h> <mlir/IR/PatternMatch.h>
  <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Math/IR/Math.h>
  <mlir/Interfaces/InferTypeOpInterface.h> <mlir/Pass/Pass.h> <string> <vector> <optional> <map>)
dl_precompiled_header(dl_pch ${DL_MLIR_HEADERS})

# Compiles a target with the precompiled header of what it links, the first that has one of its own (property DL_PCH);
# else with MLIR's.
function(dl_reuse_header target)
  set(header "")
  foreach(library ${ARGN})
    if(TARGET ${library})
      get_target_property(header ${library} DL_PCH)
      if(header)
        break()
      endif()
    endif()
  endforeach()
  if(header)
    set_target_properties(${target} PROPERTIES DL_PCH ${header})
  else()
    set(header dl_pch)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${header})
endfunction()

# dl_library(name SOURCES ... [LINK ...] [DEPENDS ...] [PCH header]): a static library of the compiler.
function(dl_library name)
  cmake_parse_arguments(ARG "NO_PCH" "PCH" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  dl_compile_settings(${name})
  if(ARG_PCH)
    set_target_properties(${name} PROPERTIES DL_PCH ${ARG_PCH})
    target_precompile_headers(${name} REUSE_FROM ${ARG_PCH})
  elseif(NOT ARG_NO_PCH)
    dl_reuse_header(${name} ${ARG_LINK})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} ${DL_MLIR} LLVM)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# dl_executable(name SOURCES ... [LINK ...]): a tool of the compiler.
function(dl_executable name)
  cmake_parse_arguments(ARG "NO_PCH" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  dl_compile_settings(${name})
  if(NOT ARG_NO_PCH)
    dl_reuse_header(${name} ${ARG_LINK})
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK} ${DL_MLIR} LLVM)
endfunction()
