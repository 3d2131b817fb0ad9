"""Plans of meshes for CUDA as processes: each rank on an emulated device of its own, with an emulated NCCL between them."""

import json
import os
import random
import unittest

import dltools
from e2e import support
from mpi import launch
from . import test_trainings
from .test_trainings import SOURCE


def environment(mode="lazy", **settings):
    """Of dlrun on emulated devices under a launcher."""
    return {**launch.environment(), **dltools.emulated(mode, **settings)}


@unittest.skipIf(launch.missing(), launch.missing())
class OnDevices(test_trainings.OnBoth):
    def setUp(self):
        super().setUp()
        self.classification_data(items=70)
        self.write("net.dl", support.CONVNET)

    def compiled(self, *flags, source="net.dl", name="mesh.plan"):
        self.dlcc(source, SOURCE, *flags, "-o", name)
        return name

    def call(self, *command, env=None):
        left = launch.Leftovers(self.folder)
        result = dltools.call(command, self.folder, env or environment())
        self.assertEqual(left.found(), [])
        return result

    def mpirun(self, ranks, *arguments, env=None):
        return self.call("mpirun", "--oversubscribe", "-np", str(ranks), dltools.DLRUN, *arguments, env=env)

    def weights(self, name="final.w"):
        with open(self.path(name), "rb") as file:
            return file.read()

    def many(self, ranks, *arguments, env=None):
        """The weights that processes come to, who have nothing to say."""
        result = self.mpirun(ranks, *arguments, "-q", "--save-final", "final.w", env=env)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return self.weights()

    def one(self, *arguments):
        """Those of the same ranks in one process."""
        self.dlrun(*arguments, "-q", "--save-final", "final.w", env=dltools.emulated())
        return self.weights()

    def assert_refused(self, result, code, *words):
        self.assertEqual(result.returncode, code, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)


class Equal(OnDevices):
    """To the bits of the same ranks in one process, with a short last batch."""

    def assert_equal(self, ranks, *flags, steps=("--epochs", 2), source="net.dl"):
        plan = self.compiled(*flags, source=source)
        wanted = self.one(plan, *steps)
        for env in (environment("eager", order="ascending"), environment("lazy", order="random", seed=len(flags))):
            with self.subTest(" ".join(flags), mode=env["DLEMU_MODE"]):
                self.assertEqual(self.many(ranks, plan, *steps, env=env), wanted)

    def test_divided_batches(self):
        for zero in (0, 1, 3):
            self.assert_equal(2, "--mesh=dp=2", f"--zero={zero}")
        self.assert_equal(4, "--mesh=dp=4", "--zero=2")

    def test_pipelines_and_accumulation(self):
        self.assert_equal(2, "--mesh=pp=2", "--microbatches=4")
        self.assert_equal(4, "--mesh=dp=2,pp=2", "--microbatches=2")
        self.assert_equal(2, "--mesh=dp=2", "--accumulate=3")

    def test_divided_layers(self):
        """dp, pp and tp at once, and a pipeline that the model names."""
        for name, ranks in (("mlp_mesh", 8), ("two_parts", 2)):
            dltools.run("python3", os.path.join(dltools.ROOT, "examples", name, "generate.py"), self.folder)
            self.assert_equal(ranks, source=support.example(name), steps=("--steps", 6))

    def test_one_by_one(self):
        """In a trace, and in any order of the commands that is allowed."""
        plan = self.compiled("--mesh=dp=2", "--zero=1")
        wanted = self.one(plan, "--steps", 6)
        self.assertEqual(self.many(2, plan, "--steps", 6, "--trace", "trace.json"), wanted)
        with open(self.path("trace.json"), encoding="utf-8") as file:
            ranks = {event["pid"] for event in json.load(file)["traceEvents"] if "kernel" in event.get("args", {})}
        self.assertEqual(ranks, {1, 2})
        for seed in range(3):
            self.assertEqual(self.many(2, plan, "--steps", 6, "--poison", "--order", f"random:{seed}"), wanted)

    def test_resumed(self):
        """From processes to processes, to one process, and back."""
        plan = self.compiled("--mesh=dp=2", "--zero=3")
        whole = self.one(plan, "--steps", 9)
        self.assertEqual(self.mpirun(2, plan, "-q", "--steps", 4, "--out", "run").returncode, 0)
        self.assertEqual(self.mpirun(2, "resume", "run", "-q", "--steps", 6).returncode, 0)
        dltools.run(dltools.DLRUN, "resume", "run", "-q", "--steps", 7, cwd=self.folder, env=dltools.emulated())
        result = self.mpirun(2, "resume", "run", "-q", "--steps", 9, "--save-final", "final.w")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.weights(), whole)

    def test_what_is_said(self):
        result = self.mpirun(2, self.compiled("--mesh=dp=2"), "--steps", 1, "--json")
        start = json.loads(result.stdout.splitlines()[0])
        self.assertEqual((start["engine"], start["network"], start["ranks"]), ("nccl", "NCCL 2.28.9", 2))
        result = self.mpirun(2, "bench", "mesh.plan", "--seconds", "0.2", "--json")
        self.assertEqual((result.returncode, result.stdout.count('"event":"bench"')), (0, 1), result.stderr)


class Refused(OnDevices):
    """Once, by all ranks together."""

    def setUp(self):
        super().setUp()
        self.plan = self.compiled("--mesh=dp=2")

    def assert_said_once(self, env, word, *words):
        result = self.mpirun(2, self.plan, "--steps", "1", env=env)
        self.assert_refused(result, 3, word, *words, "without -np and mpirun")
        self.assertEqual(result.stderr.count(word), 1, result.stderr)

    def test_two_ranks_on_one_device(self):
        self.assert_said_once({**environment(), "CUDA_VISIBLE_DEVICES": "5"}, "rank 1 has no GPU of its own",
                              "one GPU, which rank 0 has", "NCCL takes one rank to a GPU")
        self.assert_said_once(environment(devices=1), "rank 1 has no GPU of its own")

    def test_no_nccl(self):
        os.mkdir(self.path("without"))
        for name in os.listdir(dltools.EMULATED):
            if "nccl" not in name:
                os.symlink(os.path.join(dltools.EMULATED, name), self.path(f"without/{name}"))
        self.write("without/libnccl.so.2", "none")
        self.assert_said_once({**environment(), "LD_LIBRARY_PATH": self.path("without")}, "communicate by NVIDIA's NCCL",
                              "libnccl.so.2", "apt install libnccl2")

    def test_an_old_nccl(self):
        self.assert_said_once(environment(nccl_version=21503), "this one is NCCL 2.15.3; NCCL 2.16.0 or later is needed")

    def test_no_driver(self):
        self.write("libcuda.so.1", "none")
        result = self.mpirun(2, self.plan, "--steps", "1", env={**environment(), "LD_LIBRARY_PATH": self.folder})
        self.assert_refused(result, 3, "NVIDIA's driver is not there")
        self.assertEqual(result.stderr.count("NVIDIA's driver"), 1)

    def test_each_on_the_device_that_it_was_given(self):
        """As launchers do that show each process one device."""
        self.write("own", 'CUDA_VISIBLE_DEVICES=$((OMPI_COMM_WORLD_RANK + 3)) exec "$@"\n')
        result = self.call("mpirun", "--oversubscribe", "-np", "2", "sh", "own", dltools.DLRUN, self.plan, "-q", "--steps", "2")
        self.assertEqual((result.returncode, result.stderr), (0, ""))


class Failure(OnDevices):
    def test_a_killed_rank(self):
        plan, rng = self.path(self.compiled("--mesh=dp=4", "--zero=1")), random.Random(1)
        for mode in ("lazy", "eager"):
            wrong, seconds = launch.strike(plan, 4, "kill", rng, env=environment(mode))
            self.assertEqual(wrong, [])
            self.assertLess(seconds, 5)

    def test_a_stopped_rank(self):
        wrong, _ = launch.strike(self.path(self.compiled("--mesh=dp=2")), 2, "stop", random.Random(2), "--hang-timeout", "3",
                                 env=environment())
        self.assertEqual(wrong, [])

    def test_calls_that_fail(self):
        """On all ranks at once: when they meet, when a message is captured, and at the first exchange of a group."""
        plan = self.compiled("--mesh=dp=2")
        for call, code, word in (("ncclGetUniqueId:1=2", 3, "making a communicator"), ("ncclCommInitRank:1=2", 3, "joining 2 ranks"),
                                 ("ncclGroupEnd:9=3", 6, "internal error"), ("ncclSend:12=3", 6, "internal error")):
            with self.subTest(call):
                result = self.call(dltools.DLRUN, "-np", "2", plan, "--steps", "1", env=environment(fail=call))
                self.assert_refused(result, code, word)

    def test_a_device_that_is_lost_is_said(self):
        """Of the rank whose it is; the others only know that it has gone."""
        self.write("own", 'test $OMPI_COMM_WORLD_RANK = 1 && export DLEMU_FAIL=kernel:150=719\nexec "$@"\n')
        result = self.call("mpirun", "--oversubscribe", "-np", "2", "sh", "own", dltools.DLRUN, self.compiled("--mesh=dp=2"), "--epochs", "20")
        self.assert_refused(result, 6, "rank 1 (host ", "CUDA_ERROR_LAUNCH_FAILED")

    def test_an_error_of_one_rank_ends_all(self):
        os.makedirs(self.path("logs/rank-0001.log"))
        result = self.call(dltools.DLRUN, "-np", "2", self.compiled("--mesh=dp=2"), "--log-dir", "logs")
        self.assert_refused(result, 4, "rank 1 (host ", "cannot write 'logs/rank-0001.log'")


if __name__ == "__main__":
    unittest.main()
