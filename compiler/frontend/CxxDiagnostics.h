#pragma once
// Clang's diagnostics in our form and, where a user of PyTorch would not
// understand them, in our words.
#include "compiler/frontend/Message.h"
#include "clang/Basic/Diagnostic.h"
#include <vector>

namespace dl::frontend {

struct CxxNote {
  Message message;
  bool inUserFile = false;
  std::string declaration; // what it points at, where that is not the user's
};

/// One diagnostic with its notes, and what is needed to explain it.
struct CxxProblem {
  Message message;
  bool inUserFile = false;
  std::vector<CxxNote> notes;
  std::string token;       // the identifier at the place
  std::string following;   // the source text from there on
  std::string preceding;   // the identifier that ends there, as in List<Block>
  std::string line;        // the source text from the beginning of the line on
  std::string optionsType; // a ...Options struct it speaks of
  std::vector<std::string> optionsFields;
  bool notInThisVersion = false;
  bool isConsequence = false; // of another problem
};

/// Replaces Clang's words by ours where a rule knows better.
void explain(std::vector<CxxProblem> &problems);

/// What is wrong with a member that is a module; whether it has been replaced.
bool explainModule(CxxProblem &problem, std::vector<CxxProblem> &problems);

/// What C++ programs with PyTorch write; whether it has been replaced.
bool explainLibTorch(CxxProblem &problem, std::vector<CxxProblem> &problems);

/// What to write in place of Python's syntax, or "".
std::string insteadOfPython(const CxxProblem &problem);

/// "std::vector: add #include <vector>", or "".
std::string missingHeader(const CxxProblem &problem);

class CxxDiagnostics : public clang::DiagnosticConsumer {
public:
  void BeginSourceFile(const clang::LangOptions &options,
                       const clang::Preprocessor *) override {
    languageOptions = &options;
  }
  void EndSourceFile() override { languageOptions = nullptr; }
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic &info) override;

  /// All that was said, explained and rendered.
  std::string take();
  /// 1, or 3 where all that is wrong is something of PyTorch that is missing
  /// here.
  int exitCode() const { return missing ? 3 : 1; }

private:
  Message convert(const clang::Diagnostic &info, bool &inUserFile) const;
  void readSource(const clang::Diagnostic &info, CxxProblem &problem) const;
  static std::string readDeclaration(const clang::Diagnostic &info);

  const clang::LangOptions *languageOptions = nullptr;
  std::vector<CxxProblem> problems;
  bool missing = false;
};

} // namespace dl::frontend
