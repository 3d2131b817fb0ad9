// A check that does not hold is told at its op and ends with the exit code of a bug of ours.

// RUN: python3 %S/../../exit_code.py 70 dl-opt %s --fail-check | FileCheck %s
// CHECK: fail-check.mlir:10:8: error: relu: the op has the attribute `fail` (!op->hasAttr("fail"), FailCheck.cpp:
// CHECK: error: dlcc crashed; this is a bug of dlcc

// RUN: dl-opt %s --print-costs
graph.step @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.relu %0 {fail} : (tensor<4xf32>) -> tensor<4xf32>
  graph.return %1 : tensor<4xf32>
}
