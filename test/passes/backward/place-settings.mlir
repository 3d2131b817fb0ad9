// Settings lie behind the step's scalars, each once, in all steps of a module.

// RUN: dl-opt %s --place-settings --split-input-file --verify-diagnostics
// RUN: not dl-opt %s --place-settings --split-input-file 2> /dev/null | FileCheck %s

// CHECK: graph.settings [#graph.setting<"optim.lr" = 1.000000e-01 : f64>, #graph.setting<"optim.momentum" = 9.000000e-01 : f64>]
// CHECK: graph.step @first(%arg0: tensor<10xi64> scalars) -> (tensor<f64>, tensor<f64>)
// CHECK-NEXT: [[LR:%.*]] = graph.read_setting %arg0 {position = 8 : i64}
// CHECK-NEXT: [[M:%.*]] = graph.read_setting %arg0 {position = 9 : i64}
// CHECK-NEXT: graph.return [[LR]], [[M]]
// CHECK: graph.step @second(%arg0: tensor<10xi64> scalars)
// CHECK-NEXT: graph.read_setting %arg0 {position = 9 : i64}
// CHECK: graph.step @without(%arg0: tensor<8xi64> scalars)
module {
  graph.step @first(%s: tensor<8xi64> scalars) -> (tensor<f64>, tensor<f64>) {
    %0 = graph.setting {setting = #graph.setting<"optim.lr" = 0.1 : f64>} : () -> tensor<f64>
    %1 = graph.setting {setting = #graph.setting<"optim.momentum" = 0.9 : f64>} : () -> tensor<f64>
    graph.return %0, %1 : tensor<f64>, tensor<f64>
  }
  graph.step @second(%s: tensor<8xi64> scalars) -> tensor<f64> {
    %0 = graph.setting {setting = #graph.setting<"optim.momentum" = 0.9 : f64>} : () -> tensor<f64>
    graph.return %0 : tensor<f64>
  }
  graph.step @without(%s: tensor<8xi64> scalars) {
    graph.return
  }
}

// -----

module {
  graph.step @step(%s: tensor<8xi64> scalars) -> (tensor<f64>, tensor<f64>) {
    %0 = graph.setting {setting = #graph.setting<"lr" = 0.1 : f64>} : () -> tensor<f64>
    // expected-error@+1 {{the setting 'lr' begins with two values}}
    %1 = graph.setting {setting = #graph.setting<"lr" = 0.2 : f64>} : () -> tensor<f64>
    graph.return %0, %1 : tensor<f64>, tensor<f64>
  }
}

// -----

module {
  graph.step @step() -> tensor<f64> {
    // expected-error@+1 {{the setting 'lr' needs the step's scalars as an argument}}
    %0 = graph.setting {setting = #graph.setting<"lr" = 0.1 : f64>} : () -> tensor<f64>
    graph.return %0 : tensor<f64>
  }
}
