// RUN: dl-opt %s --verify-races --split-input-file --verify-diagnostics

// A missing edge between a writer and a reader.
plan.plan "m" f32 arena 512 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.kernel @make "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.kernel @move "" tiles 1 scratch 0 bindings [64, 64] writes [false, true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-note@+1 {{the other command}}
      plan.launch @make(%a)
      // expected-error@+1 {{command 0 (@make) and command 1 (@move) touch bytes 0 to 64 of the arena ('a', 'a') and are not ordered}}
      plan.launch @move(%a, %b)
    }
  }
}

// -----

// Ordered through a third command: nothing to complain about.
plan.plan "m" f32 arena 512 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.kernel @make "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.kernel @move "" tiles 1 scratch 0 bindings [64, 64] writes [false, true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.launch @make(%a)
      %1 = plan.launch @move(%a, %b) after(%0)
      %2 = plan.launch @move(%b, %a) after(%1)
    }
  }
}

// -----

// Two readers, one of which the next writer does not wait for.
plan.plan "m" f32 arena 512 parameters 0 machine "" {
  %w = plan.buffer "w" arena bytes 64 offset 0 pinned
  plan.state "w" parameter in %w : tensor<16xf32> dims [] init <zero, 0.0 : f64, 0.0 : f64, key = 0>
  %a = plan.buffer "a" arena bytes 64 offset 64
  %b = plan.buffer "b" arena bytes 64 offset 128
  plan.kernel @read "" tiles 1 scratch 0 bindings [64, 64] writes [false, true] flops 0 bytes 0
  plan.kernel @update "" tiles 1 scratch 0 bindings [64, 64, 64] writes [false, false, true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.launch @read(%w, %a)
      // expected-note@+1 {{the other command}}
      %1 = plan.launch @read(%w, %b)
      // expected-error@+1 {{command 1 (@read) and command 2 (@update) touch bytes 0 to 64 of the arena ('w', 'w') and are not ordered}}
      %2 = plan.launch @update(%w, %a, %w) after(%0)
    }
  }
}

// -----

// Bytes that are used again while their last reader may still run.
plan.plan "m" f32 arena 512 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 128 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 128
  %c = plan.buffer "c" arena bytes 64 offset 64
  plan.kernel @make "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.kernel @move "" tiles 1 scratch 0 bindings [64, 64] writes [false, true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.launch @make(%a)
      // expected-note@+1 {{the other command}}
      %1 = plan.launch @move(%a, %b) after(%0)
      // expected-error@+1 {{command 1 (@move) and command 2 (@make) touch bytes 64 to 128 of the arena ('a', 'c') and are not ordered}}
      %2 = plan.launch @make(%c) after(%0)
    }
  }
}

// -----

// Ordered, but the bytes were overwritten before they were read.
plan.plan "m" f32 arena 512 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 0
  %c = plan.buffer "c" arena bytes 64 offset 64
  plan.kernel @make "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.kernel @move "" tiles 1 scratch 0 bindings [64, 64] writes [false, true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.launch @make(%a)
      %1 = plan.launch @make(%b) after(%0)
      // expected-error@+1 {{command 2 (@move) reads 'a' and finds bytes that were written through 'b'}}
      %2 = plan.launch @move(%a, %c) after(%1)
    }
  }
}

// -----

plan.plan "m" f32 arena 512 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.kernel @move "" tiles 1 scratch 0 bindings [64, 64] writes [false, true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{command 0 (@move) reads 'a' and finds bytes that nothing has written}}
      %0 = plan.launch @move(%a, %b)
    }
  }
}

// -----

// The evaluation destroys a weight.
plan.plan "m" f32 arena 512 parameters 0 machine "" {
  %w = plan.buffer "w" arena bytes 64 offset 0 pinned
  plan.state "w" parameter in %w : tensor<16xf32> dims [] init <zero, 0.0 : f64, 0.0 : f64, key = 0>
  %a = plan.buffer "a" arena bytes 64 offset 0
  plan.kernel @make "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.step "test" dataset 0 accumulate 1 {
    // expected-error@+1 {{overwrites the state 'w' through another buffer}}
    plan.program full batch 1 {
      %0 = plan.launch @make(%a)
    }
  }
}

// -----

// A command that writes over its own operand, shifted.
plan.plan "m" f32 arena 512 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 128 offset 0
  %b = plan.buffer "b" arena bytes 128 offset 64
  plan.kernel @make "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.kernel @move "" tiles 1 scratch 0 bindings [64, 64] writes [false, true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.launch @make(%a)
      // expected-error@+1 {{command 1 (@move) writes 'b', which overlaps its 'a'}}
      %1 = plan.launch @move(%a, %b) after(%0)
    }
  }
}

// -----

plan.plan "m" f32 arena 512 parameters 0 machine "" {
  %v = plan.buffer "v" arena bytes 128 offset 0 pinned
  plan.state "v" parameter in %v : tensor<32xf32> dims [] init <zero, 0.0 : f64, 0.0 : f64, key = 0>
  // expected-error@+1 {{'w' overlaps the state 'v'}}
  %w = plan.buffer "w" arena bytes 64 offset 64 pinned
  plan.state "w" parameter in %w : tensor<16xf32> dims [] init <zero, 0.0 : f64, 0.0 : f64, key = 0>
}

// -----

// Two commands write the halves of a buffer, a third reads all of it: nothing
// to complain about.
plan.plan "m" f32 arena 512 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 128 offset 0
  %b = plan.buffer "b" arena bytes 128 offset 128
  plan.kernel @make "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.kernel @move "" tiles 1 scratch 0 bindings [128, 128] writes [false, true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.launch @make(%a[0, 64])
      %1 = plan.launch @make(%a[64, 64])
      %2 = plan.launch @move(%a, %b) after(%0, %1)
    }
  }
}

// -----

// The same without one edge.
plan.plan "m" f32 arena 512 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 128 offset 0
  %b = plan.buffer "b" arena bytes 128 offset 128
  plan.kernel @make "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.kernel @move "" tiles 1 scratch 0 bindings [128, 128] writes [false, true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.launch @make(%a[0, 64])
      // expected-note@+1 {{the other command}}
      %1 = plan.launch @make(%a[64, 64])
      // expected-error@+1 {{command 1 (@make) and command 2 (@move) touch bytes 64 to 128 of the arena ('a', 'a') and are not ordered}}
      %2 = plan.launch @move(%a, %b) after(%0)
    }
  }
}

// -----

// Ordered, but one half lies where another buffer was moved to.
plan.plan "m" f32 arena 512 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 128 offset 0
  %b = plan.buffer "b" arena bytes 128 offset 128
  %c = plan.buffer "c" arena bytes 64 offset 64
  plan.kernel @make "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.kernel @move "" tiles 1 scratch 0 bindings [128, 128] writes [false, true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.launch @make(%a[0, 64])
      %1 = plan.launch @make(%a[64, 64])
      %2 = plan.launch @make(%c) after(%0, %1)
      // expected-error@+1 {{command 3 (@move) reads 'a' and finds bytes that were written through 'c'}}
      %3 = plan.launch @move(%a, %b) after(%2)
    }
  }
}

// -----

// A half that nobody wrote.
plan.plan "m" f32 arena 512 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 128 offset 0
  %b = plan.buffer "b" arena bytes 128 offset 128
  plan.kernel @make "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.kernel @move "" tiles 1 scratch 0 bindings [128, 128] writes [false, true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.launch @make(%a[0, 64])
      // expected-error@+1 {{command 1 (@move) reads 'a' and finds bytes that nothing has written}}
      %1 = plan.launch @move(%a, %b) after(%0)
    }
  }
}

// -----

// One buffer twice, one half of it written over the other, shifted.
plan.plan "m" f32 arena 512 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 128 offset 0
  plan.kernel @make "" tiles 1 scratch 0 bindings [128] writes [true] flops 0 bytes 0
  plan.kernel @move "" tiles 1 scratch 0 bindings [64, 64] writes [false, true] aligns [4, 4] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.launch @make(%a)
      %1 = plan.launch @move(%a[0, 64], %a[64, 64]) after(%0)
      %2 = plan.launch @move(%a[0, 64], %a[0, 64]) after(%1)
      // expected-error@+1 {{command 3 (@move) writes 'a', which overlaps its 'a'}}
      %3 = plan.launch @move(%a[0, 64], %a[32, 64]) after(%2)
    }
  }
}

// -----

// A copy that does not wait for what it copies.
plan.plan "m" f32 arena 512 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 128 offset 0
  %b = plan.buffer "b" arena bytes 128 offset 128
  plan.kernel @make "" tiles 1 scratch 0 bindings [128] writes [true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-note@+1 {{the other command}}
      %0 = plan.launch @make(%a)
      // expected-error@+1 {{command 0 (@make) and command 1 (copy) touch bytes 64 to 128 of the arena ('a', 'a') and are not ordered}}
      %1 = plan.copy %a[64, 64] to %b[0, 64]
    }
  }
}

// -----

// Bytes are received where another command still reads.
plan.plan "m" f32 arena 512 parameters 0 machine "" mesh [#plan.axis<"dp", 2>] {
  %a = plan.buffer "a" arena bytes 128 offset 0
  %b = plan.buffer "b" arena bytes 128 offset 128
  plan.kernel @make "" tiles 1 scratch 0 bindings [128] writes [true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.launch @make(%a)
      // expected-note@+1 {{the other command}}
      %1 = plan.copy %a[64, 64] to %b[0, 64] after(%0)
      // expected-error@+1 {{command 1 (copy) and command 2 (exchange 7) touch bytes 64 to 128 of the arena ('a', 'a') and are not ordered}}
      %2 = plan.communicate over ["dp"] order 7 send(0: %a[0, 64]) receive(0: %a[64, 64]) after(%0)
    }
  }
}

// -----

// A copy within one buffer, onto a part of itself.
plan.plan "m" f32 arena 512 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 128 offset 0
  plan.kernel @make "" tiles 1 scratch 0 bindings [128] writes [true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.launch @make(%a)
      %1 = plan.copy %a[0, 64] to %a[64, 64] after(%0)
      // expected-error@+1 {{command 2 (copy) writes 'a', which overlaps its 'a'}}
      %2 = plan.copy %a[0, 64] to %a[32, 64] after(%1)
    }
  }
}
