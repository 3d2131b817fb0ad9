// Many temporaries are packed in one way only, and a remark says so.
// RUN: python3 %S/many_buffers.py 8193 | dl-opt - --place-buffers --add-dependencies --verify-races -o /dev/null 2>&1 | FileCheck %s
// RUN: python3 %S/many_buffers.py 8192 | dl-opt - --place-buffers -o /dev/null 2>&1 | FileCheck %s --check-prefix=FEW --allow-empty

// CHECK: remark: 8193 temporaries are packed once, by time: 128 bytes; up to 8192 the best of many packings is taken
// FEW-NOT: temporaries are packed once
