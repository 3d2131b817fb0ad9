#include "compiler/frontend/CountedCalls.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/DenseSet.h"

using namespace clang;

namespace {

/// The numbers that outlive the code, and where it changes them.
class Changes : public RecursiveASTVisitor<Changes> {
public:
  llvm::DenseSet<const ValueDecl *> own, assigned;
  std::vector<std::pair<const ValueDecl *, SourceLocation>> changed;

  bool VisitVarDecl(VarDecl *variable) {
    if (!variable->isStaticLocal())
      own.insert(variable);
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator *op) {
    if (op->isIncrementDecrementOp())
      note(op->getSubExpr(), op->getOperatorLoc(), /*isAssigned=*/false);
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator *op) {
    if (op->isAssignmentOp())
      note(op->getLHS(), op->getOperatorLoc(),
           /*isAssigned=*/!op->isCompoundAssignmentOp());
    return true;
  }

private:
  void note(Expr *target, SourceLocation at, bool isAssigned) {
    target = target->IgnoreParenImpCasts();
    const ValueDecl *number = nullptr;
    if (auto *variable = dyn_cast<DeclRefExpr>(target))
      number = variable->getDecl();
    else if (auto *member = dyn_cast<MemberExpr>(target);
             member && isa<CXXThisExpr>(member->getBase()->IgnoreImpCasts()))
      number = member->getMemberDecl();
    if (!number || !number->getType().getNonReferenceType()->isIntegerType())
      return;
    if (isAssigned)
      assigned.insert(number); // it begins anew
    else
      changed.emplace_back(number, at);
  }
};

class CountedCalls : public ASTConsumer,
                     public RecursiveASTVisitor<CountedCalls> {
public:
  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl *decl : group)
      if (!decl->isFromASTFile())
        parsed.push_back(decl);
    return true;
  }

  void HandleTranslationUnit(ASTContext &unit) override {
    if (unit.getDiagnostics().hasErrorOccurred())
      return;
    context = &unit;
    for (Decl *decl : parsed)
      if (!unit.getSourceManager().isInSystemHeader(decl->getLocation()))
        TraverseDecl(decl);
  }

  /// p.train(data, [&](dl::Batch b) { ... }), or a variable that holds it.
  bool VisitCXXMemberCallExpr(CXXMemberCallExpr *call) {
    CXXMethodDecl *method = call->getMethodDecl();
    if (!method ||
        method->getParent()->getQualifiedNameAsString() != "dl::Program" ||
        !method->getDeclName().isIdentifier() ||
        !(method->getName() == "train" || method->getName() == "eval" ||
          method->getName() == "predict"))
      return true;
    for (Expr *argument : call->arguments())
      if (const LambdaExpr *step = lambdaOf(argument))
        look(step->getBody());
    return true;
  }

  bool VisitCXXMethodDecl(CXXMethodDecl *method) {
    if (method->hasBody() && method->getDeclName().isIdentifier() &&
        method->getName() == "forward" && isModule(*method->getParent()))
      look(method->getBody());
    return true;
  }

private:
  static const LambdaExpr *lambdaOf(Expr *argument) {
    Expr *spelled = argument->IgnoreUnlessSpelledInSource();
    if (auto *variable = dyn_cast<DeclRefExpr>(spelled))
      if (auto *decl = dyn_cast<VarDecl>(variable->getDecl());
          decl && decl->getInit())
        spelled = decl->getInit()->IgnoreUnlessSpelledInSource();
    return dyn_cast<LambdaExpr>(spelled);
  }

  static bool isModule(const CXXRecordDecl &type) {
    bool found = false;
    if (type.hasDefinition())
      type.forallBases([&](const CXXRecordDecl *base) {
        found |= base->getQualifiedNameAsString() == "dl::nn::Module";
        return true;
      });
    return found;
  }

  void look(Stmt *body) {
    Changes changes;
    changes.TraverseStmt(body);
    for (auto [number, at] : changes.changed) {
      auto *parameter = dyn_cast<ParmVarDecl>(number);
      if (parameter || changes.own.contains(number) ||
          changes.assigned.contains(number) || !told.insert(at).second)
        continue;
      DiagnosticsEngine &diagnostics = context->getDiagnostics();
      diagnostics.Report(
          at, diagnostics.getCustomDiagID(
                  DiagnosticsEngine::Warning,
                  "'%0' does not count steps: they are traced once, when the "
                  "plan is made; p.step() is the number of the step, and "
                  "dl::where chooses by it"))
          << number->getName();
    }
  }

  ASTContext *context = nullptr;
  std::vector<Decl *> parsed;
  llvm::DenseSet<SourceLocation> told;
};

} // namespace

std::unique_ptr<ASTConsumer> dl::frontend::makeCountedCallsCheck() {
  return std::make_unique<CountedCalls>();
}
