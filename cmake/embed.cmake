# cmake -DLIBRARY=dashboard -DFILES=a;b -DOUT=x.cc -P embed.cmake: writes a source that holds the texts of files.
string(REGEX REPLACE "^operator$" "op" namespace ${LIBRARY})  # that one is a word of the language
set(rows "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(FIND "${text}" ")asset\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${file} holds )asset\", which ends the literal that it is put into")
  endif()
  string(APPEND rows "    {\"${name}\", R\"asset(${text})asset\"},\n")
endforeach()
file(WRITE ${OUT} "#include \"${LIBRARY}/assets.h\"

namespace quorate::${namespace} {
namespace {
constexpr Asset kAll[] = {
${rows}};
}
std::span<const Asset> all_assets() { return kAll; }
}  // namespace quorate::${namespace}
")
