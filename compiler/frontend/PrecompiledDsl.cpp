#include "compiler/frontend/PrecompiledDsl.h"
#include "compiler/frontend/ClangInvocation.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/Lexer.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/xxhash.h"

using namespace dl::frontend;
using llvm::StringRef;

uint64_t dl::frontend::hashOfSource(StringRef text) {
  return llvm::xxh3_64bits(text);
}

std::vector<std::string>
dl::frontend::headerFolders(const clang::HeaderSearchOptions &options) {
  std::vector<std::string> folders = {options.ResourceDir};
  for (const auto &entry : options.UserEntries)
    folders.push_back(entry.Path);
  return folders;
}

/// Whether nothing but comments stands before `#include <dl/dl.h>`.
static bool startsWithDsl(StringRef text) {
  clang::LangOptions language;
  language.CPlusPlus = true;
  language.LineComment = true;
  clang::Lexer lexer(clang::SourceLocation(), language, text.begin(),
                     text.begin(), text.end());
  clang::Token token;
  lexer.LexFromRawLexer(token);
  if (!token.is(clang::tok::hash))
    return false;
  lexer.LexFromRawLexer(token);
  if (!token.is(clang::tok::raw_identifier) || token.isAtStartOfLine() ||
      token.getRawIdentifier() != "include")
    return false;
  StringRef rest = text.substr(
      static_cast<size_t>(lexer.getBufferLocation() - text.begin()));
  return rest.ltrim(" \t").starts_with("<dl/dl.h>");
}

static bool isUnchanged(const PrecompiledDsl::Source &source,
                        llvm::vfs::FileSystem &files) {
  auto text = files.getBufferForFile(source.path);
  return text && hashOfSource((*text)->getBuffer()) == source.hash;
}

/// Whether one of the headers that went in would be found in this folder.
static bool shadows(StringRef folder, const PrecompiledDsl &dsl,
                    llvm::vfs::FileSystem &files) {
  if (files.exists(folder + "/dl/dl.h"))
    return true;
  for (const PrecompiledDsl::Source &source : dsl.sources)
    for (StringRef from : dsl.folders)
      if (StringRef name = source.path;
          !from.empty() && name.consume_front(from) &&
          files.exists(folder + "/" + name.ltrim('/')))
        return true;
  return false;
}

std::string dl::frontend::whyParsed(const PrecompiledDsl &dsl,
                                    const clang::HeaderSearchOptions &options,
                                    StringRef text,
                                    llvm::vfs::FileSystem &files) {
  static constexpr StringRef otherHeaders =
      "the C++ headers of this machine are not those that dlcc was built with";
  if (!startsWithDsl(text))
    return "the model does not begin with #include <dl/dl.h>";
  // The same folders in the same order; others, of -I and CPATH, may come in
  // between.
  auto expected = dsl.folders.begin();
  for (const std::string &folder : headerFolders(options)) {
    if (expected != dsl.folders.end() && folder == *expected)
      ++expected;
    else if (shadows(folder, dsl, files))
      return folder + " has headers of the same names";
  }
  bool same = expected == dsl.folders.end() &&
              llvm::all_of(dsl.sources, [&](const auto &source) {
                return isUnchanged(source, files);
              });
  return same ? "" : otherHeaders.str();
}

bool dl::frontend::replacesImports(const PrecompiledDsl &dsl,
                                   const llvm::Module &code) {
  return llvm::any_of(dsl.imports, [&](StringRef name) {
    const llvm::GlobalValue *value = code.getNamedValue(name);
    return value && !value->isDeclaration();
  });
}
