#ifndef DL_PLAN_INTERFACES
#define DL_PLAN_INTERFACES

include "mlir/IR/OpBase.td"

def Plan_CommandOpInterface : OpInterface<"CommandOpInterface"> {
  let cppNamespace = "::dl::plan";
  let description = [{
    A command of a program, of whatever kind. Passes that order, place, weigh and
    check commands know them through this alone.
  }];
  let methods = [
    InterfaceMethod<"The bytes that it reads and writes, in the order of its operands.",
                    "::std::vector<::dl::plan::Access>", "getAccesses",
                    (ins "const ::mlir::SymbolTable &":$kernels)>,
    InterfaceMethod<"What one run of it does.", "::dl::plan::Work", "getWork",
                    (ins "const ::mlir::SymbolTable &":$kernels)>,
    InterfaceMethod<"What of the machine it keeps busy.", "::dl::plan::Resource", "getResource">,
    InterfaceMethod<"What messages call it: \"@dot\", \"copy\".", "::std::string", "getTitle">,
    InterfaceMethod<"Whether it is too small to be shared among threads.", "bool", "getSerial">,
    InterfaceMethod<"", "void", "setSerial", (ins "bool":$serial)>,
    InterfaceMethod<"What it is expected to take on one core.", "::std::optional<::llvm::APFloat>",
                    "getSeconds">,
    InterfaceMethod<"", "void", "setSeconds", (ins "::std::optional<::llvm::APFloat>":$seconds)>,
    InterfaceMethod<"That it has finished.", "::mlir::Value", "getDone">,
    InterfaceMethod<"What it waits for.", "::mlir::OperandRange", "getAfter">,
    InterfaceMethod<"The same, to be changed.", "::mlir::MutableOperandRange", "getAfterMutable">,
    InterfaceMethod<"The ops of the model that it runs.", "::mlir::ArrayAttr", "getSources">,
  ];
}

#endif
