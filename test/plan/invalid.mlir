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
      %0 = plan.launch @k(%a)
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
      %0 = plan.launch @k(%a)
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  %a = plan.buffer "a" arena of device bytes 64 offset 0
  // expected-error@+1 {{'b' is in host memory, where the arena is not}}
  %b = plan.buffer "b" arena bytes 64 offset 64
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  %a = plan.buffer "a" arena of device bytes 64 offset 0
  plan.kernel @k "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{binding 0: 'a' is in device memory, which @k does not reach}}
      %0 = plan.launch @k(%a)
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
      %0 = plan.launch @k(%a)
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
      %0 = plan.launch @k()
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  plan.kernel @k "" tiles 1 scratch 0 bindings [] writes [] constants [#plan.range<min = 0, max = 8>] flops 0 bytes 0
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{constant 0 is 9, @k takes #plan.range<min = 0, max = 8>}}
      %0 = plan.launch @k() constants [9]
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  plan.kernel @k "" tiles 1 scratch 0 bindings [] writes [] constants [#plan.range<min = 0, max = 8, multiple_of = 4>] flops 0 bytes 0
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{constant 0 is 6, @k takes #plan.range<min = 0, max = 8, multiple_of = 4>}}
      %0 = plan.launch @k() constants [6]
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
      %0 = plan.launch @k(%a[40, 32])
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
      %0 = plan.launch @k(%a[0, 16])
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 64 offset 0
  plan.kernel @k "" tiles 1 scratch 0 bindings [32] writes [true] aligns [4] flops 0 bytes 0
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.launch @k(%a[4, 32])
      // expected-error@+1 {{binding 0: byte 6 of 'a' is no multiple of 4, which @k needs}}
      %1 = plan.launch @k(%a[6, 32])
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  // expected-error@+1 {{has an alignment that is no power of two up to 64}}
  plan.kernel @k "" tiles 1 scratch 0 bindings [32] writes [true] aligns [3] flops 0 bytes 0
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" mesh [#plan.axis<"dp", 2>, #plan.axis<"tp", 1>] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{copies 32 bytes of 'a' into 64 of 'b'}}
      plan.copy %a[0, 32] to %b
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" mesh [#plan.axis<"dp", 2>, #plan.axis<"tp", 1>] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{copies bytes of 'a' onto themselves}}
      plan.copy %a[8, 16] to %a[8, 16]
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" mesh [#plan.axis<"dp", 2>, #plan.axis<"tp", 1>] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{binding 1: 32 bytes from byte 40 on are not inside 'b', which has 64}}
      plan.copy %a[0, 32] to %b[40, 32]
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" mesh [#plan.axis<"dp", 2>, #plan.axis<"tp", 1>] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{goes along ["pp"], which are not two or more ranks of the mesh}}
      plan.communicate over ["pp"] order 0 send(0: %a) receive(0: %b)
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" mesh [#plan.axis<"dp", 2>, #plan.axis<"tp", 1>] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{goes along ["tp"], which are not two or more ranks of the mesh}}
      plan.communicate over ["tp"] order 0 send(0: %a) receive(0: %b)
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" mesh [#plan.axis<"dp", 2>, #plan.axis<"tp", 1>] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{goes along ["dp", "dp"], which are not two or more ranks of the mesh}}
      plan.communicate over ["dp", "dp"] order 0 send(0: %a) receive(0: %b)
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" mesh [#plan.axis<"dp", 2>, #plan.axis<"tp", 1>] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{has a send for member 2 of a group of 2}}
      plan.communicate over ["dp"] order 0 send(2: %a) receive(0: %b)
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" mesh [#plan.axis<"dp", 2>, #plan.axis<"tp", 1>] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{has a receive for member -1 of a group of 2}}
      plan.communicate over ["dp"] order 0 send(0: %a) receive(1: %b[0, 32], -1: %b[32, 32])
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" mesh [#plan.axis<"dp", 2>, #plan.axis<"tp", 1>] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{has a send for 2 members from member 1 of a group of 2 on}}
      plan.communicate over ["dp"] order 0 send(1 and 1 more: %a[0, 32]) receive(0: %b)
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" mesh [#plan.axis<"dp", 2>, #plan.axis<"tp", 1>] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{has a receive of 2 times 33 bytes, which leave 'b'}}
      plan.communicate over ["dp"] order 0 send(0: %a) receive(0 and 1 more: %b[0, 33])
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" mesh [#plan.axis<"dp", 2>, #plan.axis<"tp", 1>] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{has a receive of the same bytes of 'b' from each of 2 members}}
      plan.communicate over ["dp"] order 0 send(0: %a) receive(0 and 1 more: %b same)
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" mesh [#plan.axis<"dp", 2>, #plan.axis<"tp", 1>] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{receives into 'a' where it sends from}}
      plan.communicate over ["dp"] order 0 send(0 and 1 more: %a[0, 32]) receive(0: %a[40, 8])
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" mesh [#plan.axis<"dp", 2>, #plan.axis<"tp", 1>] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{expected a number of further members}}
      plan.communicate over ["dp"] order 0 send(0 and -1 more: %a) receive(0: %b)
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" mesh [#plan.axis<"dp", 2>, #plan.axis<"tp", 1>] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{has a send for member 9223372036854775807 of a group of 2}}
      plan.communicate over ["dp"] order 0 send(9223372036854775807 and 1 more: %a same) receive(0: %b)
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" mesh [#plan.axis<"dp", 2>, #plan.axis<"tp", 1>] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{binding 0: 32 bytes from byte 48 on are not inside 'a', which has 64}}
      plan.communicate over ["dp"] order 0 send(0: %a[48, 32]) receive(0: %b)
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" mesh [#plan.axis<"dp", 2>, #plan.axis<"tp", 1>] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      plan.communicate over ["dp"] order 4 send(1: %a) receive(1: %b)
      // expected-error@+1 {{is number 4 of all ranks' exchanges but comes after number 4}}
      plan.communicate over ["dp"] order 4 send(0: %a) receive(0: %b)
    }
  }
}

// -----

// expected-error@+1 {{axis 'dp' of the mesh has 4 ranks or stands twice}}
plan.plan "m" f32 arena 128 parameters 0 machine "" mesh [#plan.axis<"dp", 2>, #plan.axis<"dp", 4>] {
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
    }
    // expected-error@+1 {{is a second one of its kind, or comes before the one it should follow}}
    plan.program full batch 2 {
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" mesh [#plan.axis<"dp", 2>] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  plan.step "train" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // expected-error@+1 {{receives into 'a' where it sends from}}
      plan.communicate over ["dp"] order 0 send(0: %a[32, 16]) receive(0: %a[32, 32])
    }
  }
}

// -----

plan.plan "m" f32 arena 128 parameters 0 machine "" {
  // expected-error@+1 {{'k' is for processors and has blocks of threads}}
  plan.kernel @k "" tiles 1 threads 32 scratch 0 bindings [] writes [] flops 0 bytes 0
}

// -----

plan.plan "m" f32 for cuda arena 128 parameters 0 machine "" {
  // expected-error@+1 {{'k' is for CUDA and has no threads}}
  plan.kernel @k "" tiles 1 scratch 0 bindings [] writes [] flops 0 bytes 0
}
