#include "compiler/frontend/IntegerDivision.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace {

class IntegerDivision : public ASTConsumer,
                        public RecursiveASTVisitor<IntegerDivision> {
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

  bool VisitImplicitCastExpr(ImplicitCastExpr *cast) {
    if (cast->getCastKind() == CK_IntegralToFloating)
      look(cast->getSubExpr());
    return true;
  }

  /// Operand(1 / n), of tensor * (1 / n).
  bool VisitCXXConstructExpr(CXXConstructExpr *made) {
    StringRef name = made->getConstructor()->getParent()->getName();
    if ((name == "Operand" || name == "Scalar") && made->getNumArgs() == 1)
      look(made->getArg(0));
    return true;
  }

private:
  void look(Expr *value) {
    auto *op = dyn_cast<BinaryOperator>(value->IgnoreParenImpCasts());
    if (!op || op->isValueDependent() || !op->getType()->isIntegerType())
      return;
    if (op->isAdditiveOp() || op->getOpcode() == BO_Mul) {
      look(op->getLHS());
      look(op->getRHS());
    }
    Expr::EvalResult dividend, divisor;
    if (op->getOpcode() != BO_Div ||
        !op->getLHS()->EvaluateAsInt(dividend, *context))
      return;
    if (op->getRHS()->EvaluateAsInt(divisor, *context) &&
        (divisor.Val.getInt() == 0 ||
         dividend.Val.getInt().getExtValue() %
                 divisor.Val.getInt().getExtValue() ==
             0))
      return;
    DiagnosticsEngine &diagnostics = context->getDiagnostics();
    diagnostics.Report(
        op->getOperatorLoc(),
        diagnostics.getCustomDiagID(
            DiagnosticsEngine::Warning,
            "%0 divides integers and drops the rest, as C++ does; a "
            "floating-point number is wanted: write %1.0 / ..."))
        << (llvm::Twine(dividendText(dividend)) + " / ...").str()
        << dividendText(dividend);
  }

  static std::string dividendText(const Expr::EvalResult &dividend) {
    return std::to_string(dividend.Val.getInt().getExtValue());
  }

  ASTContext *context = nullptr;
  std::vector<Decl *> parsed;
};

} // namespace

std::unique_ptr<ASTConsumer> dl::frontend::makeIntegerDivisionCheck() {
  return std::make_unique<IntegerDivision>();
}
