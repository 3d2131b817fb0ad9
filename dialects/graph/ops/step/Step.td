#ifndef DL_GRAPH_OPS_STEP
#define DL_GRAPH_OPS_STEP

include "dialects/graph/Graph.td"

def Graph_Part : I32EnumAttr<"Part", "What of a step a graph.step is.", [
    I32EnumAttrCase<"Whole", 0, "whole">, I32EnumAttrCase<"Micro", 1, "micro">,
    I32EnumAttrCase<"Update", 2, "update">,
    I32EnumAttrCase<"Initial", 3, "initial">]> {
  let cppNamespace = "::dl::graph";
}

def Graph_PortKind : I32EnumAttr<"PortKind", "What goes through a port.", [
    I32EnumAttrCase<"Plain", 0, "plain">, I32EnumAttrCase<"Input", 1, "input">,
    I32EnumAttrCase<"Scalars", 2, "scalars">, I32EnumAttrCase<"State", 3, "state">,
    I32EnumAttrCase<"Metric", 4, "metric">, I32EnumAttrCase<"Error", 5, "error">]> {
  let cppNamespace = "::dl::graph";
  let genSpecializedAttr = 0;
}

def Graph_Port : AttrDef<GraphDialect, "Port"> {
  let mnemonic = "port";
  let summary = "What an argument or a result of a step is to the world.";
  let description = [{
    Arguments: `input 0` is a component of the batch, `scalars` are the step's
    scalars, `state @fc.weight` is the value that a state has before the step.
    Results: `state @fc.weight` is its value after the step, `metric "loss"` is
    shown and saved, `error "target out of range"` fails the step where it is not
    zero. `plain` is a value of the IR alone, as tests of ops have it.
  }];
  let parameters = (ins "::dl::graph::PortKind":$kind,
                        "::mlir::Attribute":$what);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static PortAttr plain(::mlir::MLIRContext *context);
    static PortAttr input(::mlir::MLIRContext *context, int64_t component);
    static PortAttr scalars(::mlir::MLIRContext *context);
    static PortAttr state(::mlir::MLIRContext *context, ::llvm::StringRef name);
    static PortAttr metric(::mlir::StringAttr name);
    static PortAttr error(::mlir::StringAttr message);

    bool isScalars() const { return getKind() == PortKind::Scalars; }
    /// Null, or nothing, where the port is of another kind.
    ::std::optional<int64_t> asInput() const;
    ::mlir::FlatSymbolRefAttr asState() const;
    ::mlir::StringAttr asMetric() const;
    ::mlir::StringAttr asError() const;
  }];
}

def Graph_StepOp : Op<GraphDialect, "step", [
    Symbol, IsolatedFromAbove, SingleBlock,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A step of the program, or a part of it, for one size of batch.";
  let description = [{
    `of` names the step as the user does; a training step with accumulation is
    two of these, `micro` and `update`, and a step whose data end with a short
    batch has a second one that is `short`. `dataset` counts the graph.dataset
    ops of the module. Without `of` it belongs to no program, as in tests of ops.
    An `initial` one runs once, before all others, and gives states the values
    that they begin with; it is of any step.

    ```mlir
    graph.step @train(%x: tensor<16x3xf32> input 0, %s: tensor<8xi64> scalars,
                      %w: tensor<3xf32> state @w)
        -> (tensor<f32> metric "loss", tensor<3xf32> state @w)
        of "train" training batch 16 dataset 0 {
      ...
      graph.return %loss, %new : tensor<f32>, tensor<3xf32>
    }
    ```
    Argument types are those of the block's arguments, result types those of what
    graph.return has.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypedArrayAttrBase<Graph_Port, "ports">:$arg_ports,
                       TypedArrayAttrBase<Graph_Port, "ports">:$res_ports,
                       DefaultValuedAttr<Graph_Part, "::dl::graph::Part::Whole">:$part,
                       OptionalAttr<StrAttr>:$of, UnitAttr:$training, UnitAttr:$is_short,
                       OptionalAttr<I64Attr>:$batch, OptionalAttr<I64Attr>:$dataset);
  let regions = (region SizedRegion<1>:$body);
  let skipDefaultBuilders = 1;
  let builders = [
    // Arguments of these types, with plain ports.
    OpBuilder<(ins "::llvm::StringRef":$name,
                   CArg<"::mlir::TypeRange", "{}">:$arguments)>];
  let extraClassDeclaration = [{
    ::mlir::Block::BlockArgListType getArguments() {
      return getBody().front().getArguments();
    }
    unsigned getNumArguments() { return getArguments().size(); }
    ::mlir::BlockArgument getArgument(unsigned number) {
      return getArguments()[number];
    }
    ::mlir::TypeRange getArgumentTypes();
    ReturnOp getReturn();
    PortAttr getArgPort(unsigned number) {
      return ::mlir::cast<PortAttr>(getArgPorts()[number]);
    }
    PortAttr getResPort(unsigned number) {
      return ::mlir::cast<PortAttr>(getResPorts()[number]);
    }
    /// The argument with the step's scalars, or null.
    ::mlir::Value getScalars();

    void setArgPorts(::llvm::ArrayRef<PortAttr> ports);
    /// What the step returns from now on; makes the graph.return if there is
    /// none. Without ports they are plain.
    void setResults(::mlir::ValueRange values, ::llvm::ArrayRef<PortAttr> ports);
    void setResults(::mlir::ValueRange values);
  }];
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def Graph_ReturnOp : Graph_Op<"return", [Terminator, HasParent<"StepOp">]> {
  let summary = "What a step gives back.";
  let arguments = (ins Variadic<Graph_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
