// RUN: dl-opt %s --split-input-file --verify-diagnostics

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  // expected-error@+1 {{'a' lies at offset 32, which is not a multiple of 64}}
  %a = plan.buffer "a" arena bytes 64 offset 32
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  // expected-error@+1 {{'a' ends at byte 192 of an arena of 128 bytes}}
  %a = plan.buffer "a" arena bytes 128 offset 64
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 64 offset 0
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{launches @k, which is no kernel of the plan}}
      %0 = plan.command @k(%a)
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 64 offset 0
  plan.kernel @k "" tiles 1 scratch 0 bindings [64, 64] writes [false, true] flops 0 bytes 0
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{binds 1 buffers, @k takes 2}}
      %0 = plan.command @k(%a)
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 60 offset 0
  plan.kernel @k "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{binding 0: 'a' has 60 bytes, @k needs 64}}
      %0 = plan.command @k(%a)
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  // expected-error@+1 {{has 2 bindings but 1 entries in 'writes'}}
  plan.kernel @k "" tiles 1 scratch 0 bindings [64, 64] writes [true] flops 0 bytes 0
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  // expected-error@+1 {{has a constant that no value suits: #plan.range<min = 3, max = 2>}}
  plan.kernel @k "" tiles 1 scratch 0 bindings [] writes [] constants [#plan.range<min = 3, max = 2>] flops 0 bytes 0
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  plan.kernel @k "" tiles 1 scratch 0 bindings [] writes [] constants [#plan.range<min = 0, max = 8>] flops 0 bytes 0
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{has 0 constants, @k takes 1}}
      %0 = plan.command @k()
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  plan.kernel @k "" tiles 1 scratch 0 bindings [] writes [] constants [#plan.range<min = 0, max = 8>] flops 0 bytes 0
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{constant 0 is 9, @k takes #plan.range<min = 0, max = 8>}}
      %0 = plan.command @k() constants [9]
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  plan.kernel @k "" tiles 1 scratch 0 bindings [] writes [] constants [#plan.range<min = 0, max = 8, multiple_of = 4>] flops 0 bytes 0
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{constant 0 is 6, @k takes #plan.range<min = 0, max = 8, multiple_of = 4>}}
      %0 = plan.command @k() constants [6]
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  // expected-error@+1 {{'train' has 0 update programs with accumulate 4}}
  plan.step "train" training dataset 0 accumulate 4 {
    plan.program full batch 1 {
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 64 offset 0
  plan.kernel @k "" tiles 1 scratch 0 bindings [32] writes [true] flops 0 bytes 0
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{binding 0: 32 bytes from byte 40 on are not inside 'a', which has 64}}
      %0 = plan.command @k(%a[40, 32])
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 64 offset 0
  plan.kernel @k "" tiles 1 scratch 0 bindings [32] writes [true] flops 0 bytes 0
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{binding 0: 'a' has 16 bytes, @k needs 32}}
      %0 = plan.command @k(%a[0, 16])
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 64 offset 0
  plan.kernel @k "" tiles 1 scratch 0 bindings [32] writes [true] aligns [4] flops 0 bytes 0
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.command @k(%a[4, 32])
      // expected-error@+1 {{binding 0: byte 6 of 'a' is no multiple of 4, which @k needs}}
      %1 = plan.command @k(%a[6, 32])
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  // expected-error@+1 {{has an alignment that is no power of two up to 64}}
  plan.kernel @k "" tiles 1 scratch 0 bindings [32] writes [true] aligns [3] flops 0 bytes 0
}
