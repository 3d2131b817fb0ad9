// RUN: dl-opt %s --split-input-file --verify-diagnostics

graph.step @s(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{has an operand f32 [4,2], which no member has}}
  %0 = graph.all_gather %x over ["dp"] rows [3, 3] : (tensor<4x2xf32>) -> tensor<6x2xf32>
  graph.return
}

// -----

graph.step @s(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{receives 8 rows of f32 [6,2]}}
  %0 = graph.all_gather %x over ["dp"] rows [4, 4] : (tensor<4x2xf32>) -> tensor<6x2xf32>
  graph.return
}

// -----

graph.step @s(%x: tensor<4xf32>) {
  // expected-error@+1 {{sends to 2 members and receives from 3}}
  %0 = graph.all_to_all %x over ["dp"] sends [2, 2] receives [2, 2, 2] : tensor<4xf32> -> tensor<6xf32>
  graph.return
}

// -----

graph.step @s(%x: tensor<4xf32>) {
  // expected-error@+1 {{sends rows of 2 values, and has 1}}
  %0 = graph.bucket %x over ["dp"] sends [array<i64: 1, 1, 0, 4, 0>, array<i64>] receives [array<i64: 1, 1, 0, 4, 0>] : (tensor<4xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @s(%x: tensor<4xf32>) {
  // expected-error@+1 {{sends 3 rows from row 2 of f32 [4]}}
  %0 = graph.bucket %x over ["dp"] sends [array<i64: 1, 1, 2, 3, 0>] receives [array<i64: 1, 1, 0, 4, 0>] : (tensor<4xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @s(%x: tensor<4xf32>) {
  // expected-error@+1 {{receives rows that are not said by fives}}
  %0 = graph.bucket %x over ["dp"] sends [array<i64: 1, 1, 0, 4, 0>] receives [array<i64: 1, 1, 0, 4>] : (tensor<4xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @s(%x: tensor<4xf32>) {
  // expected-error@+1 {{sends 1 rows from row 2 of f32 [4], and of further members}}
  %0 = graph.bucket %x over ["dp"] sends [array<i64: 0, 3, 2, 1, 0>] receives [array<i64: 1, 1, 0, 4, 0>] : (tensor<4xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @s(%x: tensor<4xf32>) {
  // expected-error@+1 {{sends 9223372036854775807 rows from row 9223372036854775807 of f32 [4]}}
  %0 = graph.bucket %x over ["dp"] sends [array<i64: 1, 1, 9223372036854775807, 9223372036854775807, 0>] receives [array<i64: 1, 1, 0, 4, 0>] : (tensor<4xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @s(%x: tensor<4xf32>) {
  // expected-error@+1 {{has 0 members from member 1 on}}
  %0 = graph.bucket %x over ["dp"] sends [array<i64: 1, 0, 0, 4, 0>] receives [array<i64: 1, 1, 0, 4, 0>] : (tensor<4xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @s(%x: tensor<4xf32>) {
  // expected-error@+1 {{receives the same rows from 2 members}}
  %0 = graph.bucket %x over ["dp"] sends [array<i64: 0, 2, 0, 4, 1>] receives [array<i64: 0, 2, 0, 4, 1>] : (tensor<4xf32>) -> tensor<4xf32>
  graph.return
}
