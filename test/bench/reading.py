"""Training on shuffled rows of a file that does not fit into memory, beside bare reads of as many rows.

    test/bench/reading.py [--gigabytes 60] [--steps 3000] [--file rows.npy]

Without --file the rows are those of a sparse file: all zero, but each read goes through the file system. With it, rows of
4 kB (1024 f32) of a file that exists; what the system has cached of it is given up first. Prints JSON on stdout.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile

import machine

ROWS, COLUMNS, ROUNDS = 64, 1024, 5

MODEL = """#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"%s"}, {.batch_size = %d, .shuffle = true, .drop_last = true});
  nn::Linear model{%d, 1};
  dl::optim::SGD optimizer(model.parameters(), {.lr = 0.01});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = model(b[0]).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


def sparse(path, gigabytes):
    items = int(gigabytes * 1e9) // (4 * COLUMNS)
    header = str({"descr": "<f4", "fortran_order": False, "shape": (items, COLUMNS)}).encode().ljust(117) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        file.truncate(file.tell() + items * 4 * COLUMNS)


def forget(path):
    """Gives up what the system has cached of the file."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def measure(folder, path, steps):
    program = os.path.join(folder, "reads")
    subprocess.run(["clang-22", "-O2", os.path.join(machine.HERE, "reads.c"), "-o", program], check=True)
    with open(os.path.join(folder, "rows.dl"), "w", encoding="utf-8") as file:
        file.write(MODEL % (path, ROWS, COLUMNS))
    machine.dltools.dlcc("rows.dl", cwd=folder)
    header = os.path.getsize(path) % (4 * COLUMNS)
    rounds = []
    for seed in range(ROUNDS):
        forget(path)
        bare = float(subprocess.run([program, path, str(header), str(4 * COLUMNS), str(ROWS), str(steps)], check=True,
                                    capture_output=True, text=True).stdout)
        forget(path)
        events = machine.dltools.events("bench", "rows.plan", "--data", path, "--seed", seed, "--steps", steps, cwd=folder)
        bench = next(e for e in events if e["event"] == "bench")
        # The mean: batches that were gathered ahead come in bursts.
        step = ROWS / bench["items_per_s"] * 1e3
        rounds.append({"bare_ms": bare, "step_ms": step, "ratio": step / bare,
                       "peak_rss_bytes": bench["peak_rss_bytes"]})
    return rounds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gigabytes", type=float, default=60)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.abspath(arguments.file) if arguments.file else os.path.join(folder, "rows.npy")
        if not arguments.file:
            sparse(path, arguments.gigabytes)
        rounds = measure(folder, path, arguments.steps)
        result = {"bench": "reading", **machine.describe(), "file_bytes": os.path.getsize(path), "rows_a_step": ROWS,
                  "row_bytes": 4 * COLUMNS, "rounds": rounds,
                  "ratio": statistics.median(r["ratio"] for r in rounds),
                  "peak_rss_bytes": max(r["peak_rss_bytes"] for r in rounds)}
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
