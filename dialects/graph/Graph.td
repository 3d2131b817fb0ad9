#ifndef DL_GRAPH
#define DL_GRAPH

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/graph/Interfaces.td"

def GraphDialect : Dialect {
  let name = "graph";
  let summary = "A training step as a graph of tensor ops.";
  let cppNamespace = "::dl::graph";
  let useDefaultAttributePrinterParser = 1;
}

def Graph_SettingAttr : AttrDef<GraphDialect, "Setting"> {
  let mnemonic = "setting";
  let summary = "A number that steps read from memory.";
  let description = [{
    `path` is its name in the plan, `value` what it is until somebody changes it:
    #graph.setting<"optim.lr" = 1.0e-01 : f64>.
  }];
  let parameters = (ins StringRefParameter<>:$path, "::mlir::FloatAttr":$value);
  let assemblyFormat = "`<` $path `=` $value `>`";
}

def Graph_ImageTransformAttr : AttrDef<GraphDialect, "ImageTransform"> {
  let mnemonic = "image_transform";
  let summary = "What a picture of a file goes through before it is part of a batch.";
  let description = [{
    `resize`: where `width` is 0 the shorter edge becomes `height`. `center_crop`,
    `random_crop`. `random_resized_crop`: a part of `numbers` 0 to 1 of the area,
    2 to 3 as wide as it is high.
    #graph.image_transform<"random_resized_crop", 224 by 224, [...]>.
  }];
  let parameters = (ins StringRefParameter<>:$kind, "int64_t":$height, "int64_t":$width,
                        OptionalParameter<"::mlir::ArrayAttr">:$numbers);
  let assemblyFormat = "`<` $kind `,` $height `by` $width (`,` $numbers^)? `>`";
}

def Graph_SelectionAttr : AttrDef<GraphDialect, "Selection"> {
  let mnemonic = "selection";
  let summary = "Items of a data set that are one of another's.";
  let description = [{
    So many from the `first` on, in their order or in the one that a seed gives:
    #graph.selection<5000 from 55000 of 60000, shuffled true, seed 42>.
  }];
  let parameters = (ins "int64_t":$items, "int64_t":$first, "int64_t":$of, "bool":$shuffled, "int64_t":$seed);
  let assemblyFormat = "`<` $items `from` $first `of` $of `,` `shuffled` $shuffled `,` `seed` $seed `>`";
}

def Graph_SamplerAttr : AttrDef<GraphDialect, "Sampler"> {
  let mnemonic = "sampler";
  let summary = "Draws of items with replacement, by weights in a file.";
  let description = [{ #graph.sampler<"weights.npy" of 60000>: the data set's `items` are draws. }];
  let parameters = (ins "::mlir::StringAttr":$weights, "int64_t":$of);
  let assemblyFormat = "`<` $weights `of` $of `>`";
}

def Graph_OperandNumberAttr : AttrDef<GraphDialect, "OperandNumber"> {
  let mnemonic = "operand";
  let summary = "A number that the step computes, f64 [].";
  let description = [{
    #graph.operand<1> is operand 1 of those behind the op's tensors: the rate of a
    schedule.
  }];
  let parameters = (ins "int64_t":$index);
  let assemblyFormat = "`<` $index `>`";
}

/// An option that is a number of the code, a setting, or computed in the step.
def Graph_Number : Attr<Or<[F64Attr.predicate, Graph_SettingAttr.predicate,
                            Graph_OperandNumberAttr.predicate]>,
                        "64-bit float, setting or operand"> {
  let storageType = "::mlir::Attribute";
  let returnType = "::mlir::Attribute";
  let convertFromStorage = "$_self";
  let constBuilderCall = "$_builder.getF64FloatAttr($0)";
}

/// Which element types an op takes is said by its room, in the user's words.
def Graph_Tensor : StaticShapeTensorOf<[F32, F64, BF16, I64, I32, UI8, I1]>;

/// The step's scalars, i64 [8]; these are the first.
def Graph_StepScalar : I32Enum<"StepScalar", "what a step knows besides its data and states", [
    I32EnumCase<"Seed", 0, "seed">,
    I32EnumCase<"Step", 1, "step">,        // updates done before
    I32EnumCase<"Micro", 2, "micro">,      // micro-batch within the step
    I32EnumCase<"GroupItems", 3, "items">, // of all its micro-batches
    I32EnumCase<"Epoch", 4, "epoch">]> {
  let cppNamespace = "::dl::graph";
}

/// What an op knows about itself.
defvar Graph_Reference = [DeclareOpInterfaceMethods<ReferenceOpInterface>,
                          DeclareOpInterfaceMethods<CostOpInterface>];
defvar Graph_Nest = !listconcat(
    Graph_Reference, [DeclareOpInterfaceMethods<LoopNestOpInterface>]);
defvar Graph_Constants = [DeclareOpInterfaceMethods<LaunchConstantsOpInterface>];
defvar Graph_Gradient = [DeclareOpInterfaceMethods<DifferentiableOpInterface>];
/// Parts of it beside each other.
defvar Graph_Join = [DeclareOpInterfaceMethods<JoinOpInterface>];
/// Some of its elements, which may lie beside each other.
defvar Graph_Stretch = [DeclareOpInterfaceMethods<StretchOpInterface>];
/// Linear: many of which only the sum is used are one.
defvar Graph_JointSum = [DeclareOpInterfaceMethods<JointSumOpInterface>];
/// Sums that can be added up in parts.
defvar Graph_SplitSum = [DeclareOpInterfaceMethods<SplitSumOpInterface>];
/// Dims that have names.
defvar Graph_Transpose = [DeclareOpInterfaceMethods<TransposableOpInterface>];
defvar Graph_SmoothNest = !listconcat(Graph_Nest, Graph_Gradient);
/// Written with simpler ops before code generation.
defvar Graph_Decomposed = [DeclareOpInterfaceMethods<DecomposableOpInterface>];
defvar Graph_Composite =
    !listconcat(Graph_Reference, Graph_Gradient, Graph_Decomposed);

/// The same memory seen in another way.
defvar Graph_Alias = [DeclareOpInterfaceMethods<AliasOpInterface>];

/// What is to be said about computing an op in parts, see ShardingOpInterface.
defvar Graph_OwnRule =
    [DeclareOpInterfaceMethods<ShardingOpInterface, ["getShardingRule"]>];
defvar Graph_LocalAttributes =
    [DeclareOpInterfaceMethods<ShardingOpInterface, ["localizeAttributes"]>];
defvar Graph_OwnSharding = [DeclareOpInterfaceMethods<
    ShardingOpInterface, ["getShardingRule", "localizeAttributes"]>];

defvar Graph_LocalBuild = [DeclareOpInterfaceMethods<
    ShardingOpInterface, ["getShardingRule", "buildLocal"]>];

/// An op of the dialect. Those on tensors are pure: state is threaded through SSA.
class Graph_Op<string mnemonic, list<Trait> traits = []>
    : Op<GraphDialect, mnemonic, !listconcat([Pure], traits)>;

/// An op whose result types follow from its operands and attributes; its room
/// defines inferReturnTypes and says what is wrong in the user's words.
class Graph_InferredOp<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat([InferTypeOpAdaptor], traits)> {
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
}

#endif
