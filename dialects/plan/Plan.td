#ifndef DL_PLAN
#define DL_PLAN

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

def PlanDialect : Dialect {
  let name = "plan";
  let summary = "What a plan file says, as IR.";
  let description = [{
    Buffers of one arena, the kernels that work on them, and for each step the
    commands that launch them, with the order they need. Nothing in here knows
    tensors' meaning: it is the last form before the file.

    ```mlir
    plan.plan "mnist.dl" f32 arena 1024 parameters 10 machine "x86" {
      %w = plan.buffer "fc.weight" arena bytes 40 offset 0
      %x = plan.buffer "batch[0]" input bytes 40 offset 0
      %y = plan.buffer "fc [1] f32" arena bytes 4 offset 64
      plan.state "fc.weight" parameter in %w : tensor<10xf32> dims [...] init ...
      plan.kernel @dot "contract" tiles 1 scratch 0 bindings [40, 40, 4]
          writes [false, false, true] flops 20 bytes 84
      plan.dataset mnist items 60000 batch 1 components [tensor<10xf32>] ...
      plan.step "eval.test" dataset 0 accumulate 1 {
        plan.program full batch 1 {
          %0 = plan.launch @dot(%x, %w, %y) serial
          plan.metric "y" in %y : tensor<1xf32> dims [...]
        }
      }
    }
    ```
  }];
  let cppNamespace = "::dl::plan";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

def Plan_BufferType : TypeDef<PlanDialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "A range of bytes with a name.";
}

def Plan_TokenType : TypeDef<PlanDialect, "Token"> {
  let mnemonic = "token";
  let summary = "That a command has finished.";
}

class Plan_Enum<string name, string text, list<I32EnumCase> cases>
    : I32Enum<name, text, cases> {
  let cppNamespace = "::dl::plan";
}

class Plan_EnumProp<Plan_Enum enum> : EnumProp<enum>;

def Plan_Space : Plan_Enum<"Space", "where a buffer lives", [
    I32EnumCase<"Arena", 0, "arena">,      // at an offset of the one allocation
    I32EnumCase<"Input", 1, "input">,      // a component of the batch
    I32EnumCase<"Scalars", 2, "scalars">]>; // the step's i64 scalars, f64 settings

def Plan_Memory : Plan_Enum<"Memory", "which memory bytes are in", [
    I32EnumCase<"Host", 0, "host">,       // the processor's
    I32EnumCase<"Device", 1, "device">]>; // the device's alone

def Plan_Target : Plan_Enum<"Target", "what kernels run on", [
    I32EnumCase<"Cpu", 0, "cpu">, I32EnumCase<"Cuda", 1, "cuda">]>;

def Plan_StateRole : Plan_Enum<"StateRole", "what a state is for", [
    I32EnumCase<"Parameter", 0, "parameter">, I32EnumCase<"Slot", 1, "slot">,
    I32EnumCase<"Buffer", 2, "buffer">, I32EnumCase<"Accumulator", 3, "accumulator">,
    I32EnumCase<"Cache", 4, "cache">, I32EnumCase<"Prepared", 5, "prepared">]>;

def Plan_InitKind : Plan_Enum<"InitKind", "a state's first value", [
    I32EnumCase<"Zero", 0, "zero">, I32EnumCase<"Constant", 1, "constant">,
    I32EnumCase<"Uniform", 2, "uniform">, I32EnumCase<"Normal", 3, "normal">,
    I32EnumCase<"Truncated", 4, "truncated">, I32EnumCase<"Padded", 5, "padded">,
    I32EnumCase<"Orthogonal", 6, "orthogonal">, I32EnumCase<"Dirac", 7, "dirac">,
    I32EnumCase<"Sparse", 8, "sparse">]>;

def Plan_ProgramKind : Plan_Enum<"ProgramKind", "which part of a step", [
    I32EnumCase<"Full", 0, "full">,      // a micro-batch of the usual size
    I32EnumCase<"Short", 1, "short">,    // the last batch of an epoch
    I32EnumCase<"Update", 2, "update">,  // after the micro-batches
    I32EnumCase<"Item", 3, "item">,      // one item of what is left over
    I32EnumCase<"Initial", 4, "initial">]>; // once, before all others: values of states

def Plan_DatasetKind : Plan_Enum<"DatasetKind", "which reader", [
    I32EnumCase<"MNIST", 0, "mnist">, I32EnumCase<"Tensor", 1, "tensor">,
    I32EnumCase<"Tokens", 2, "tokens">, I32EnumCase<"FashionMNIST", 3, "fashion_mnist">,
    I32EnumCase<"CIFAR10", 4, "cifar10">, I32EnumCase<"ImageFolder", 5, "image_folder">,
    I32EnumCase<"CIFAR100", 6, "cifar100">, I32EnumCase<"KMNIST", 7, "kmnist">]>;

def Plan_ImageTransformKind : Plan_Enum<"ImageTransformKind", "what becomes of a picture", [
    I32EnumCase<"Resize", 0, "resize">, I32EnumCase<"CenterCrop", 1, "center_crop">,
    I32EnumCase<"RandomCrop", 2, "random_crop">,
    I32EnumCase<"RandomResizedCrop", 3, "random_resized_crop">]>;

def Plan_ImageTransformAttr : AttrDef<PlanDialect, "ImageTransform"> {
  let mnemonic = "image_transform";
  let summary = "What a picture of a file goes through before it is part of a batch.";
  let parameters = (ins EnumParameter<Plan_ImageTransformKind>:$kind, "int64_t":$height, "int64_t":$width,
                        OptionalParameter<"::mlir::ArrayAttr">:$numbers);
  let assemblyFormat = "`<` $kind `,` $height `by` $width (`,` $numbers^)? `>`";
}
def Plan_ImageTransforms : TypedArrayAttrBase<Plan_ImageTransformAttr, "transforms of pictures">;

def Plan_SelectionAttr : AttrDef<PlanDialect, "Selection"> {
  let mnemonic = "selection";
  let summary = "Items of a data set that are one of another's.";
  let description = [{
    So many from the `first` on, in their order or in the one that a seed gives:
    #plan.selection<5000 from 55000 of 60000, shuffled true, seed 42>.
  }];
  let parameters = (ins "int64_t":$items, "int64_t":$first, "int64_t":$of, "bool":$shuffled, "int64_t":$seed);
  let assemblyFormat = "`<` $items `from` $first `of` $of `,` `shuffled` $shuffled `,` `seed` $seed `>`";
}
def Plan_SamplerAttr : AttrDef<PlanDialect, "Sampler"> {
  let mnemonic = "sampler";
  let summary = "Draws of items with replacement, by weights in a file.";
  let description = [{ #plan.sampler<"weights.npy" of 60000>: the data set's `items` are draws. }];
  let parameters = (ins "::mlir::StringAttr":$weights, "int64_t":$of);
  let assemblyFormat = "`<` $weights `of` $of `>`";
}
def Plan_Selections : TypedArrayAttrBase<Plan_SelectionAttr, "selections of items">;

def Plan_Resource : Plan_Enum<"Resource", "what of the machine a command keeps busy", [
    I32EnumCase<"Compute", 0, "compute">, I32EnumCase<"Copy", 1, "copy">,
    I32EnumCase<"Communication", 2, "communication">, I32EnumCase<"Host", 3, "host">]>;

def Plan_DimAttr : AttrDef<PlanDialect, "Dim"> {
  let mnemonic = "dim";
  let summary = "One physical dimension of a stored tensor.";
  let description = [{
    A layout is a list of these, outermost first. The element with logical index
    i lies at the sum over the list of ((i[dim] / divisor) % extent) * stride.
  }];
  let parameters = (ins "int64_t":$dim, "int64_t":$divisor, "int64_t":$extent,
                        "int64_t":$stride);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Plan_SourceAttr : AttrDef<PlanDialect, "Source"> {
  let mnemonic = "source";
  let summary = "One op of the model: its name, its module path, its line.";
  let parameters = (ins StringRefParameter<>:$op, StringRefParameter<>:$module,
                        StringRefParameter<>:$location);
  let assemblyFormat = "`<` $op `,` $module `,` $location `>`";
}

def Plan_InitAttr : AttrDef<PlanDialect, "Init"> {
  let mnemonic = "init";
  let summary = "The distribution a state starts with.";
  let parameters = (ins EnumParameter<Plan_InitKind>:$kind, "::mlir::FloatAttr":$a, "::mlir::FloatAttr":$b,
                        OptionalParameter<"::mlir::FloatAttr">:$low, OptionalParameter<"::mlir::FloatAttr">:$high,
                        "uint64_t":$key, OptionalParameter<"::mlir::DenseI64ArrayAttr">:$runs,
                        OptionalParameter<"::mlir::DenseF64ArrayAttr">:$values,
                        OptionalParameter<"::mlir::ArrayAttr">:$parts);
  let assemblyFormat = [{`<` $kind `,` $a `,` $b `,` (`in` $low^ `to` $high `,`)? `key` `=` $key
                         (`,` `but` $runs^ `=` $values)? (`,` `parts` $parts^)? `>`}];
}

def Plan_InitPartAttr : AttrDef<PlanDialect, "InitPart"> {
  let mnemonic = "init_part";
  let summary = "A strided part of a state that begins otherwise than the rest.";
  let description = [{
    As a tensor of its shape begins, or, with `whole`, as the state would with this distribution.
  }];
  let parameters = (ins "int64_t":$offset, "::mlir::DenseI64ArrayAttr":$shape, "::mlir::DenseI64ArrayAttr":$strides,
                        "bool":$whole, Plan_InitAttr:$begins);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Plan_RangeAttr : AttrDef<PlanDialect, "Range"> {
  let mnemonic = "range";
  let summary = "What a kernel assumes of one of its constants.";
  let description = [{ min <= value <= max, and a multiple of `multiple_of`. }];
  let parameters = (ins "int64_t":$min, "int64_t":$max, DefaultValuedParameter<"int64_t", "1">:$multiple_of);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Plan_Arithmetic : Plan_Enum<"Arithmetic", "what a library calculates in", [
    I32EnumCase<"F32", 0, "f32">,    // IEEE's
    I32EnumCase<"TF32", 1, "tf32">,  // f32 whose operands have 10 bits of mantissa
    I32EnumCase<"F64", 2, "f64">,
    I32EnumCase<"BF16", 3, "bf16">,  // of bf16, added up in f32, rounded to bf16
    I32EnumCase<"BF16ToF32", 4, "bf16_to_f32">]>;

def Plan_MatrixAttr : AttrDef<PlanDialect, "Matrix"> {
  let mnemonic = "matrix";
  let summary = "Where the matrices of a batch lie in a binding.";
  let description = [{
    In elements: the first is `offset` behind the beginning, neighbours of a row are neighbours, the next row is `stride`
    further, the next matrix `batch_stride`. What lies there may be transposed.
  }];
  let parameters = (ins "int64_t":$binding, DefaultValuedParameter<"int64_t", "0">:$offset, "int64_t":$stride,
                        DefaultValuedParameter<"int64_t", "0">:$batch_stride,
                        DefaultValuedParameter<"bool", "false">:$transposed);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Plan_ProductAttr : AttrDef<PlanDialect, "Product"> {
  let mnemonic = "product";
  let summary = "Products of matrices as a library takes them.";
  let description = [{
    d = a b for each matrix of a batch: a is m x k, b k x n, and d m x n. Where they are there, c,
    another m x n, is added, and a vector of n numbers that lie in the binding `bias`, to each row.
    `workspace` are the bytes that the library may use meanwhile.
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "1">:$batch, "int64_t":$m, "int64_t":$n, "int64_t":$k,
                        "::dl::plan::MatrixAttr":$a, "::dl::plan::MatrixAttr":$b, "::dl::plan::MatrixAttr":$d,
                        OptionalParameter<"::dl::plan::MatrixAttr">:$c, DefaultValuedParameter<"int64_t", "-1">:$bias,
                        EnumParameter<Plan_Arithmetic>:$arithmetic, "int64_t":$workspace);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Plan_RangesAttr : TypedArrayAttrBase<Plan_RangeAttr, "ranges of constants">;
def Plan_AxisAttr : AttrDef<PlanDialect, "Axis"> {
  let mnemonic = "axis";
  let summary = "An axis of the mesh of ranks.";
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$size);
  let assemblyFormat = "`<` $name `,` $size `>`";
}

def Plan_SplitAttr : AttrDef<PlanDialect, "Split"> {
  let mnemonic = "split";
  let summary = "A dim that is divided among ranks.";
  let description = [{
    Each of its `sections`, which are equally large, into blocks of ceil(size / count),
    count the ranks along `axes`; a rank has the one whose number are its coordinates
    along these, the first axis the slowest.
  }];
  let parameters = (ins "int64_t":$dim, "::mlir::ArrayAttr":$axes,
                        DefaultValuedParameter<"int64_t", "1">:$sections);
  let assemblyFormat = "`<` $dim `along` $axes (`in` $sections^)? `>`";
}

def Plan_SplitsAttr : TypedArrayAttrBase<Plan_SplitAttr, "dims that are divided">;
def Plan_MeshAttr : TypedArrayAttrBase<Plan_AxisAttr, "axes, the slowest first">;
def Plan_LayoutAttr : TypedArrayAttrBase<Plan_DimAttr, "physical dimensions, outermost first">;
def Plan_SourcesAttr : TypedArrayAttrBase<Plan_SourceAttr, "ops of the model">;

#endif
