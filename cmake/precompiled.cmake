# Outside headers (cmake/outside*.h), compiled once and shared by all targets of a Debug build: parsing them is more than half of
# the time of a file. docs/decisions/0005-precompiled-headers.md has the measurements.
#
# CMake's own precompiled headers are named by absolute paths, and hold paths of the build folder: no two checkouts would share
# a ccache. So they are named here by relative paths, and ccache takes a digest of what the preprocessor makes of them instead.

set(QUORATE_PRECOMPILE OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(QUORATE_PRECOMPILE ON)
endif()

function(quorate_precompile name)
  set(header ${CMAKE_SOURCE_DIR}/cmake/${name}.h)
  get_target_property(definitions quorate_flags INTERFACE_COMPILE_DEFINITIONS)
  list(TRANSFORM definitions PREPEND -D)
  separate_arguments(debug UNIX_COMMAND "${CMAKE_CXX_FLAGS_DEBUG}")
  get_property(options DIRECTORY PROPERTY COMPILE_OPTIONS)
  set(command ${CMAKE_CXX_COMPILER} -std=c++20 ${debug} ${options} ${definitions} ${ARGN} -Wno-pragma-once-outside-header -x c++-header)
  add_custom_command(OUTPUT ${name}.pch
    COMMAND ${command} -Xclang -fno-pch-timestamp -fpch-instantiate-templates -MD -MF ${name}.pch.d -MT ${name}.pch -o ${name}.pch ${header}
    DEPENDS ${header} DEPFILE ${name}.pch.d COMMENT "Precompiling ${name}.h" VERBATIM)
  add_custom_target(quorate_${name} DEPENDS ${name}.pch)
  execute_process(COMMAND ${command} -E ${header} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "${CMAKE_SOURCE_DIR}/" "" text "${text}")
  string(SHA256 digest "${text}")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.pch.sum CONTENT "${digest}\n")
endfunction()

if(QUORATE_PRECOMPILE)
  quorate_precompile(outside -DFMT_SHARED)
  if(NOT QUORATE_FUZZ)
    quorate_precompile(outside_test -DFMT_SHARED -DGTEST_HAS_PTHREAD=1)
  endif()
endif()

# `name`: outside or outside_test.
function(quorate_use_precompiled target name)
  if(QUORATE_PRECOMPILE)
    add_dependencies(${target} quorate_${name})
    target_compile_options(${target} PRIVATE "SHELL:-include-pch ${name}.pch")
  endif()
endfunction()
