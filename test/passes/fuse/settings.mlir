// Two learning rates are one kernel; what follows from them is computed in it, in
// f64, and rounded once.

// RUN: dl-opt %s --expand-optimizers --canonicalize --cse --place-settings --form-kernels | FileCheck %s

// CHECK: graph.kernel {{.*}} {constants = array<i64: {{[0-9]+}}, {{[0-9]+}}, {{[0-9]+}}>, inplace = array<i64: 1, 2>, name = "[[NAME:cast_mul_add_sub_[0-9a-f]+]]"}
// CHECK: graph.cast {{.*}} {to = f32} : (tensor<f64>) -> tensor<f32>
// CHECK: graph.kernel {{.*}} {constants = array<i64: {{[0-9]+}}, {{[0-9]+}}, {{[0-9]+}}>, inplace = array<i64: 1, 2>, name = "[[NAME]]"}
// CHECK-NOT: graph.kernel
graph.step @step(%s: tensor<8xi64> scalars,
                %p: tensor<40000xf32> state @p, %q: tensor<40000xf32> state @q,
                %m: tensor<40000xf32> state @m, %n: tensor<40000xf32> state @n,
                %g: tensor<40000xf32> input 0, %h: tensor<40000xf32> input 1)
    -> (tensor<40000xf32> state @p, tensor<40000xf32> state @q,
        tensor<40000xf32> state @m, tensor<40000xf32> state @n) {
  %p1, %m1 = graph.sgd %p, %g, %m {lr = #graph.setting<"optim.lr" = 0.1 : f64>, momentum = #graph.setting<"optim.momentum" = 0.9 : f64>, weight_decay = #graph.setting<"optim.weight_decay" = 0.01 : f64>} : (tensor<40000xf32>, tensor<40000xf32>, tensor<40000xf32>) -> (tensor<40000xf32>, tensor<40000xf32>)
  %q1, %n1 = graph.sgd %q, %h, %n {lr = #graph.setting<"optim.group1.lr" = 0.2 : f64>, momentum = #graph.setting<"optim.group1.momentum" = 0.8 : f64>, weight_decay = #graph.setting<"optim.group1.weight_decay" = 0.02 : f64>} : (tensor<40000xf32>, tensor<40000xf32>, tensor<40000xf32>) -> (tensor<40000xf32>, tensor<40000xf32>)
  graph.return %p1, %q1, %m1, %n1 : tensor<40000xf32>, tensor<40000xf32>, tensor<40000xf32>, tensor<40000xf32>
}
graph.state @p {type = tensor<40000xf32>, role = "parameter"}
graph.state @q {type = tensor<40000xf32>, role = "parameter"}
graph.state @m {type = tensor<40000xf32>, role = "slot", of = "p"}
graph.state @n {type = tensor<40000xf32>, role = "slot", of = "q"}
