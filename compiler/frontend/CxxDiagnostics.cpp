#include "compiler/frontend/CxxDiagnostics.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/Type.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace clang;
using namespace dl::frontend;

static constexpr size_t kMostErrors = 5;

Message CxxDiagnostics::convert(const Diagnostic &info,
                                bool &inUserFile) const {
  Message message;
  llvm::SmallString<256> text;
  info.FormatDiagnostic(text);
  message.text = text.str().str();
  inUserFile = false;
  if (!info.hasSourceManager() || !info.getLocation().isValid())
    return message;
  const SourceManager &sources = info.getSourceManager();
  SourceLocation at = sources.getExpansionLoc(info.getLocation());
  inUserFile = !sources.isInSystemHeader(at);
  if (PresumedLoc place = sources.getPresumedLoc(at); place.isValid())
    message.at = {place.getFilename(), place.getLine(), place.getColumn(), ""};
  return message;
}

void CxxDiagnostics::readSource(const Diagnostic &info,
                                CxxProblem &problem) const {
  if (info.hasSourceManager() && info.getLocation().isValid() &&
      languageOptions) {
    const SourceManager &sources = info.getSourceManager();
    SourceLocation at = sources.getExpansionLoc(info.getLocation());
    unsigned length = Lexer::MeasureTokenLength(at, sources, *languageOptions);
    const char *begin = sources.getCharacterData(at);
    problem.token.assign(begin, length);
    auto [file, offset] = sources.getDecomposedLoc(at);
    llvm::StringRef text = sources.getBufferData(file);
    problem.following = text.substr(offset, 2000).str();
    llvm::StringRef before = text.take_front(offset);
    problem.line = text.substr(before.rfind('\n') + 1, 2000).str();
    size_t end = before.find_last_not_of(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    problem.preceding =
        before.drop_front(end == llvm::StringRef::npos ? 0 : end + 1).str();
  }
}

/// "Linear(i64 in_features, i64 out_features)": a function's name and
/// parameters.
std::string CxxDiagnostics::readDeclaration(const Diagnostic &info) {
  if (!info.hasSourceManager() || !info.getLocation().isValid())
    return "";
  const SourceManager &sources = info.getSourceManager();
  SourceLocation at = info.getLocation(); // that in a macro, not of its use
  if (sources.isMacroArgExpansion(at))
    at = sources.getImmediateExpansionRange(at).getBegin();
  auto [file, offset] = sources.getDecomposedLoc(sources.getSpellingLoc(at));
  std::string declaration;
  int depth = 0;
  for (char c : sources.getBufferData(file).substr(offset, 800)) {
    if (c == '\\')
      continue;
    bool space = llvm::isSpace(c);
    if (!space || (!declaration.empty() && declaration.back() != ' '))
      declaration += space ? ' ' : c;
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ')' && depth == 0)
      return declaration;
  }
  return "";
}

/// Remembers the fields of an options struct that is one of the arguments.
static void readOptions(const Diagnostic &info, CxxProblem &problem) {
  for (unsigned i = 0; i < info.getNumArgs() && problem.optionsType.empty();
       ++i) {
    if (info.getArgKind(i) != DiagnosticsEngine::ak_qualtype)
      continue;
    QualType type =
        QualType::getFromOpaquePtr(reinterpret_cast<void *>(info.getRawArg(i)));
    const CXXRecordDecl *record =
        type.isNull() ? nullptr
                      : type.getNonReferenceType()->getAsCXXRecordDecl();
    if (!record || !(record->getName().ends_with("Options") ||
                     record->getName().ends_with("Group")))
      continue;
    problem.optionsType = record->getName().str();
    for (const FieldDecl *field : record->fields())
      if (field->getName() != "by_name") // what only makes them named
        problem.optionsFields.push_back(field->getNameAsString());
  }
}

void CxxDiagnostics::HandleDiagnostic(DiagnosticsEngine::Level level,
                                      const Diagnostic &info) {
  DiagnosticConsumer::HandleDiagnostic(level, info);
  if (level == DiagnosticsEngine::Ignored || level == DiagnosticsEngine::Remark)
    return;
  bool inUserFile = false;
  Message message = convert(info, inUserFile);
  if (level == DiagnosticsEngine::Note) {
    if (problems.empty())
      return;
    message.severity = Message::Note;
    readOptions(info, problems.back());
    problems.back().notes.push_back({std::move(message), inUserFile,
                                     inUserFile ? "" : readDeclaration(info)});
    return;
  }
  CxxProblem problem;
  message.severity =
      level == DiagnosticsEngine::Warning ? Message::Warning : Message::Error;
  problem.message = std::move(message);
  problem.inUserFile = inUserFile;
  readSource(info, problem);
  readOptions(info, problem);
  problems.push_back(std::move(problem));
}

std::string CxxDiagnostics::take() {
  explain(problems);
  llvm::erase_if(problems,
                 [](const CxxProblem &one) { return one.isConsequence; });
  bool anyError = false;
  for (CxxProblem &problem : problems) {
    anyError |= problem.message.severity == Message::Error;
    // What went wrong inside of <dl/dl.h> is shown where the user called it.
    for (const CxxNote &note : problem.notes)
      if (!problem.inUserFile && note.inUserFile) {
        problem.message.at = note.message.at;
        problem.inUserFile = true;
        break;
      }
  }
  // Clang parses the bodies of a struct's functions after the struct.
  llvm::StringMap<unsigned> files;
  for (const CxxProblem &problem : problems)
    files.try_emplace(problem.message.at.file, files.size());
  auto place = [&](const CxxProblem &problem) {
    const Frame &at = problem.message.at;
    return std::pair(files.lookup(at.file), at.line);
  };
  llvm::stable_sort(problems, [&](const CxxProblem &a, const CxxProblem &b) {
    return place(a) < place(b);
  });
  for (const CxxProblem &problem : problems)
    missing |= problem.notInThisVersion;
  std::string rendered;
  llvm::StringSet<> said;
  size_t errors = 0, hidden = 0;
  for (const CxxProblem &problem : problems) {
    bool isError = problem.message.severity == Message::Error;
    // Once a name is missing, most other errors are consequences.
    if (missing && isError && !problem.notInThisVersion)
      continue;
    if (anyError && !isError)
      continue;
    if (missing && isError && !said.insert(problem.message.text).second)
      continue;
    if (isError && ++errors > kMostErrors) {
      ++hidden;
      continue;
    }
    rendered += render(problem.message);
    for (const CxxNote &note : problem.notes)
      if (note.inUserFile)
        rendered += render(note.message);
  }
  if (hidden)
    rendered += std::to_string(hidden) +
                (hidden == 1 ? " more error\n" : " more errors\n");
  problems.clear();
  return rendered;
}
