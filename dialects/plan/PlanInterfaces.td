#ifndef DL_PLAN_INTERFACES
#define DL_PLAN_INTERFACES

include "mlir/IR/OpBase.td"

def Plan_CommandOpInterface : OpInterface<"CommandOpInterface"> {
  let cppNamespace = "::dl::plan";
  let description = [{
    A command of a program. Passes that order, place and check commands know
    them through this alone.
  }];
  let methods = [
    InterfaceMethod<"The bytes that it reads and writes, in the order of its operands.",
                    "::std::vector<::dl::plan::Access>", "getAccesses",
                    (ins "const ::mlir::SymbolTable &":$kernels)>,
    InterfaceMethod<"What messages call it: \"@dot\".", "::std::string", "getTitle">,
    InterfaceMethod<"Whether it is too small to be shared among threads.", "bool", "getSerial">,
    InterfaceMethod<"That it has finished.", "::mlir::Value", "getDone">,
    InterfaceMethod<"What it waits for.", "::mlir::OperandRange", "getAfter">,
    InterfaceMethod<"The same, to be changed.", "::mlir::MutableOperandRange", "getAfterMutable">,
    InterfaceMethod<"The ops of the model that it runs.", "::mlir::ArrayAttr", "getSources">,
  ];
}

#endif
