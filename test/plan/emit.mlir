// The same model gives the same file, from another folder and with another
// number of compiling threads; what stands in it is what was scheduled.
// RUN: rm -rf %t && mkdir -p %t/a %t/b
// RUN: cp %S/../../examples/mnist_mlp/mnist_mlp.dl %t/a/m.dl
// RUN: cp %S/../../examples/mnist_mlp/mnist_mlp.dl %t/b/m.dl
// RUN: cd %t/a && dlcc m.dl --threads=1 --emit=mlir:schedule=schedule.mlir,kernels.so=kernels.so --report=json > report.json
// RUN: cd %t/b && dlcc m.dl --threads=2
// RUN: cmp %t/a/m.plan %t/b/m.plan
// RUN: dlrun info %t/a/m.plan | FileCheck %s --check-prefix=INFO
// RUN: dl-opt %t/a/schedule.mlir --verify-races | FileCheck %s --check-prefix=IR
// RUN: FileCheck %s --check-prefix=REPORT < %t/a/report.json
// RUN: cd %t/a && ls | FileCheck %s --check-prefix=FILES

// INFO: m.plan: m.dl, f32
// INFO: parameters 109,386
// INFO: 1.weight {{.*}}[128,784]
// INFO: step train (training)
// INFO: step test

// IR: plan.plan "m.dl" f32 arena {{[1-9]}}
// IR: plan.step "train" training dataset 0 accumulate 1

// REPORT-DAG: "parameters":109386
// REPORT-DAG: "features":"x86-64-v3"
// REPORT-DAG: "features":"x86-64-v4"
// REPORT-DAG: "location":"m.dl:{{[0-9]+}}:{{[0-9]+}}"

// FILES: kernels.so
// FILES: kernels.x86-64-v3.so
// FILES: m.plan
