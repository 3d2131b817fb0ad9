# What both halves of the project share.

# dlrt_library(name SOURCES ... [LINK ...]): a static library of the runtime.
function(dlrt_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wno-unused-parameter)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  target_precompile_headers(${name} REUSE_FROM dlrt_pch)
endfunction()

# Of a precompiled header: ccache knows it by its contents.
set(DL_PCH_OPTIONS $<$<CXX_COMPILER_ID:Clang>:-Xclang;-fno-pch-timestamp>)
