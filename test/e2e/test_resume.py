"""Runs with a folder: killed and resumed, stopped by signals, with logs that others can read, on a full disk."""

import csv
import json
import os
import shutil
import signal
import struct
import subprocess
import time
from unittest import mock

import numpy as np

import dltools
import kill_and_resume
import tensorboard_events
from . import support


class Killed(support.ToolTest):
    """SIGKILL at random moments; test/kill_and_resume.py does more of it."""

    def test_plain(self):
        kill_and_resume.run("plain", 20, 1)

    def test_accumulate(self):
        kill_and_resume.run("accumulate", 20, 2)


SGD = "dl::optim::SGD optimizer(model.parameters(), {.lr = 0.02, .momentum = 0.9});"
ADAM = kill_and_resume.MODEL.replace(SGD, "dl::optim::Adam optimizer(model.parameters(), {.lr = 0.002});")
TWO = kill_and_resume.MODEL.replace(SGD, """dl::optim::SGD first(model.conv.parameters(), {.lr = 0.02, .momentum = 0.9});
  dl::optim::AdamW second({{.params = model.fc1.parameters(), .lr = 0.001}, {.params = model.fc2.parameters()}},
                          {.lr = 0.002, .amsgrad = true});""").replace(
    "optimizer.zero_grad();", "first.zero_grad();\n    second.zero_grad();").replace(
    "optimizer.step();", "first.step();\n    second.step();")


class Optimizers(support.ToolTest):
    """Those with several slots, and whose update depends on the number of the step."""

    SLOTS = {"adam": {"exp_avg", "exp_avg_sq"}, "two": {"momentum_buffer", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"}}
    MODELS = {"adam": ADAM, "two": TWO}

    def killed(self, model, case, seed):
        with mock.patch.object(kill_and_resume, "MODEL", model):
            print(f"[{kill_and_resume.run(case, 15, seed)}] ", end="", flush=True)

    def test_adam_killed(self):
        self.killed(ADAM, "plain", 3)

    def test_two_optimizers_killed(self):
        self.killed(TWO, "plain", 4)

    def test_two_optimizers_killed_with_accumulation(self):
        self.killed(TWO, "accumulate", 5)

    def slots(self, name):
        with open(self.path(name), "rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        return {key.rsplit(".", 1)[1] for key in header if key.startswith("optim.")}

    def test_resumed(self):
        """Early, where a wrong number of the step would show most."""
        self.classification_data(items=70)
        for name, model in self.MODELS.items():
            self.write("net.dl", model)
            self.dlcc("net.dl")
            self.dlrun("net.plan", "--steps", 9, "-q", "--save-final", "one.safetensors")
            self.dlrun("net.plan", "--steps", 2, "-q", "--out", name)
            checkpoint = f"{name}/checkpoints/step-00000002.safetensors"
            self.assertEqual(self.slots(checkpoint), self.SLOTS[name])
            self.dlrun("net.plan", "--steps", 9, "-q", "--init", checkpoint, "--save-final", "control.safetensors")
            self.dlrun("resume", name, "-q", "--steps", 5)
            self.dlrun("resume", name, "-q", "--steps", 9, "--save-final", "two.safetensors")
            one, two, control = (kill_and_resume.read(self.path(f"{n}.safetensors")) for n in ("one", "two", "control"))
            self.assertTrue(one == two, name)
            self.assertTrue(one != control, f"{name}: the control has the bits, too")


class RunFolder(support.ToolTest):
    def setUp(self):
        super().setUp()
        self.classification_data(items=70)
        self.write("net.dl", kill_and_resume.MODEL)
        self.dlcc("net.dl")

    def stop_with(self, number, *arguments):
        process = subprocess.Popen([dltools.DLRUN, "net.plan", "--out", "run", "--json", *arguments], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        for line in process.stdout:
            if '"event":"step"' in line:
                break
        time.sleep(0.2)
        process.send_signal(number)
        out, _ = process.communicate(timeout=30)
        events = [json.loads(line) for line in out.splitlines()]
        saved = [e for e in events if e["event"] == "checkpoint"]
        end = events[-1]
        self.assertEqual(end["event"], "end")
        self.assertEqual(saved[-1]["step"], end["steps"])
        self.assertEqual(os.listdir(self.path("run/checkpoints")), [f"step-{end['steps']:08}.safetensors"])
        return process.returncode, end["steps"]

    def test_a_damaged_checkpoint_is_used_by_nobody(self):
        self.dlrun("net.plan", "-q", "--epochs", 1, "--out", "run")
        self.dlrun("eval", "run", "-q")
        name = os.listdir(self.path("run/checkpoints"))[0]
        with open(self.path("run/checkpoints", name), "r+b") as file:
            file.seek(-5, os.SEEK_END)
            byte = file.read(1)
            file.seek(-5, os.SEEK_END)
            file.write(bytes([byte[0] ^ 1]))
        for words in (["eval", "run"], ["net.plan", "--init", "run"], ["net.plan", "--init", f"run/checkpoints/{name}"], ["resume", "run"]):
            self.refuse(4, "its checksum does not match", dltools.DLRUN, *words, "-q", "--epochs" if words[0] != "eval" else "--threads", "1")

    def test_signals(self):
        for number, code in ((signal.SIGTERM, 75), (signal.SIGUSR1, 75), (signal.SIGINT, 130)):
            returned, steps = self.stop_with(number, "--epochs", "1000000")
            self.assertEqual(returned, code)
            total = str(steps + 7)
            self.dlrun("resume", "run", "-q", "--steps", total, "--save-final", "two.safetensors")
            self.dlrun("net.plan", "-q", "--steps", total, "--save-final", "one.safetensors")
            with open(self.path("one.safetensors"), "rb") as one, open(self.path("two.safetensors"), "rb") as two:
                self.assertEqual(one.read(), two.read())
            shutil.rmtree(self.path("run"))

    def bytes_of(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_from_an_older_checkpoint(self):
        run = ["net.plan", "--steps", 30, "-q", "--every", "ckpt=10,log=1,eval=0"]
        self.dlrun(*run, "--out", "run", "--save-final", "first.safetensors")
        rows, newest = self.bytes_of("run/train.csv"), self.bytes_of("run/checkpoints/step-00000030.safetensors")
        self.refuse(2, "--from 15: the run in 'run' has checkpoints of these steps: 10, 20, 30", dltools.DLRUN, "resume", "run", "--from", "15")
        # The same options: the same bits, and the rows that were cut off come back.
        said = dltools.call([dltools.DLRUN, "resume", "run", "--from", "10", "-q", "--save-final", "again.safetensors"], self.folder)
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn("newer checkpoints, and copies of the logs, are in 'run/old-1' now; from here on the run is resumed without --from", said.stderr)
        self.assertEqual(self.bytes_of("again.safetensors"), self.bytes_of("first.safetensors"))
        self.assertEqual(self.bytes_of("run/train.csv"), rows)
        self.assertEqual(sorted(os.listdir(self.path("run/old-1/checkpoints"))), ["step-00000020.safetensors", "step-00000030.safetensors"])
        self.assertEqual(self.bytes_of("run/old-1/checkpoints/step-00000030.safetensors"), newest)
        self.assertEqual(self.bytes_of("run/old-1/train.csv"), rows)
        # Other options: another course, which the next resume goes on with.
        self.dlrun("resume", "run", "--from", 20, "-q", "--set", "optim.lr=0.001", "--steps", 25, "--save-final", "other.safetensors")
        self.assertEqual(sorted(os.listdir(self.path("run/checkpoints")))[-1], "step-00000025.safetensors")
        self.assertEqual(os.listdir(self.path("run/old-2/checkpoints")), ["step-00000030.safetensors"])
        self.dlrun("resume", "run", "-q", "--steps", 30, "--save-final", "other.safetensors")
        self.assertNotEqual(self.bytes_of("other.safetensors"), self.bytes_of("first.safetensors"))
        # From the newest one there is nothing to move.
        self.dlrun("resume", "run", "--from", 30, "-q", "--steps", 31)
        self.assertFalse(os.path.exists(self.path("run/old-3")))
        self.refuse(2, "--from: not an option of 'dlrun train'", dltools.DLRUN, "net.plan", "--from", "10")

    def test_best_weights_of_what_is_set_aside(self):
        # With log=1: rows that are due after a pause would differ in the lengths of the logs, which a checkpoint holds.
        run = ["net.plan", "--steps", 20, "-q", "--every", "ckpt=5,eval=1,log=1", "--keep-best", "min:test.loss", "--keep", 0]
        self.dlrun(*run, "--out", "run")
        best = self.bytes_of("run/best.safetensors")
        self.assertGreater(self.step_of("run/best.safetensors"), 5)
        self.dlrun("resume", "run", "--from", 5, "-q", "--set", "optim.lr=3", "--steps", 8)
        self.assertEqual(self.bytes_of("run/old-1/best.safetensors"), best)
        # What is best from here on, if anything is, is of this course.
        if os.path.exists(self.path("run/best.safetensors")):
            self.assertNotEqual(self.bytes_of("run/best.safetensors"), best)
        # Best weights of an earlier step are still the run's.
        best = self.bytes_of("run/old-1/best.safetensors")
        self.dlrun(*run, "--out", "other")
        step = self.step_of("other/best.safetensors")
        self.dlrun("resume", "other", "--from", -(-step // 5) * 5, "-q", "--steps", 20)
        self.assertEqual(self.bytes_of("other/best.safetensors"), best)

    def step_of(self, name):
        with open(self.path(name), "rb") as file:
            length = struct.unpack("<Q", file.read(8))[0]
            return int(json.loads(file.read(length))["__metadata__"]["dl.step"])

    def test_what_a_checkpoint_holds(self):
        self.dlrun("net.plan", "--steps", 8, "--out", "run", "--seed", 3, "-q")
        path = self.path("run/checkpoints/step-00000008.safetensors")
        with open(path, "rb") as file:
            length = struct.unpack("<Q", file.read(8))[0]
            header = json.loads(file.read(length))
        facts = header.pop("__metadata__")
        weights = {"conv.weight", "conv.bias", "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}
        self.assertEqual(set(header), weights | {f"optim.{w}.momentum_buffer" for w in weights})
        self.assertEqual(header["conv.weight"]["shape"], [6, 1, 3, 3])
        self.assertEqual((facts["dl.step"], facts["dl.epoch"], facts["dl.batch"], facts["dl.seed"], facts["dl.items"]),
                         ("8", "1", "3", "3", "70"))

    def test_weights_alone_are_not_enough(self):
        """The control: without the optimizer's slots and the position, the bits are others."""
        self.dlrun("net.plan", "--steps", 20, "-q", "--save-final", "one.safetensors")
        self.dlrun("net.plan", "--steps", 10, "-q", "--out", "run")
        self.dlrun("net.plan", "--steps", 10, "-q", "--init", "run/checkpoints/step-00000010.safetensors", "--save-final",
                   "two.safetensors")
        with open(self.path("one.safetensors"), "rb") as one, open(self.path("two.safetensors"), "rb") as two:
            self.assertNotEqual(one.read(), two.read())

    def test_logs(self):
        events = self.events("net.plan", "--epochs", 3, "--out", "run", "--every", "log=1")
        steps = [e for e in events if e["event"] == "step"]
        evals = [e for e in events if e["event"] == "eval"]
        with open(self.path("run/train.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(int(r["step"]), int(r["epoch"]), float(r["loss"])) for r in rows],
                         [(e["step"], e["epoch"], e["loss"]) for e in steps])
        with open(self.path("run/eval.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(int(r["step"]), r["name"], float(r["loss"]), float(r["accuracy"])) for r in rows],
                         [(e["step"], e["name"], e["loss"], e["accuracy"]) for e in evals])
        with open(self.path("run/events.jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([e for e in lines if e["event"] != "epoch"], [e for e in events if e["event"] in ("step", "eval")])
        means = [e for e in events if e["event"] == "epoch"]
        for mean in means:
            del mean["seconds"]
        self.assertEqual([e for e in lines if e["event"] == "epoch"], means)
        with open(self.path("run/epochs.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 3)
        self.assertEqual([(int(r["step"]), int(r["epoch"]), int(r["steps"]), float(r["loss"])) for r in rows],
                         [(e["step"], e["epoch"], e["mean_of_steps"], e["loss"]) for e in means])
        board = tensorboard_events.read(self.path("run/events.out.tfevents.dlrun"), check=True)
        self.assertEqual(board[0]["version"], "brain.Event:2")
        self.assertTrue(all(abs(e["wall_time"] - time.time()) < 300 for e in board))
        expected = [(e["step"], {"train/loss": float(np.float32(e["loss"]))} if e["event"] == "step" else
                     {"epoch/loss": float(np.float32(e["loss"]))} if e["event"] == "epoch" else
                     {"test/loss": float(np.float32(e["loss"])), "test/accuracy": float(np.float32(e["accuracy"]))})
                    for e in lines]
        self.assertEqual([(e["step"], e["scalars"]) for e in board[1:]], expected)

    def test_a_damaged_record_is_seen_by_the_reader(self):
        self.dlrun("net.plan", "--steps", 2, "--out", "run", "-q")
        with open(self.path("run/events.out.tfevents.dlrun"), "rb") as file:
            data = bytearray(file.read())
        data[70] ^= 1
        with self.assertRaises(ValueError):
            list(tensorboard_events.records(bytes(data), check=True))

    def test_what_came_before_a_nan_is_kept(self):
        self.dlrun("net.plan", "--steps", 20, "--out", "run", "--every", "ckpt=5,eval=0", "-q")
        def resume(steps, rate, *options):
            return dltools.call([dltools.DLRUN, "resume", "run", "--steps", steps, "--set", f"optim.lr={rate}", *options], self.folder)

        result = resume(60, 1e30)
        self.assertIn("training goes on (--halt-on nan,inf stops there, --detect-anomaly says where it begins), and the checkpoint of step 20 is kept",
                      result.stderr)
        steps = sorted(int(name[5:13]) for name in os.listdir(self.path("run/checkpoints")))
        self.assertEqual(steps, [20, 50, 55, 60])
        result = resume(65, 0.1)
        self.assertIn("NaN or infinities were among the weights or metrics of step 60", result.stderr)
        self.assertIn("--from 20 goes on before that", result.stderr)
        result = resume(45, 0.1, "--from", 20)
        self.assertNotIn("NaN", result.stderr)
        steps = sorted(int(name[5:13]) for name in os.listdir(self.path("run/checkpoints")))
        self.assertEqual(steps, [35, 40, 45])

    def test_weights_that_are_no_numbers_are_seen_where_the_loss_is_one(self):
        """The root of 0 has an infinite gradient: step 3 leaves NaN, and its own loss is 0."""
        np.save(self.path("r.npy"), np.array([[1, 1], [1, 2], [0, 0], [1, 1], [2, 1], [1, 1]], np.float32))
        self.write("root.dl", """#include <dl/dl.h>
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"r.npy"}, {.batch_size = 1, .shuffle = false});
  dl::Parameter w = dl::ones({2});
  dl::optim::SGD optimizer({w}, {.lr = 0.01});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = (w * b[0]).sum().sqrt();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
""")
        self.dlcc("root.dl")
        self.dlrun("root.plan", "--steps", 6, "--out", "run", "--every", "ckpt=1", "--keep", 2, "-q")
        self.assertEqual(sorted(os.listdir(self.path("run/checkpoints"))),
                         [f"step-{step:08}.safetensors" for step in (2, 5, 6)])

    def test_other_data_are_told(self):
        self.dlrun("net.plan", "--steps", 5, "--out", "run", "-q")
        resume = lambda steps: dltools.call([dltools.DLRUN, "resume", "run", "--steps", steps], self.folder)
        self.assertNotIn("the training data", resume(7).stderr)
        images = np.load(self.path("x.npy"))
        np.save(self.path("x.npy"), 255 - images if images.dtype == np.uint8 else -images)
        self.assertIn("warning: the training data are not those that the run in 'run' has seen up to step 7", resume(9).stderr)
        self.assertNotIn("the training data", resume(11).stderr)
        # What nobody reads may change.
        self.write("net.dl", kill_and_resume.MODEL.replace('"y.npy"', '"y.npy", "u.npy"'))
        np.save(self.path("u.npy"), np.zeros((70, 2), np.float32))
        self.dlcc("net.dl")
        self.dlrun("net.plan", "--steps", 5, "--out", "unread", "-q")
        np.save(self.path("u.npy"), np.ones((70, 2), np.float32))
        self.assertNotIn("the training data", dltools.call([dltools.DLRUN, "resume", "unread", "--steps", "7"], self.folder).stderr)

    def test_logs_ten_times_a_second_at_most(self):
        started = time.monotonic()
        self.dlrun("net.plan", "--epochs", 2000, "--out", "run", "-q", "--every", "eval=0")
        seconds = time.monotonic() - started
        with open(self.path("run/train.csv"), encoding="utf-8") as file:
            rows = len(file.readlines()) - 1
        self.assertLessEqual(rows, 10 * seconds + 3)

    def test_two_at_once(self):
        process = subprocess.Popen([dltools.DLRUN, "net.plan", "--out", "run", "--json", "--epochs", "1000000"],
                                   cwd=self.folder, stdout=subprocess.PIPE)
        process.stdout.readline()
        try:
            result = dltools.call([dltools.DLRUN, "resume", "run"], self.folder)
            self.assertEqual(result.returncode, 4)
            self.assertIn("another dlrun is at work", result.stderr)
        finally:
            process.kill()
            process.communicate()


FULL = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Writes to files whose name contains $FULL_NAME fail after $FULL_AFTER bytes of each, as on a full disk.
// Returns how many bytes there is room for, or -1.
static ssize_t room(int fd, off_t at, size_t count) {
  char link[64], path[4096];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof(path) - 1);
  if (length <= 0 || fd <= 2)
    return count;
  path[length] = 0;
  long after = atol(getenv("FULL_AFTER"));
  if (!strstr(path, getenv("FULL_NAME")) || at + (off_t)count <= after)
    return count;
  if (at < after)
    return after - at;
  errno = ENOSPC;
  return -1;
}

ssize_t write(int fd, const void *bytes, size_t count) {
  static ssize_t (*real)(int, const void *, size_t);
  if (!real)
    real = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  ssize_t some = room(fd, lseek(fd, 0, SEEK_CUR), count);
  return some < 0 ? some : real(fd, bytes, some);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t at) {
  static ssize_t (*real)(int, const void *, size_t, off_t);
  if (!real)
    real = (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite64");
  ssize_t some = room(fd, at, count);
  return some < 0 ? some : real(fd, bytes, some, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { return pwrite64(fd, bytes, count, at); }
"""


class Shorter(support.ToolTest):
    def test_a_length_that_is_behind_is_not_kept(self):
        self.regression_data()
        self.write("net.dl", support.LINEAR)
        self.dlcc("net.dl")
        self.dlrun("net.plan", "-q", "--steps", 6, "--out", "run", "--save-final", "a.safetensors")
        for length in ("--steps=9", "--steps=4"):
            self.dlrun("resume", "run", "-q", length)
        with open(self.path("run/run.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["length"], "--steps=9")
        self.assertIn("9 of 9 steps are done", dltools.call([dltools.DLRUN, "resume", "run"], self.folder).stderr)


class FullDisk(support.ToolTest):
    """Writes fail in the middle: old files stay, nothing half-written is left."""

    def setUp(self):
        super().setUp()
        self.classification_data(items=70)
        self.write("net.dl", kill_and_resume.MODEL)
        self.dlcc("net.dl")
        self.write("full.c", FULL)
        compiler = shutil.which("cc") or shutil.which("clang-22")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", "full.so", "full.c"], cwd=self.folder, check=True)

    def full(self, name, after, *arguments):
        return dltools.call([dltools.DLRUN, *arguments], self.folder,
                            {"LD_PRELOAD": self.path("full.so"), "FULL_NAME": name, "FULL_AFTER": str(after)})

    def test_final_weights(self):
        self.dlrun("net.plan", "--steps", 3, "-q", "--save-final", "w.safetensors")
        with open(self.path("w.safetensors"), "rb") as file:
            old = file.read()
        before = self.listing()
        for after in (0, 5, 1000, len(old) - 1):
            result = self.full("w.safetensors", after, "net.plan", "--steps", 9, "-q", "--save-final", "w.safetensors")
            self.assertEqual(result.returncode, 4)
            self.assertIn("cannot write 'w.safetensors': No space left on device", result.stderr)
            with open(self.path("w.safetensors"), "rb") as file:
                self.assertEqual(file.read(), old)
            self.assertEqual(self.listing(), before)

    def test_checkpoints_and_training_goes_on(self):
        self.dlrun("net.plan", "--steps", 9, "-q", "--save-final", "one.safetensors")
        self.dlrun("net.plan", "--steps", 3, "-q", "--out", "run")
        result = self.full("run/checkpoints", 500, "resume", "run", "--steps", 9, "--every", "ckpt=2",
                           "--save-final", "two.safetensors")
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("No space left on device; training goes on", result.stderr)
        self.assertEqual(os.listdir(self.path("run/checkpoints")), ["step-00000003.safetensors"])
        self.dlrun("resume", "run", "-q", "--steps", 9, "--save-final", "three.safetensors")
        for name in ("two", "three"):
            with open(self.path("one.safetensors"), "rb") as a, open(self.path(name + ".safetensors"), "rb") as b:
                self.assertEqual(a.read(), b.read())

    def test_files_that_may_not_grow(self):
        self.dlrun("net.plan", "--steps", 3, "-q", "--out", "run")
        result = subprocess.run(["bash", "-c", f"ulimit -f 1; exec {dltools.DLRUN} resume run --steps 9 "
                                 "--every ckpt=2,eval=0,log=0"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("File too large; training goes on", result.stderr)
        self.assertEqual(os.listdir(self.path("run/checkpoints")), ["step-00000003.safetensors"])

    def test_logs_end_at_a_whole_line(self):
        result = self.full("train.csv", 70000, "net.plan", "--epochs", 2000, "-q", "--out", "run", "--every", "log=1,eval=0",
                           "--save-final", "w.safetensors")
        self.assertEqual(result.returncode, 4)
        self.assertIn("training goes on without logs", result.stderr)
        with open(self.path("run/train.csv"), encoding="utf-8") as file:
            lines = file.read().split("\n")
        self.assertEqual(lines[-1], "")
        self.assertEqual(lines[-2].count(","), 2)
        self.assertTrue(os.path.exists(self.path("w.safetensors")))
        self.assertTrue(os.path.exists(self.path("run/checkpoints/step-00010000.safetensors")))


MKDIR = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/types.h>

// Before the process makes its first folder, another one runs: $MEANWHILE.
int mkdir(const char *path, mode_t mode) {
  const char *command = getenv("MEANWHILE");
  if (command) {
    unsetenv("LD_PRELOAD");
    int failed = system(command);
    unsetenv("MEANWHILE");
    if (failed)
      abort();
  }
  return ((int (*)(const char *, mode_t))dlsym(RTLD_NEXT, "mkdir"))(path, mode);
}
"""


class TwoBegin(support.ToolTest):
    """Two first runs into the same new folder: one of them gets it."""

    def test_the_second_leaves_the_first_alone(self):
        self.regression_data()
        self.write("net.dl", support.LINEAR)
        self.dlcc("net.dl")
        self.write("meanwhile.c", MKDIR)
        compiler = shutil.which("cc") or shutil.which("clang-22")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", "meanwhile.so", "meanwhile.c"], cwd=self.folder, check=True)
        first = f"{dltools.DLRUN} net.plan -q --out run --seed 3 --every log=1"
        for option in ([], ["--resume=auto"]):
            result = dltools.call([dltools.DLRUN, "net.plan", "-q", "--out", "run", *option], self.folder,
                                  {"LD_PRELOAD": self.path("meanwhile.so"), "MEANWHILE": first})
            self.assertEqual(result.returncode, 4, result.stderr)
            self.assertIn("another dlrun has begun a run in this folder meanwhile", result.stderr)
            with open(self.path("run/train.csv"), encoding="utf-8") as file:
                self.assertEqual(len(file.readlines()), 5)
            shutil.rmtree(self.path("run"))


class OtherPlan(support.ToolTest):
    """dlrun resume DIR --plan: a run goes on under a plan that was compiled again."""

    def setUp(self):
        super().setUp()
        self.regression_data()
        self.write("lin.dl", support.LINEAR.replace(".lr = 0.1", ".lr = 0.1, .momentum = 0.9"))
        self.dlcc("lin.dl")
        self.dlrun("lin.plan", "-q", "--steps", 6, "--out", "run")

    def recompiled(self, before, after, *arguments):
        with open(self.path("lin.dl"), encoding="utf-8") as file:
            self.write("new.dl", file.read().replace(before, after))
        self.dlcc("new.dl", *arguments)

    def weights(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_it_goes_on_with_all_it_had(self):
        self.recompiled(".lr = 0.1", ".lr = 0.02")
        self.dlrun("resume", "run", "-q", "--steps", 9, "--plan", "new.plan", "--save-final", "a.safetensors")
        self.dlrun("lin.plan", "-q", "--steps", 6, "--out", "other")
        self.dlrun("resume", "other", "-q", "--steps", 9, "--set", "optim.lr=0.02", "--save-final", "b.safetensors")
        self.assertEqual(self.weights("a.safetensors"), self.weights("b.safetensors"))
        self.dlrun("resume", "run", "-q", "--steps", 12, "--save-final", "a.safetensors")
        self.dlrun("resume", "other", "-q", "--steps", 12, "--save-final", "b.safetensors")
        self.assertEqual(self.weights("a.safetensors"), self.weights("b.safetensors"))

    def test_other_items_of_the_data_are_told(self):
        with open(self.path("lin.dl"), encoding="utf-8") as file:
            text = file.read()
        split = "p.train(dl::data::random_split(data, {20, 12}, {.seed = SEED})[0],"
        for seed, words in ((3, ""), (4, "the plan takes other items of them")):
            self.write("new.dl", text.replace("p.train(data,", split.replace("SEED", str(seed))))
            self.dlcc("new.dl", "-o", f"{seed}.plan")
            if seed == 3:
                self.dlrun("3.plan", "-q", "--epochs", 1, "--out", "parts")
            said = dltools.call([dltools.DLRUN, "resume", "parts", "-q", "--epochs", "2", "--plan", f"{seed}.plan"], self.folder)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertEqual(words in said.stderr, True)
            self.assertEqual("training data are not those" in said.stderr, bool(words))

    def test_a_checkpoint_of_the_plan_before_will_do(self):
        self.recompiled(".lr = 0.1", ".lr = 0.02")
        self.dlrun("resume", "run", "-q", "--steps", 9, "--plan", "new.plan", "--save-final", "a.safetensors")
        os.remove(self.path("run/checkpoints/step-00000009.safetensors"))  # as if it had been killed before
        self.dlrun("resume", "run", "-q", "--steps", 9, "--save-final", "b.safetensors")
        self.assertEqual(self.weights("a.safetensors"), self.weights("b.safetensors"))

    def test_other_metrics_begin_new_logs(self):
        self.recompiled('{{"loss", loss}}', '{{"mse", loss}, {"twice", loss * 2}}')
        self.dlrun("resume", "run", "-q", "--steps", 9, "--plan", "new.plan")
        with open(self.path("run/train.csv"), encoding="utf-8") as file:
            self.assertEqual(file.readline(), "step,epoch,mse,twice\n")
        with open(self.path("run/old-1/train.csv"), encoding="utf-8") as file:
            self.assertEqual(file.readline(), "step,epoch,loss\n")

    def refused(self, code, words):
        before = self.listing(), sorted(os.listdir(self.path("run"))), self.weights("run/model.plan")
        result = dltools.call([dltools.DLRUN, "resume", "run", "--steps", "9", "--plan", "new.plan"], self.folder)
        self.assertEqual(result.returncode, code, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertEqual(before, (self.listing(), sorted(os.listdir(self.path("run"))), self.weights("run/model.plan")))

    def test_what_does_not_fit_is_refused(self):
        self.recompiled(", .momentum = 0.9", "")
        self.refused(1, ["tensors, the plan has 2 states"])
        self.recompiled("nn::Linear model{3, 2}", "nn::Linear model{3, 2, {.bias = false}}")
        self.refused(1, ["tensors, the plan has 2 states"])
        self.recompiled("", "", "-D", "batch_size=4")
        self.refused(2, ["--plan", "batches have 8 items, those of the new plan 4", "--init run/checkpoints/"])
        self.recompiled("", "", "--accumulate=2")
        self.refused(2, ["--plan", "updates of the run are 1 batches, those of the new plan 2"])
        result = dltools.call([dltools.DLRUN, "new.plan", "--out", "run", "--resume=auto"], self.folder)
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertIn("--plan new.plan", result.stderr)
