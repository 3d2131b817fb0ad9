#ifndef DL_GRAPH_OPS_ELEMENTWISE
#define DL_GRAPH_OPS_ELEMENTWISE

include "dialects/graph/Graph.td"

// Operands are broadcast as NumPy does. `domain` says which element types an op
// takes: Floats, Numbers (floats, i64, i32), Integers (i64, i32), Bools or Any.

class Graph_Elementwise<string mnemonic, string domain, string resultType, list<Trait> traits>
    : Graph_InferredOp<mnemonic, traits> {
  let results = (outs Graph_Tensor:$result);
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return inferElementwise(location, "}] # mnemonic # [{",
          adaptor.getOperands().getTypes(), Domain::}] # domain # [{,
          ElementwiseResult::}] # resultType # [{, types);
    }
    LoopNest $cppClass::getLoopNest() { return elementwiseNest(*this); }
    int64_t $cppClass::getFlops() { return elementwiseFlops(*this); }
  }];
}

class Graph_Unary<string mnemonic, string domain>
    : Graph_Elementwise<mnemonic, domain, "Same", Graph_SmoothNest> {
  let arguments = (ins Graph_Tensor:$x);
}

def Graph_NegOp : Graph_Unary<"neg", "Numbers"> {
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def Graph_AbsOp : Graph_Unary<"abs", "Numbers">;
def Graph_ExpOp : Graph_Unary<"exp", "Floats">;
def Graph_LogOp : Graph_Unary<"log", "Floats">;
def Graph_Log1pOp : Graph_Unary<"log1p", "Floats"> {
  let summary = "log(1 + x), accurate near 0.";
}
def Graph_SqrtOp : Graph_Unary<"sqrt", "Floats">;
def Graph_RsqrtOp : Graph_Unary<"rsqrt", "Floats">;
def Graph_SinOp : Graph_Unary<"sin", "Floats">;
def Graph_CosOp : Graph_Unary<"cos", "Floats">;
def Graph_TanhOp : Graph_Unary<"tanh", "Floats">;
def Graph_SigmoidOp : Graph_Unary<"sigmoid", "Floats">;
def Graph_ErfOp : Graph_Unary<"erf", "Floats">;
def Graph_ReluOp : Graph_Unary<"relu", "Floats"> {
  let summary = "max(x, 0); a NaN stays.";
}
def Graph_SignOp : Graph_Unary<"sign", "Floats">;
def Graph_FloorOp : Graph_Unary<"floor", "Floats">;

class Graph_Binary<string mnemonic, string domain>
    : Graph_Elementwise<mnemonic, domain, "Same", Graph_SmoothNest> {
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b);
}

def Graph_AddOp : Graph_Binary<"add", "Numbers"> { let hasFolder = 1; }
def Graph_SubOp : Graph_Binary<"sub", "Numbers"> { let hasFolder = 1; }
def Graph_MulOp : Graph_Binary<"mul", "Numbers"> { let hasFolder = 1; }
def Graph_DivOp : Graph_Binary<"div", "Floats"> { let hasFolder = 1; }
def Graph_PowOp : Graph_Binary<"pow", "Floats"> { let hasCanonicalizer = 1; }
def Graph_MaximumOp : Graph_Binary<"maximum", "Any"> {
  let summary = "The greater one, or NaN; equal operands share the gradient.";
}
def Graph_MinimumOp : Graph_Binary<"minimum", "Any"> {
  let summary = "The smaller one, or NaN; equal operands share the gradient.";
}

def Graph_FloorDivideOp : Graph_Elementwise<"floor_divide", "Integers", "Same", Graph_Nest> {
  let summary = "The quotient rounded down, -7 and 2 give -4; 0 where the divisor is 0.";
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b);
}

class Graph_Bitwise<string mnemonic>
    : Graph_Elementwise<mnemonic, "Integers", "Same", Graph_Nest> {
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b);
}

def Graph_BitwiseAndOp : Graph_Bitwise<"bitwise_and">;
def Graph_BitwiseOrOp : Graph_Bitwise<"bitwise_or">;
def Graph_BitwiseXorOp : Graph_Bitwise<"bitwise_xor">;

class Graph_Comparison<string mnemonic>
    : Graph_Elementwise<mnemonic, "Any", "Bool", Graph_Nest> {
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b);
}

def Graph_EqOp : Graph_Comparison<"eq">;
def Graph_NeOp : Graph_Comparison<"ne">;
def Graph_LtOp : Graph_Comparison<"lt">;
def Graph_LeOp : Graph_Comparison<"le">;
def Graph_GtOp : Graph_Comparison<"gt">;
def Graph_GeOp : Graph_Comparison<"ge">;

def Graph_LogicalAndOp : Graph_Elementwise<"logical_and", "Bools", "Bool", Graph_Nest> {
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b);
}
def Graph_LogicalOrOp : Graph_Elementwise<"logical_or", "Bools", "Bool", Graph_Nest> {
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b);
}
def Graph_LogicalNotOp : Graph_Elementwise<"logical_not", "Bools", "Bool", Graph_Nest> {
  let arguments = (ins Graph_Tensor:$x);
}

def Graph_SelectOp : Graph_Elementwise<"select", "Any", "Selected", Graph_SmoothNest> {
  let summary = "`a` where `cond` holds, else `b`.";
  let arguments = (ins Graph_Tensor:$cond, Graph_Tensor:$a, Graph_Tensor:$b);
  let hasFolder = 1;
}

def Graph_CastOp : Graph_InferredOp<"cast", Graph_SmoothNest> {
  let summary = "Another element type; floats become integers towards zero.";
  let arguments = (ins Graph_Tensor:$x, TypeAttr:$to);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
}

#endif
