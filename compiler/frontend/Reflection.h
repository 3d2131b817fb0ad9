#pragma once
// What the AST of a .dl tells that C++ cannot: the members of module structs,
// the names of parameter variables, functions without a body.
#include "compiler/frontend/Message.h"
#include "clang/AST/ASTConsumer.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dl::frontend {

/// See dl_member.
struct Member {
  std::string name;
  int kind; // dl_member_kind
  int64_t offset, stride = 0, inside = 0;
  bool held = false;
};

/// A variable that holds a parameter or a module, with the lines of its
/// definition.
struct Variable {
  std::string name, file;
  unsigned line, column, firstLine, lastLine;
};

struct DeclaredFunction {
  std::string name, file;
  unsigned line, column;
};

struct ReflectedTypes {
  /// By the name that type_info::name() gives.
  llvm::StringMap<std::vector<Member>> members;
  std::vector<Variable> variables;
  /// Declared in the user's files and not defined, by mangled name.
  llvm::StringMap<DeclaredFunction> undefined;
  /// Members whose modules would be overlooked.
  std::vector<Message> overlooked;
  bool hasMain = false; // void dl_main(dl::Program &)
  /// Where there is none: the function that was meant, perhaps.
  DeclaredFunction nearlyMain{"", "", 0, 0};
};

std::unique_ptr<clang::ASTConsumer> makeReflection(ReflectedTypes &result);

} // namespace dl::frontend
