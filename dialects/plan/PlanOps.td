#ifndef DL_PLAN_OPS
#define DL_PLAN_OPS

include "dialects/plan/Plan.td"
include "dialects/plan/PlanInterfaces.td"

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<PlanDialect, mnemonic, traits>;

def Plan_PlanOp : Plan_Op<"plan", [IsolatedFromAbove, SymbolTable, SingleBlock, NoTerminator]> {
  let summary = "One plan file.";
  let description = [{
    `arena` is the size of the one allocation, 0 until offsets are assigned. `mesh`
    are the axes of the ranks of the whole run, the slowest first, and `ranks` those
    that run this plan, all where nothing is said; without a mesh there is one rank.
    Kernels are for processors, or for another target: `for cuda`.
  }];
  let arguments = (ins StrAttr:$model, TypeAttr:$dtype, I64Attr:$arena, I64Attr:$parameters,
                       StrAttr:$machine, DefaultValuedAttr<Plan_MeshAttr, "{}">:$mesh,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$ranks,
                       DefaultValuedProp<EnumProp<Plan_Target>, "Target::Cpu">:$target,
                       OptionalAttr<StrArrayAttr>:$constants);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $model $dtype (`for` $target^)? `arena` $arena `parameters` $parameters `machine` $machine (`mesh` $mesh^)?
    (`ranks` $ranks^)? (`constants` $constants^)? attr-dict-with-keyword
    $body
  }];
  let hasVerifier = 1;
}

def Plan_BufferOp : Plan_Op<"buffer", [HasParent<"PlanOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "A range of bytes.";
  let description = [{
    `offset` counts from the arena's start; of an input it is the component of
    the batch. A buffer of the arena has none until offsets are assigned.
    `pinned` bytes are nobody else's: states, metrics and error flags.

    It is in the processor's memory, or in one that belongs to the device alone:
    `arena of device`. The arena is in one of them.
  }];
  let arguments = (ins StrAttr:$name, EnumProp<Plan_Space>:$space, I64Attr:$bytes,
                       OptionalAttr<I64Attr>:$offset, UnitAttr:$pinned,
                       OptionalAttr<Plan_SourceAttr>:$source,
                       DefaultValuedProp<EnumProp<Plan_Memory>, "Memory::Host">:$memory);
  let results = (outs Plan_BufferType:$buffer);
  let assemblyFormat = [{
    $name $space (`of` $memory^)? `bytes` $bytes (`offset` $offset^)? (`pinned` $pinned^)? (`from` $source^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_StateOp : Plan_Op<"state", [HasParent<"PlanOp">]> {
  let summary = "A tensor that lives from step to step.";
  let arguments = (ins StrAttr:$name, EnumProp<Plan_StateRole>:$role, Plan_BufferType:$buffer,
                       TypeAttrOf<AnyRankedTensor>:$type, Plan_LayoutAttr:$layout,
                       Plan_InitAttr:$init, OptionalAttr<StrAttr>:$of,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$aliases,
                       DefaultValuedAttr<Plan_SplitsAttr, "{}">:$split,
                       OptionalAttr<TypeAttr>:$whole);
  let assemblyFormat = [{
    $name $role (`of` $of^)? `in` $buffer `:` $type `dims` $layout `init` $init
    (`aliases` $aliases^)? (`split` $split^ `of` $whole)? attr-dict
  }];
}

def Plan_KernelOp : Plan_Op<"kernel", [HasParent<"PlanOp">, Symbol]> {
  let summary = "A piece of machine code, and what it assumes of its bindings.";
  let description = [{
    `bindings` are the bytes that each binding must have, `aligns` what its
    address must be a multiple of (64, a buffer's own, where nothing is said);
    `constants` the ranges of what a launch says besides them: random keys,
    offsets. `tiles` and `scratch` (bytes of one thread) are those of the code.
    Where it is for CUDA, `tiles` are blocks of `threads` threads, which share
    `shared` bytes besides what the code declares, and `scratch` is of a command.
    One that `streams` reads long runs of memory, of which tiles are parts.
    `flops` and `bytes` are of one launch.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$strategy, I64Attr:$tiles, I64Attr:$scratch,
                       DenseI64ArrayAttr:$bindings, DenseBoolArrayAttr:$writes,
                       OptionalAttr<DenseI64ArrayAttr>:$aligns,
                       DefaultValuedAttr<Plan_RangesAttr, "{}">:$constants, I64Attr:$flops,
                       I64Attr:$bytes, DefaultValuedAttr<I64Attr, "0">:$threads,
                       DefaultValuedAttr<I64Attr, "0">:$shared, UnitAttr:$streams);
  let assemblyFormat = [{
    $sym_name $strategy `tiles` $tiles (`streams` $streams^)? (`threads` $threads^)? (`shared` $shared^)? `scratch` $scratch `bindings` $bindings
    `writes` $writes (`aligns` $aligns^)? (`constants` $constants^)? `flops` $flops `bytes` $bytes attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_SettingOp : Plan_Op<"setting", [HasParent<"PlanOp">]> {
  let summary = "A number that steps read: the next one behind the step's scalars.";
  let arguments = (ins StrAttr:$name, F64Attr:$value);
  let assemblyFormat = "$name `value` $value attr-dict";
}

def Plan_PlateauOp : Plan_Op<"plateau", [HasParent<"PlanOp">]> {
  let summary = "Settings, by their positions, that change by a metric of an evaluation.";
  let arguments = (ins StrAttr:$metric, DenseI64ArrayAttr:$settings, UnitAttr:$max, F64Attr:$factor,
                       I64Attr:$patience, F64Attr:$threshold, UnitAttr:$absolute,
                       I64Attr:$cooldown, F64Attr:$min_lr, F64Attr:$eps);
  let assemblyFormat = "$metric `settings` $settings attr-dict";
}

def Plan_DatasetOp : Plan_Op<"dataset", [HasParent<"PlanOp">]> {
  let summary = "Where batches come from.";
  let description = [{ `components` are the tensors of one item, raw as they lie in the file. Items of
    tokens begin `stride` tokens after one another. Pictures of a folder go through `transforms`; its
    folders within are the `classes`. Where batches have a part of the items, `selections` lead from
    theirs to those of the files. With a `sampler` an epoch is draws of items. }];
  let arguments = (ins EnumProp<Plan_DatasetKind>:$kind, StrAttr:$root, StrArrayAttr:$paths,
                       UnitAttr:$train, I64Attr:$items, I64Attr:$batch, UnitAttr:$shuffle,
                       UnitAttr:$drop_last, TypeArrayAttr:$components, DefaultValuedAttr<I64Attr, "0">:$stride,
                       OptionalAttr<Plan_ImageTransforms>:$transforms, OptionalAttr<StrArrayAttr>:$classes,
                       OptionalAttr<Plan_Selections>:$selections, OptionalAttr<Plan_SamplerAttr>:$sampler);
  let assemblyFormat = [{
    $kind `root` $root `paths` $paths (`train` $train^)? `items` $items `batch` $batch
    (`shuffle` $shuffle^)? (`drop_last` $drop_last^)? `components` $components (`stride` $stride^)?
    (`transforms` $transforms^)? (`classes` $classes^)? (`selections` $selections^)? (`sampler` $sampler^)? attr-dict
  }];
}

def Plan_StepOp : Plan_Op<"step", [HasParent<"PlanOp">, SingleBlock, NoTerminator]> {
  let summary = "An entry point: programs for micro-batches, then one for the update.";
  let description = [{
    An evaluation or a prediction that cannot run item by item says in `mixes` what in it needs
    several items at once. One that generates tokens has a `window` of so many; `by_position` it
    takes one of them at a time.
  }];
  let arguments = (ins StrAttr:$name, UnitAttr:$training, UnitAttr:$predicts, I64Attr:$dataset,
                       I64Attr:$accumulate, OptionalAttr<StrAttr>:$mixes, OptionalAttr<I64Attr>:$window,
                       UnitAttr:$by_position);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name (`training` $training^)? (`predicts` $predicts^)? `dataset` $dataset `accumulate` $accumulate
    (`mixes` $mixes^)? (`window` $window^)? (`by_position` $by_position^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Plan_ProgramOp : Plan_Op<"program", [HasParent<"StepOp">, SingleBlock, NoTerminator]> {
  let summary = "Commands that run from one batch.";
  let description = [{
    The commands stand in an order in which one thread can run them. The items of
    the batch are divided among the ranks along some axes of the mesh.
  }];
  let arguments = (ins EnumProp<Plan_ProgramKind>:$kind, I64Attr:$batch,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$along);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$kind `batch` $batch (`along` $along^)? attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

// A command: what it does, then what all of them have.
class Plan_Command<string mnemonic, dag operation, list<Trait> traits = []>
    : Plan_Op<mnemonic, traits # [HasParent<"ProgramOp">,
        DeclareOpInterfaceMethods<Plan_CommandOpInterface,
                                  ["getAccesses", "getWork", "getResource", "getTitle"]>]> {
  let arguments = !con(operation, (ins Variadic<Plan_TokenType>:$after, UnitAttr:$serial,
                                       DefaultValuedAttr<Plan_SourcesAttr, "{}">:$sources,
                                       OptionalAttr<F64Attr>:$seconds));
  let results = (outs Plan_TokenType:$done);
  string common = [{
    (`after` `(` $after^ `)`)? (`serial` $serial^)? (`from` $sources^)?
    (`seconds` $seconds^)? attr-dict
  }];
}

def Plan_LaunchOp : Plan_Command<"launch",
    (ins FlatSymbolRefAttr:$kernel, Variadic<Plan_BufferType>:$bindings,
         OptionalAttr<DenseI64ArrayAttr>:$ranges,
         DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$constants,
         OptionalAttr<DenseI64ArrayAttr>:$constant_steps),
    [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A launch of a kernel, once the commands it comes after have finished.";
  let description = [{
    A binding is a whole buffer, `%w`, or a range of one: `%w[64, 40]` are the 40
    bytes from its byte 64 on.

    `seconds` are what it is expected to take on one core; `serial`: too little to
    be shared among threads. `sources` are the ops of this launch, first the one that it is
    named by. `steps` say how each constant grows with the rank's coordinate along
    each axis of the mesh, constants outermost.
  }];
  let assemblyFormat = [{
    $kernel `(` custom<Ranges>($bindings, $ranges) `)` (`constants` $constants^)?
    (`steps` $constant_steps^)?
  }] # common;
  let extraClassDeclaration = [{
    ::llvm::LogicalResult verifyConstants(KernelOp kernel);
  }];
}

def Plan_MultiplyOp : Plan_Command<"multiply",
    (ins FlatSymbolRefAttr:$kernel, Variadic<Plan_BufferType>:$bindings,
         OptionalAttr<DenseI64ArrayAttr>:$ranges, Plan_ProductAttr:$product, Plan_BufferType:$workspace),
    [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Products of matrices, by a library of the device's.";
  let description = [{
    The kernel computes the same from the same bindings: it is launched where
    there is no such library. It takes no constants. The workspace is written,
    and nobody reads what is left there; it is whichever of the two runs, so the
    kernel's own may be the same buffer.

    ```mlir
    plan.multiply @matmul(%x, %w, %y) as <m = 8, n = 4, k = 6, a = <binding = 0, stride = 6>,
        b = <binding = 1, stride = 6, transposed = true>, d = <binding = 2, stride = 4>,
        arithmetic = tf32, workspace = 1048576> in %workspace
    ```
  }];
  let assemblyFormat = [{
    $kernel `(` custom<Ranges>($bindings, $ranges) `)` `as` $product `in` $workspace
  }] # common;
}

def Plan_CopyOp : Plan_Command<"copy",
    (ins Plan_BufferType:$origin, Plan_BufferType:$target, OptionalAttr<DenseI64ArrayAttr>:$ranges)> {
  let summary = "Copies the bytes of one range into another one.";
  let description = [{ `plan.copy %a[0, 64] to %b[64, 64]`. The ranges are as long as one another. }];
  let assemblyFormat = [{ custom<Copy>($origin, $target, $ranges) }] # common;
  let hasVerifier = 1;
}

def Plan_CommunicateOp : Plan_Command<"communicate",
    (ins StrArrayAttr:$axes, UnitAttr:$relative, I64Attr:$order,
         Variadic<Plan_BufferType>:$sends, DenseI64ArrayAttr:$send_peers,
         OptionalAttr<DenseI64ArrayAttr>:$send_ranges,
         Variadic<Plan_BufferType>:$receives, DenseI64ArrayAttr:$receive_peers,
         OptionalAttr<DenseI64ArrayAttr>:$receive_ranges), [AttrSizedOperandSegments]> {
  let summary = "Exchanges bytes with the other ranks of a group.";
  let description = [{
    The group of a rank are the ranks that differ from it at most along `axes` of
    the mesh; they are numbered by their coordinates along these, the first axis
    the slowest. Each send names the member that it goes to, each receive the one
    that it comes from; a member may be the rank itself. Members that are `relative`
    are counted from the rank, which is 0, round the group. `0 and 6 more` are seven
    members, each of which has a range as long as the one said, behind that of the member
    before; or all are sent the `same`.

    `order` is the place of this exchange in the one order in which all ranks
    communicate; it ascends within a program.

    ```mlir
    plan.communicate over ["dp"] order 3 send(0 and 6 more: %g[0, 64], 7: %g[448, 8]) receive(0 and 7 more: %p[0, 64])
    ```
  }];
  let assemblyFormat = [{
    `over` $axes (`relative` $relative^)? `order` $order `send` `(` custom<Transfers>($sends, $send_peers, $send_ranges) `)`
    `receive` `(` custom<Transfers>($receives, $receive_peers, $receive_ranges) `)`
  }] # common;
  let extraClassDeclaration = [{
    std::vector<::dl::plan::Transfer> getSendTransfers();
    std::vector<::dl::plan::Transfer> getReceiveTransfers();
  }];
  let hasVerifier = 1;
}

def Plan_MetricOp : Plan_Op<"metric", [HasParent<"ProgramOp">]> {
  let summary = "A tensor that the program reports.";
  let arguments = (ins StrAttr:$name, Plan_BufferType:$buffer, TypeAttrOf<AnyRankedTensor>:$type,
                       Plan_LayoutAttr:$layout);
  let assemblyFormat = "$name `in` $buffer `:` $type `dims` $layout attr-dict";
}

def Plan_ErrorOp : Plan_Op<"error", [HasParent<"ProgramOp">]> {
  let summary = "An i32 that the program leaves non-zero when its data was wrong.";
  let arguments = (ins StrAttr:$message, Plan_BufferType:$buffer,
                       OptionalAttr<Plan_SourceAttr>:$source);
  let assemblyFormat = "$message `in` $buffer (`from` $source^)? attr-dict";
}

#endif
