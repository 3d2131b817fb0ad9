#include "compiler/frontend/IntegerDivision.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/DenseSet.h"

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

  /// Conversions of options by name are in the implicit form of their list.
  bool shouldVisitImplicitCode() const { return true; }

  bool VisitImplicitCastExpr(ImplicitCastExpr *cast) {
    // double(1 / n) says what it means.
    if (cast->getCastKind() == CK_IntegralToFloating &&
        !cast->isPartOfExplicitCast())
      look(cast->getSubExpr(), /*onlyOne=*/false);
    return true;
  }

  /// Operand(1 / n), of tensor * (1 / n). (100 / n may be meant, of integers.)
  bool VisitCXXConstructExpr(CXXConstructExpr *made) {
    std::string type =
        made->getConstructor()->getParent()->getQualifiedNameAsString();
    if ((type == "dl::detail::Operand" || type == "dl::Scalar") &&
        made->getNumArgs() == 1)
      look(made->getArg(0), /*onlyOne=*/true);
    return true;
  }

private:
  void look(Expr *value, bool onlyOne) {
    Expr *plain = value->IgnoreParenImpCasts();
    if (!plain->getType()->isIntegerType())
      return;
    if (auto *sign = dyn_cast<UnaryOperator>(plain)) {
      if (sign->getOpcode() == UO_Minus || sign->getOpcode() == UO_Plus)
        look(sign->getSubExpr(), onlyOne);
      return;
    }
    if (auto *choice = dyn_cast<ConditionalOperator>(plain)) {
      look(choice->getTrueExpr(), onlyOne);
      look(choice->getFalseExpr(), onlyOne);
      return;
    }
    auto *op = dyn_cast<BinaryOperator>(plain);
    if (!op || op->isValueDependent())
      return;
    if (op->isAdditiveOp() || op->getOpcode() == BO_Mul) {
      look(op->getLHS(), onlyOne);
      look(op->getRHS(), onlyOne);
    }
    if (op->getOpcode() == BO_Div)
      check(*op, onlyOne);
  }

  /// A literal over what it is no multiple of.
  void check(const BinaryOperator &op, bool onlyOne) {
    auto *dividend =
        dyn_cast<IntegerLiteral>(op.getLHS()->IgnoreParenImpCasts());
    if (!dividend || (onlyOne && dividend->getValue() != 1) ||
        dividend->getValue().getActiveBits() > 63)
      return;
    uint64_t number = dividend->getValue().getZExtValue();
    Expr::EvalResult result;
    if (op.getRHS()->EvaluateAsInt(result, *context)) {
      llvm::APSInt divisor = result.Val.getInt();
      if (divisor.getSignificantBits() > 63 || divisor.getExtValue() <= 0 ||
          number % uint64_t(divisor.getExtValue()) == 0)
        return;
    }
    if (!told.insert(op.getOperatorLoc()).second)
      return;
    DiagnosticsEngine &diagnostics = context->getDiagnostics();
    std::string text = std::to_string(number);
    diagnostics.Report(
        op.getOperatorLoc(),
        diagnostics.getCustomDiagID(
            DiagnosticsEngine::Warning,
            "%0 / ... divides integers and drops the rest, as C++ does; a "
            "floating-point number is wanted: write %0.0 / ..."))
        << text;
  }

  ASTContext *context = nullptr;
  std::vector<Decl *> parsed;
  llvm::DenseSet<SourceLocation> told; // of templates once
};

} // namespace

std::unique_ptr<ASTConsumer> dl::frontend::makeIntegerDivisionCheck() {
  return std::make_unique<IntegerDivision>();
}
