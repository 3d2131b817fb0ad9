#include "compiler/frontend/Reflection.h"
#include "compiler/dsl/dl/abi.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Mangle.h"
#include "clang/AST/RecordLayout.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include <optional>

using namespace clang;
using namespace dl::frontend;

namespace {

class Reflection : public ASTConsumer, public RecursiveASTVisitor<Reflection> {
public:
  explicit Reflection(ReflectedTypes &result) : result(result) {}

  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl *decl : group)
      if (!decl->isFromASTFile() &&
          (!isInstance(decl) || isInstanceOfPrecompiled(decl)))
        parsed.push_back(decl);
    return true;
  }

  void HandleTagDeclDefinition(TagDecl *tag) override {
    if (!tag->isFromASTFile() && isInstanceOfPrecompiled(tag))
      parsed.push_back(tag);
  }

  void HandleTranslationUnit(ASTContext &unit) override {
    if (unit.getDiagnostics().hasErrorOccurred())
      return;
    context = &unit;
    mangler.reset(ItaniumMangleContext::create(unit, unit.getDiagnostics()));
    // What is in a precompiled <dl/dl.h> is known already, and to walk it would
    // load it all. Instances of its templates are new; those of other templates
    // are met below them.
    if (unit.getExternalSource())
      for (Decl *decl : parsed)
        TraverseDecl(decl);
    else
      TraverseDecl(unit.getTranslationUnitDecl());
  }

  bool shouldVisitTemplateInstantiations() const { return true; }

  // The language's own headers hold nothing of interest and most of the AST.
  bool TraverseDecl(Decl *decl) {
    if (decl && isa<NamespaceDecl>(decl) &&
        cast<NamespaceDecl>(decl)->isStdNamespace())
      return true;
    return RecursiveASTVisitor::TraverseDecl(decl);
  }

  bool VisitCXXRecordDecl(CXXRecordDecl *record) {
    if (!record->isCompleteDefinition() || record->isDependentContext() ||
        record->isInvalidDecl() || !moduleOffset(record))
      return true;
    std::string name;
    llvm::raw_string_ostream os(name);
    mangler->mangleCXXRTTIName(context->getCanonicalTagType(record), os);
    collect(record, CharUnits::Zero(),
            result.members[name.substr(4)] = {}); // without "_ZTS"
    return true;
  }

  bool VisitVarDecl(VarDecl *variable) {
    const CXXRecordDecl *type = variable->getType()->getAsCXXRecordDecl();
    if (!type || isa<ParmVarDecl>(variable) ||
        (!isParameter(type) && !isBuffer(type) && !moduleOffset(type)))
      return true;
    PresumedLoc at = place(variable->getLocation());
    PresumedLoc first = place(variable->getBeginLoc());
    PresumedLoc last = place(variable->getEndLoc());
    if (at.isValid() && first.isValid() && last.isValid())
      result.variables.push_back({variable->getNameAsString(), at.getFilename(),
                                  at.getLine(), at.getColumn(), first.getLine(),
                                  last.getLine()});
    return true;
  }

  bool VisitFunctionDecl(FunctionDecl *function) {
    if (function->isDependentContext() || function->isInvalidDecl())
      return true;
    lookForMain(function);
    const SourceManager &sources = context->getSourceManager();
    SourceLocation at = function->getLocation();
    if (function->isDefined() || function->isDefaulted() ||
        function->isPureVirtual() || !at.isValid() ||
        sources.isInSystemHeader(at) ||
        !mangler->shouldMangleDeclName(function))
      return true;
    if (isa<CXXConstructorDecl, CXXDestructorDecl>(function))
      return true;
    std::string mangled, shown;
    llvm::raw_string_ostream os(mangled), text(shown);
    mangler->mangleName(GlobalDecl(function), os);
    function->getNameForDiagnostic(text, context->getPrintingPolicy(), true);
    PresumedLoc where = place(at);
    if (where.isValid())
      result.undefined[mangled] = {shown, where.getFilename(), where.getLine(),
                                   where.getColumn()};
    return true;
  }

private:
  static const Decl *patternOf(const Decl *decl) {
    if (auto *function = dyn_cast<FunctionDecl>(decl))
      return function->getTemplateInstantiationPattern();
    if (auto *record = dyn_cast<CXXRecordDecl>(decl))
      return record->getTemplateInstantiationPattern();
    return nullptr;
  }
  static bool isInstance(const Decl *decl) { return patternOf(decl); }
  static bool isInstanceOfPrecompiled(const Decl *decl) {
    const Decl *pattern = patternOf(decl);
    return pattern && pattern->isFromASTFile() && !decl->isInStdNamespace();
  }

  static bool takesProgram(const FunctionDecl *function) {
    if (function->getNumParams() != 1)
      return false;
    QualType type = function->getParamDecl(0)->getType();
    const CXXRecordDecl *record =
        type.getNonReferenceType()->getAsCXXRecordDecl();
    return type->isLValueReferenceType() && record &&
           record->getQualifiedNameAsString() == "dl::Program";
  }

  void lookForMain(const FunctionDecl *function) {
    std::string name = function->getQualifiedNameAsString();
    if (name == "dl_main" && takesProgram(function)) {
      result.hasMain |= function->isDefined();
      return;
    }
    if (context->getSourceManager().isInSystemHeader(function->getLocation()) ||
        isa<CXXMethodDecl>(function))
      return;
    // A function of this name comes before one that takes a program.
    bool sameName = name == "dl_main";
    if (!sameName && (!result.nearlyMain.name.empty() ||
                      (!takesProgram(function) && name != "main")))
      return;
    if (PresumedLoc where = place(function->getLocation()); where.isValid())
      result.nearlyMain = {name, where.getFilename(), where.getLine(),
                           where.getColumn()};
  }

  PresumedLoc place(SourceLocation location) const {
    const SourceManager &sources = context->getSourceManager();
    return sources.getPresumedLoc(sources.getExpansionLoc(location));
  }

  static bool isParameter(const CXXRecordDecl *record) {
    return record->getName() == "Parameter" &&
           record->getQualifiedNameAsString() == "dl::Parameter";
  }

  static bool isBuffer(const CXXRecordDecl *record) {
    return record->getName() == "Buffer" &&
           record->getQualifiedNameAsString() == "dl::Buffer";
  }

  /// It begins with a pointer to its module.
  static bool isAnyModule(const CXXRecordDecl *record) {
    return record->getName() == "AnyModule" &&
           record->getQualifiedNameAsString() == "dl::nn::AnyModule";
  }

  /// Where the dl::nn::Module lies in an object of the class.
  std::optional<CharUnits> moduleOffset(const CXXRecordDecl *record) {
    if (!record || !(record = record->getDefinition()) ||
        record->isDependentContext())
      return std::nullopt;
    if (record->getName() == "Module" &&
        record->getQualifiedNameAsString() == "dl::nn::Module")
      return CharUnits::Zero();
    for (const CXXBaseSpecifier &base : record->bases()) {
      const CXXRecordDecl *type = base.getType()->getAsCXXRecordDecl();
      if (std::optional<CharUnits> inside = moduleOffset(type)) {
        const ASTRecordLayout &layout = context->getASTRecordLayout(record);
        return *inside + (base.isVirtual() ? layout.getVBaseClassOffset(type)
                                           : layout.getBaseClassOffset(type));
      }
    }
    return std::nullopt;
  }

  void collect(const CXXRecordDecl *record, CharUnits at,
               std::vector<Member> &members) {
    const ASTRecordLayout &layout = context->getASTRecordLayout(record);
    for (const CXXBaseSpecifier &base : record->bases())
      if (const CXXRecordDecl *type = base.getType()->getAsCXXRecordDecl();
          type && !base.isVirtual() && moduleOffset(type))
        collect(type, at + layout.getBaseClassOffset(type), members);
    addFields(record, at, "", members);
  }

  void addFields(const CXXRecordDecl *record, CharUnits at,
                 const std::string &prefix, std::vector<Member> &members) {
    const ASTRecordLayout &layout = context->getASTRecordLayout(record);
    for (const FieldDecl *field : record->fields()) {
      CharUnits offset =
          at + context->toCharUnitsFromBits(static_cast<int64_t>(
                   layout.getFieldOffset(field->getFieldIndex())));
      addField(*field, prefix + field->getNameAsString(), field->getType(),
               offset, members);
    }
  }

  void addField(const FieldDecl &field, const std::string &name, QualType type,
                CharUnits offset, std::vector<Member> &members) {
    if (const ConstantArrayType *array =
            context->getAsConstantArrayType(type)) {
      CharUnits size = context->getTypeSizeInChars(array->getElementType());
      for (uint64_t i = 0; i < array->getZExtSize(); ++i)
        addField(field, name + "." + std::to_string(i), array->getElementType(),
                 offset + static_cast<int64_t>(i) * size, members);
      return;
    }
    const CXXRecordDecl *record = type->getAsCXXRecordDecl();
    if (!record || !(record = record->getDefinition()))
      return;
    Member member{name, 0, offset.getQuantity()};
    if (const CXXRecordDecl *element = listedBy(*record)) {
      member.stride =
          context->getTypeSizeInChars(typeOf(element)).getQuantity();
      record = element;
    }
    if (const CXXRecordDecl *object = heldBySmart(*record)) {
      member.held = true;
      record = object;
    }
    if (describe(record, member))
      members.push_back(member);
    else if (member.stride || member.held)
      reportIfOverlooked(field, *type->getAsCXXRecordDecl()->getDefinition());
    else if (record->isInStdNamespace() && record->getName() == "array" &&
             !record->field_empty()) // its elements are an array inside
      addField(field, name, record->field_begin()->getType(), offset, members);
    else if (record->isInStdNamespace())
      reportIfOverlooked(field, *record);
    else
      addFields(record, offset, name + ".", members); // a plain struct
  }

  /// What of a module's class, a parameter or a buffer goes into the list.
  bool describe(const CXXRecordDecl *record, Member &member) {
    if (isAnyModule(record)) {
      bool isWithin = member.held;
      member.held = true;
      member.kind = DL_MEMBER_MODULE;
      return !isWithin;
    }
    if (std::optional<CharUnits> module = moduleOffset(record)) {
      member.kind = DL_MEMBER_MODULE;
      // Of a member its place, of an element or what is held that inside.
      (member.stride || member.held ? member.inside : member.offset) +=
          module->getQuantity();
      return true;
    }
    member.kind = isParameter(record) ? DL_MEMBER_PARAMETER : DL_MEMBER_BUFFER;
    return isParameter(record) || isBuffer(record);
  }

  CanQualType typeOf(const CXXRecordDecl *record) const {
    return context->getCanonicalTagType(record);
  }

  /// The class in the first argument of a template of the standard library
  /// whose objects consist of so many pointers; else null.
  const CXXRecordDecl *argumentOf(const CXXRecordDecl &record, StringRef name,
                                  int pointers) const {
    auto *container = dyn_cast<ClassTemplateSpecializationDecl>(&record);
    if (!container || !record.isInStdNamespace() || record.getName() != name)
      return nullptr;
    const TemplateArgument &first = container->getTemplateArgs()[0];
    CharUnits size = context->getTypeSizeInChars(context->VoidPtrTy) * pointers;
    if (first.getKind() != TemplateArgument::Type ||
        context->getTypeSizeInChars(typeOf(&record)) != size)
      return nullptr;
    const CXXRecordDecl *held = first.getAsType()->getAsCXXRecordDecl();
    return held ? held->getDefinition() : nullptr;
  }
  /// The elements of a std::vector: its first pointers are to the first one,
  /// and behind the last one.
  const CXXRecordDecl *listedBy(const CXXRecordDecl &record) const {
    return argumentOf(record, "vector", 3);
  }
  /// What a std::unique_ptr or std::shared_ptr owns.
  const CXXRecordDecl *heldBySmart(const CXXRecordDecl &record) const {
    const CXXRecordDecl *unique = argumentOf(record, "unique_ptr", 1);
    return unique ? unique : argumentOf(record, "shared_ptr", 2);
  }

  /// "modules" or "parameters", which a container of the standard library would
  /// hide; else null.
  const char *heldBy(const CXXRecordDecl &record) {
    auto *container = dyn_cast<ClassTemplateSpecializationDecl>(&record);
    if (!container)
      return nullptr;
    for (const TemplateArgument &a : container->getTemplateArgs().asArray()) {
      const CXXRecordDecl *held = a.getKind() == TemplateArgument::Type
                                      ? a.getAsType()->getAsCXXRecordDecl()
                                      : nullptr;
      if (!held)
        continue;
      if (moduleOffset(held) || isAnyModule(held))
        return "modules";
      if (isParameter(held))
        return "parameters";
      if (isBuffer(held))
        return "buffers";
      if (const char *inside = heldBy(*held))
        return inside;
    }
    return nullptr;
  }

  /// A std::map of modules: PyTorch loses such ones silently.
  void reportIfOverlooked(const FieldDecl &field, const CXXRecordDecl &record) {
    const char *found = record.isInStdNamespace() ? heldBy(record) : nullptr;
    if (!found)
      return;
    StringRef held = found;
    PresumedLoc at = place(field.getLocation());
    Message message;
    message.text =
        held.str() + " in a std::" + record.getNameAsString() +
        ": not in this version; " +
        (held == "modules"
             ? record.getName() == "optional"
                   ? "an nn::AnyModule may be empty: if (skip) x = skip(x)"
                   : "a std::vector of them, an array or nn::ModuleList is "
                     "found"
             : "a std::vector of them or an array is found");
    message.at = {at.getFilename(), at.getLine(), at.getColumn(), ""};
    result.overlooked.push_back(message);
  }

  ReflectedTypes &result;
  ASTContext *context = nullptr;
  std::vector<Decl *> parsed; // at the top level, and instances
  std::unique_ptr<ItaniumMangleContext> mangler;
};

} // namespace

std::unique_ptr<ASTConsumer>
dl::frontend::makeReflection(ReflectedTypes &result) {
  return std::make_unique<Reflection>(result);
}
