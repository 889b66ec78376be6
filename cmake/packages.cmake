# Debian 12 packages. scripts/bootstrap installs what is missing; configure never downloads.

find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json url)
find_package(simdjson REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(nghttp2 REQUIRED IMPORTED_TARGET libnghttp2)
if(NOT QUORATE_FUZZ)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  find_package(benchmark REQUIRED)
endif()

# Asio is header-only, used by a few .cc files and rt/task.h. Its old spellings are off, everywhere alike: one program, one Asio.
add_library(quorate_asio INTERFACE)
target_link_libraries(quorate_asio INTERFACE Threads::Threads Boost::headers)
target_compile_definitions(quorate_flags INTERFACE
  BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_COROUTINE BOOST_ALLOW_DEPRECATED_HEADERS)

# What each folder needs from outside, beside the libraries that layers.txt allows.
set(QUORATE_EXTERNAL_base fmt::fmt)
set(QUORATE_EXTERNAL_rt quorate_asio)
set(QUORATE_EXTERNAL_json Boost::json simdjson::simdjson yaml-cpp)
set(QUORATE_EXTERNAL_pki OpenSSL::Crypto)
set(QUORATE_EXTERNAL_net quorate_asio PkgConfig::nghttp2 OpenSSL::SSL OpenSSL::Crypto)
