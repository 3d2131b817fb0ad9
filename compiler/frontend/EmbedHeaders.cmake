# cmake -DHEADERS=a.h;b.h -DOUTPUT=x.cpp -P EmbedHeaders.cmake: the text of <dl/...>
# as a C++ file.
set(entries "")
foreach(header ${HEADERS})
  file(READ ${header} text)
  get_filename_component(name ${header} NAME)
  # A string literal has limits: one for each 8000 characters.
  set(literals "")
  string(LENGTH "${text}" length)
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 part)
    string(APPEND literals "R\"~dl~(${part})~dl~\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  string(APPEND entries "    {\"dl/${name}\",\n${literals}},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made from compiler/dsl/dl by EmbedHeaders.cmake.
#include \"compiler/frontend/EmbeddedHeaders.h\"

llvm::ArrayRef<dl::frontend::EmbeddedHeader> dl::frontend::embeddedHeaders() {
  static const EmbeddedHeader headers[] = {
${entries}  };
  return headers;
}
")
