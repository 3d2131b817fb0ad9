"""dlrun -np, mpirun dlrun: equal bits, agreement, ranks that die or hang, signals."""

import collections
import json
import os
import random
import shutil
import signal
import subprocess
import unittest

import numpy as np

import dltools
from e2e import readme, support, test_mesh
from mpi import launch


# Products large enough for the tiles of AMX.
WIDE = """#include <dl/dl.h>
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"wide.npy"}, {.batch_size = 32});
  dl::nn::Linear a{64, 320}, b{320, 8};
  dl::optim::SGD optimizer({a.weight, b.weight}, {.lr = 0.01});
  p.train(data, [&](dl::Batch x) -> dl::Metrics {
    auto loss = b(a(x[0].repeat({32, 1}))).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


@unittest.skipIf(launch.missing(), launch.missing())
class ProcessTest(support.ToolTest):
    def setUp(self):
        super().setUp()
        self.classification_data()
        self.write("m.dl", launch.MODEL)
        self.env = launch.environment()

    def plan(self, ranks):
        return launch.make_plan(self.folder, ranks)

    def call(self, *command, env=None):
        left = launch.Leftovers(self.folder)
        result = dltools.call(command, self.folder, env or self.env)
        self.assertEqual(left.found(), [])
        return result

    def dlrun_np(self, ranks, *arguments, env=None):
        return self.call(dltools.DLRUN, "-np", ranks, *arguments, env=env)

    def test_commands_are_taken_in_the_order_of_their_program(self):
        """A rank with one thread starts nothing while something that stands before it could start. What an exchange waits for
        stands before what no other rank waits for."""
        self.write("net.dl", test_mesh.BLOCKS.replace("h{", "h{Block{}, ") % ("", test_mesh.MESH))
        rng = np.random.default_rng(0)
        np.save(self.path("x.npy"), rng.normal(size=(64, 6, 25)).astype(np.float32))
        np.save(self.path("y.npy"), rng.integers(0, 4, size=64))
        for schedule in ("1f1b", "zb-h1", "zb-v"):  # (of zb-v stages 1 and 2 are on rank 1)
            self.dlcc("net.dl", "-o", "net.plan", "--mesh=pp=2", "--microbatches=4", f"--schedule={schedule}")
            self.dlrun_np(2, "net.plan", "--threads", 1, "--steps", 8, "--trace", "t.json", "-q")
            commands = self.info("net.plan")["steps"][0]["programs"][0]["commands"]
            with open(self.path("t.json"), encoding="utf-8") as file:
                events = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X" and (e["pid"], e["tid"]) == (1, 0)]
            runs = collections.defaultdict(dict)  # of rank 0
            for event in events:
                runs[event["args"]["run"]][event["args"]["command"]] = (event["ts"], event["ts"] + event["dur"])
            awaited = [command["kind"] == "communicate" for command in commands]
            for number in reversed(range(len(commands))):
                for dep in commands[number]["deps"] if awaited[number] else ():
                    awaited[dep] = True
            own = [c for wanted in (True, False) for c, command in enumerate(commands)  # communication has its turn when it can
                   if awaited[c] == wanted and command["kind"] != "communicate"]
            checked = 0
            for times in runs.values():
                self.assertEqual(len(times), len(commands))
                for place, first in enumerate(own):
                    ready = max((times[dep][1] for dep in commands[first]["deps"]), default=0)
                    for other in own[place + 1:]:
                        self.assertFalse(ready < times[other][0] and times[other][1] <= times[first][0],
                                         f"{schedule}: {other} ran before {first}, which was ready")
                        checked += 1
            self.assertGreater(checked, 1000)

    def assert_refused(self, result, code, *words):
        self.assertEqual(result.returncode, code, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)


class Equal(ProcessTest):
    def test_weights_are_those_of_one_rank(self):
        dltools.dlrun(self.plan(2).replace("m2", "m"), "--epochs", "2", "--save-final", "one.safetensors", "-q", cwd=self.folder)
        for ranks in (2, 4):
            result = self.dlrun_np(ranks, self.plan(ranks), "--epochs", "2", "--save-final", "many.safetensors", "-q")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            with open(self.path("one.safetensors"), "rb") as one, open(self.path("many.safetensors"), "rb") as many:
                self.assertEqual(one.read(), many.read())

    def test_mpirun_does_the_same_and_only_rank_0_talks(self):
        command = ["--epochs", "1", "--json", "--every", "log=1"]
        by_dlrun = self.dlrun_np(2, self.plan(2), *command)
        by_mpirun = self.call("mpirun", "-np", "2", dltools.DLRUN, self.plan(2), *command)
        steps = [[dltools.without_times(line) for line in result.stdout.splitlines() if '"event":"step"' in line]
                 for result in (by_dlrun, by_mpirun)]
        self.assertEqual(by_mpirun.returncode, 0, by_mpirun.stderr)
        self.assertEqual(len(steps[0]), 4)
        self.assertEqual(steps[0], steps[1])

    def test_checked_runs_give_the_same(self):
        for name, options in (("a", []), ("b", ["--poison", "--order", "random:3"])):
            result = self.dlrun_np(2, self.plan(2), "--epochs", "1", "-q", "--save-final", name + ".safetensors", *options)
            self.assertEqual(result.returncode, 0, result.stderr)
        for key, value in self.load("a.safetensors").items():
            np.testing.assert_array_equal(value, self.load("b.safetensors")[key])

    def test_a_limit_ends_all_once_everything_is_written(self):
        """All ranks see it at the same step: nobody ends the run while another one writes, and one says why."""
        result = self.dlrun_np(2, self.plan(2), "--epochs", "2", "-q", "--halt-on", "loss>0", "--out", "run", "--save-final", "w.safetensors")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stderr.count("(--halt-on loss>0)"), 1, result.stderr)
        self.assertEqual(os.listdir(self.path("run/checkpoints")), ["step-00000001.safetensors"])
        result = self.dlrun_np(2, self.plan(2), "--steps", "1", "-q", "--save-final", "whole.safetensors")
        self.assertEqual(result.returncode, 0, result.stderr)
        for key, value in self.load("w.safetensors").items():
            np.testing.assert_array_equal(value, self.load("whole.safetensors")[key])

    def test_checked_runs_evaluate(self):
        """Between programs the word that stops a run goes around; afterwards somebody must look after messages again."""
        np.save(self.path("x.npy"), np.random.default_rng(0).normal(size=(23, 6, 25)).astype(np.float32))
        np.save(self.path("y.npy"), np.arange(23) % 4)
        self.write("net.dl", (test_mesh.BLOCKS % ("", "")).rstrip()[:-1] +
                   '  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics { return {{"loss", F::cross_entropy(net(b[0]), b[1])}}; });\n}\n')
        self.dlcc("net.dl", "-o", "net.plan", "--mesh=dp=2", "-D", "batch_size=12")
        for option in ("--detect-anomaly", "--poison"):
            result = self.dlrun_np(2, "net.plan", "--epochs", "3", "-q", option)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stdout.count("test: loss"), 3)

    def test_log_dir_keeps_the_words_of_each(self):
        result = self.dlrun_np(2, self.plan(2), "--epochs", "1", "--log-dir", "logs")
        self.assertEqual(result.returncode, 0, result.stderr)
        for rank in range(2):
            with open(self.path(f"logs/rank-000{rank}.log"), encoding="utf-8") as file:
                self.assertIn("parameters", file.read())

    def test_bench_ends_on_all_ranks(self):
        result = self.dlrun_np(2, "bench", self.plan(2), "--seconds", "0.3", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count('"event":"bench"'), 1)


class Readme(ProcessTest):
    def test_commands(self):
        """Those of README's "Many devices" that start processes."""
        readme.write_divided_model(self.folder)
        ran = 0
        for tool, *words in readme.commands("Many devices"):
            if tool == "dlcc":
                if "--report" not in words:
                    dltools.dlcc(*words, cwd=self.folder)
                continue
            if "-np" not in words:
                continue
            few = {"--steps", "--epochs", "--dry-run"}.isdisjoint(words)
            more = (["--epochs", "21"] if "resume" in words else ["--steps", "2"]) if few else []
            with self.subTest(" ".join([tool, *words])):
                result = self.call(dltools.DLRUN, *words, *more)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("mpirun" if "--dry-run" in words else "step", result.stdout + result.stderr)
            ran += 1
        self.assertGreaterEqual(ran, 2)


class Agreement(ProcessTest):
    def test_wrong_number_of_processes(self):
        self.assert_refused(self.dlrun_np(3, self.plan(2)), 5, "dp=2", "3 processes", "dlrun -np 2 fits")
        self.assert_refused(self.dlrun_np(2, "m.plan"), 5, "one rank", "--mesh dp=2")

    def test_two_plans(self):
        self.write("other.dl", launch.MODEL.replace("0.05", "0.06"))
        other = launch.make_plan(self.folder, 2, "other")
        result = self.call("mpirun", "-np", "1", dltools.DLRUN, self.plan(2), ":", "-np", "1", dltools.DLRUN, other)
        self.assert_refused(result, 5, "the ranks do not agree: plan: m.dl", "on rank 0", "other.dl", "on rank 1")

    def test_kernels_that_add_up_otherwise(self):
        """A rank whose processor has no AMX, or does without, would make other bits of what all have a copy of."""
        self.write("wide.dl", WIDE)
        np.save(self.path("wide.npy"), np.ones((64, 64), np.float32))
        dltools.dlcc("wide.dl", "--mesh", "dp=2", "--dtype=bf16", "-o", "wide.plan", cwd=self.folder)
        images = {image["features"]: image["supported"] for image in dltools.info("wide.plan", cwd=self.folder)["images"]}
        if not images["x86-64-v4+amxbf16"]:
            self.skipTest("the processor has no AMX")
        command = [dltools.DLRUN, "wide.plan", "--steps", "1", "-q"]
        result = self.call("mpirun", "-np", "1", *command, ":", "-np", "1", *command, "--isa=v4")
        self.assert_refused(result, 5, "AMX (--isa=v4 does without): used on rank 0", "not used on rank 1")
        self.assertEqual(self.call("mpirun", "-np", "2", *command, "--isa=v4").returncode, 0)

    def test_seed_options_and_data(self):
        plan = self.plan(2)

        def two(first, second):
            return self.call("mpirun", "-np", "1", dltools.DLRUN, plan, *first, ":", "-np", "1", dltools.DLRUN, plan, *second)
        self.assert_refused(two(["--seed", "1"], ["--seed", "2"]), 5, "seed: 1 on rank 0", "2 on rank 1")
        self.assert_refused(two(["--steps", "1"], ["--steps", "2"]), 5, "--steps 1", "--steps 2")
        os.mkdir(self.path("b"))
        np.save(self.path("b/x.npy"), np.load(self.path("x.npy")))
        np.save(self.path("b/y.npy"), np.load(self.path("y.npy")).astype(np.int64))
        with open(self.path("b/y.npy"), "ab") as file:
            file.write(b"more")
        result = two([], ["--data", "b"])
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertIn("rank 1", result.stderr)

    def test_a_missing_plan_on_one_rank(self):
        shutil.copy(self.plan(2), self.path("here.plan"))
        result = self.call("mpirun", "-np", "1", dltools.DLRUN, "here.plan", ":", "-np", "1", dltools.DLRUN, "nowhere.plan")
        self.assert_refused(result, 5, "rank 1", "cannot open 'nowhere.plan'")


class Missing(ProcessTest):
    def test_no_launcher(self):
        self.assert_refused(self.dlrun_np(2, self.plan(2), env={**self.env, "PATH": self.folder}), 3, "there is no mpirun in PATH",
                            "apt install openmpi-bin libopenmpi-dev")

    def test_no_plugin(self):
        env = {**self.env, "DLRUN_MPI_PLUGIN": self.path("none.so")}
        self.assert_refused(self.dlrun_np(2, self.plan(2), env=env), 3, "there is no " + env["DLRUN_MPI_PLUGIN"], "build.sh")

    def test_a_plugin_that_is_none(self):
        self.write("none.so", "text")
        env = {**self.env, "DLRUN_MPI_PLUGIN": self.path("none.so")}
        self.assert_refused(self.dlrun_np(2, self.plan(2), env=env), 3, "cannot open")

    @unittest.skipIf(os.geteuid() != 0, "Open MPI refuses root alone")
    def test_root_is_told_of_both_variables(self):
        env = {name: value for name, value in self.env.items() if name != "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}
        result = subprocess.run([dltools.DLRUN, "-np", "2", self.plan(2)], env=env, capture_output=True, text=True, cwd=self.folder)
        self.assert_refused(result, 3, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM is not")


class Command(ProcessTest):
    def test_dry_run_prints_what_would_be_run(self):
        result = self.dlrun_np(8, "-H", "a:4,b:4", "--dry-run", "--hang-timeout", "5", "it's.plan", "--epochs", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(" -np 8 -H a:4,b:4 --bind-to none --mca mpi_yield_when_idle 1 -x DLRUN_WATCHED=1 ", result.stdout)
        self.assertTrue(result.stdout.endswith("/dlrun 'it'\\''s.plan' --epochs 2\n"), result.stdout)

    def test_cores_are_given_up_only_where_processes_outnumber_them(self):
        cores = len(os.sched_getaffinity(0))
        for ranks, shared in ((cores, False), (cores + 1, True)):
            words = self.dlrun_np(ranks, "--dry-run", "m.plan").stdout.split()
            self.assertEqual("mpi_yield_when_idle" in words, shared, words)
            self.assertEqual("--oversubscribe" in words, shared, words)

    def test_wrong_use(self):
        for arguments, word in ((["m.plan", "-H", "a:2"], "-np"), (["-np", "0", "m.plan"], "-np"), (["-np", "3", "-H", "a:2", "m.plan"], "places for 2"),
                                (["-np", "2", "-H", "a:2", "--hostfile", "f", "m.plan"], "one of them"), (["info", "-np", "2", "m.plan"], "info")):
            self.assert_refused(self.call(dltools.DLRUN, *arguments), 2, word)


class Failure(ProcessTest):
    """A small number; strike.py does more of the same."""

    def test_a_killed_rank(self):
        rng, plan = random.Random(1), self.plan(4)
        for _ in range(3):
            wrong, seconds = launch.strike(plan, 4, "kill", rng)
            self.assertEqual(wrong, [])
            self.assertLess(seconds, 3)

    def test_a_stopped_rank(self):
        wrong, seconds = launch.strike(self.plan(2), 2, "stop", random.Random(2), "--hang-timeout", "2")
        self.assertEqual(wrong, [])
        self.assertLess(seconds, 6)

    def test_two_pretended_hosts(self):
        env = launch.environment(self.path("hosts"))
        result = self.dlrun_np(4, "-H", "ha:2,hb:2", self.plan(4), "--epochs", "1", "-q", env=env)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        wrong, seconds = launch.strike(self.plan(4), 4, "kill", random.Random(3), "-H", "ha:2,hb:2", env=env)
        self.assertEqual(wrong, [])
        self.assertLess(seconds, 3)

    def test_an_error_of_one_rank_ends_all(self):
        """Rank 1 alone cannot write its log."""
        os.makedirs(self.path("logs/rank-0001.log"))
        result = self.dlrun_np(2, self.plan(2), "--log-dir", "logs")
        self.assert_refused(result, 4, "rank 1 (host ", "cannot write 'logs/rank-0001.log'")


class Signals(ProcessTest):
    def test_all_stop_and_save(self):
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            left = launch.Leftovers(self.folder)
            run = launch.Run(self.plan(2), 2, "--save-final", "final.safetensors")
            run.wait_for_steps()
            run.process.send_signal(number)
            ended, _, said = run.end()
            self.assertEqual(ended, code, said)
            self.assertEqual(left.found(), [])
            self.assertIn("fc1.weight", self.load("final.safetensors"))
            os.remove(self.path("final.safetensors"))

    def test_ranks_that_get_sigterm_stop_all(self):
        """One of them, all of them (as systemd and `pkill dlrun` do it), the launcher: everything is saved."""
        plan = self.plan(2)
        for who in ([0], [1], [0, 1], ["dlrun", 0, 1]):
            left = launch.Leftovers(self.folder)
            run = launch.Run(plan, 2, "--out", "run", "--every", "ckpt=0,eval=0")
            pids = {**run.wait_for_steps(), "dlrun": run.process.pid}
            for name in who:
                os.kill(pids[name], signal.SIGTERM)
            ended, _, said = run.end()
            self.assertEqual((ended, said), (75, ""), who)
            self.assertEqual(left.found(), [])
            self.assertEqual(len(os.listdir(self.path("run/checkpoints"))), 1)
            shutil.rmtree(self.path("run"))

    def test_a_rank_of_mpirun_that_gets_sigterm_stops_all(self):
        process = subprocess.Popen(["mpirun", "-np", "2", dltools.DLRUN, self.plan(2), "--threads", "1", "--epochs", "1000000",
                                    "--out", "run", "--every", "log=50,ckpt=0,eval=0", "--json"], cwd=self.folder, env=self.env,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in process.stdout:
            if '"event":"step"' in line:
                break
        os.kill(launch.ranks_of(self.folder)[1], signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75)
        self.assertEqual(len(os.listdir(self.path("run/checkpoints"))), 1)

    def test_a_killed_dlrun_leaves_nothing(self):
        left = launch.Leftovers(self.folder)
        run = launch.Run(self.plan(2), 2)
        run.wait_for_steps()
        run.process.send_signal(signal.SIGKILL)
        run.end()
        self.assertEqual(left.found(patience=6), [])
