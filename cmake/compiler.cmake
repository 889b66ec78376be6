# The compiler, its flags, and the tools around it.

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16)
  message(FATAL_ERROR
    "Quorate is built with clang 16 or newer; this is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}.\n"
    "g++ 12 destroys temporaries twice in expressions with co_await (double frees, without a warning), so it is refused. "
    "Use a preset (cmake --preset dev), or pass -DCMAKE_CXX_COMPILER=clang++-16. docs/decisions/0001-clang-16.md has the measurements.")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
add_compile_options(-fPIE)  # everything ends in programs
# -O0: a coroutine file with ASan and UBSan takes 7.5 s of CPU to compile, at -O1 19.7 s. Line tables suffice for stack traces.
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -gline-tables-only -fno-omit-frame-pointer")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -gline-tables-only -D_FORTIFY_SOURCE=2 -fstack-protector-strong")

set(QUORATE_SANITIZER "" CACHE STRING "Sanitizers, as for -fsanitize=")
option(QUORATE_FUZZ "Build the libFuzzer targets instead of the tests" OFF)

add_library(quorate_flags INTERFACE)
target_compile_options(quorate_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
target_include_directories(quorate_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})

if(QUORATE_SANITIZER)
  add_compile_options(-fsanitize=${QUORATE_SANITIZER} -fno-sanitize-recover=all)
  # Checked before every access they are a third of all code, and a quarter of the time of a build (docs/decisions/0005). ASan reports
  # an access through null with its stack; what reads bytes from outside copies them, and does not cast.
  add_compile_options(-fno-sanitize=null,alignment)
  add_link_options(-fsanitize=${QUORATE_SANITIZER})
endif()
if(QUORATE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Paths in object files are relative, so that two checkouts share one ccache and builds are repeatable. The compiler's own list of
# what it read stands in for a second run of the preprocessor.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
find_program(QUORATE_CCACHE ccache)
if(QUORATE_CCACHE)
  cmake_path(IS_PREFIX CMAKE_SOURCE_DIR ${CMAKE_BINARY_DIR} inside)
  set(basedir /)
  if(inside)
    set(basedir ${CMAKE_SOURCE_DIR})
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${basedir} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=1 CCACHE_DEPEND=1 ${QUORATE_CCACHE})
endif()

find_program(QUORATE_LLD NAMES ld.lld-16 ld.lld REQUIRED)
add_link_options(-fuse-ld=${QUORATE_LLD} -Wl,--gc-sections)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_options(-ffunction-sections -fdata-sections)
  add_link_options(-Wl,-z,relro,-z,now -pie)
endif()
