"""dlrun resume: what a run is told when it goes on, and runs that are not where they were started."""

import json
import os
import shutil

import dltools
import kill_and_resume
from . import support


class Told(support.ToolTest):
    """What a run is told when it goes on holds from then on."""

    def setUp(self):
        super().setUp()
        self.classification_data(items=70)
        self.write("net.dl", kill_and_resume.MODEL)
        self.dlcc("net.dl")
        self.dlrun("net.plan", "-q", "--steps", 4, "--out", "run", "--save-final", "final.safetensors", "--halt-on", "inf")

    def record(self, folder="run"):
        with open(self.path(folder, "run.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_options_are_remembered(self):
        self.dlrun("resume", "run", "-q", "--steps", 12, "--every=ckpt=2", "--keep", 0, "--save-final", "b.safetensors",
                   "--halt-on", "loss>1e9", "--threads", 1)
        told = self.record()["told"]
        self.assertEqual(told, ["--every=ckpt=2", "--keep=0", "--save-final=b.safetensors", "--halt-on=loss>1e9"])
        self.assertEqual(len(os.listdir(self.path("run/checkpoints"))), 5)
        os.remove(self.path("b.safetensors"))
        self.dlrun("resume", "run", "-q", "--steps", 16)
        self.assertEqual(len(os.listdir(self.path("run/checkpoints"))), 7)
        self.assertTrue(os.path.exists(self.path("b.safetensors")))
        self.assertEqual(self.record()["told"], told)
        self.dlrun("resume", "run", "-q", "--steps", 18, "--every", "ckpt=2", "--keep=1", "--halt-on", "nan")
        self.assertEqual(len(os.listdir(self.path("run/checkpoints"))), 1)
        self.assertEqual(self.record()["told"], [told[2], "--every=ckpt=2", "--keep=1", "--halt-on=nan"])
        self.dlrun("resume", "run", "-q", "--steps", 19, "--every=ckpt=3,log=5", "--save-final=../out.safetensors")
        self.assertEqual(self.record()["told"], ["--keep=1", "--halt-on=nan", "--every=ckpt=3", "--every=log=5",
                                                 f"--save-final={self.folder}/../out.safetensors"])
        os.remove(self.path("../out.safetensors"))

    def test_data_are_remembered(self):
        os.mkdir(self.path("other"))
        for name in ("x.npy", "y.npy"):
            shutil.move(self.path(name), self.path("other", name))
        self.dlrun("resume", "run", "-q", "--steps", 6, "--data", "other")
        self.dlrun("resume", "run", "-q", "--steps", 8)

    def test_a_copy_leaves_what_it_was_copied_from_alone(self):
        with open(self.path("final.safetensors"), "rb") as file:
            before = file.read()
        self.dlrun("resume", "run", "-q", "--steps", 5, "--save-final", "told.safetensors")
        with open(self.path("told.safetensors"), "rb") as file:
            told = file.read()
        os.mkdir(self.path("copy"))
        for name in ("x.npy", "y.npy", "net.plan"):
            shutil.copy(self.path(name), self.path("copy", name))
        shutil.copytree(self.path("run"), self.path("copy/run"))
        shutil.copytree(self.path("run"), self.path("copy/elsewhere"))
        said = dltools.call([dltools.DLRUN, "resume", "copy/run", "--steps", "7"], self.folder)
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn(f"the run was started as '{self.path('run')}'; its relative paths are those of '{self.path('copy')}' here",
                      said.stderr)
        with open(self.path("final.safetensors"), "rb") as file:
            self.assertEqual(file.read(), before)
        with open(self.path("told.safetensors"), "rb") as file:
            self.assertEqual(file.read(), told)
        self.assertTrue(os.path.exists(self.path("copy/told.safetensors")))
        said = dltools.call([dltools.DLRUN, "resume", "copy/elsewhere", "--steps", "7"], self.folder)
        self.assertIn(f"there is a run in '{self.path('run')}', where this one was started; its relative paths, of weights to be "
                      f"written, too, are those of '{self.folder}'", said.stderr)
        # What was moved goes on beside its data, which stayed.
        shutil.rmtree(self.path("copy"))
        shutil.move(self.path("run"), self.path("moved"))
        self.assertNotIn("warning", dltools.call([dltools.DLRUN, "resume", "moved", "--steps", "7"], self.folder).stderr)
        # Also where another one has begun in its place.
        os.mkdir(self.path("backup"))
        shutil.move(self.path("moved"), self.path("backup/run"))
        self.dlrun("net.plan", "-q", "--steps", 1, "--out", "run")
        said = dltools.call([dltools.DLRUN, "resume", "backup/run", "--steps", "8"], self.folder)
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn("there is a run in", said.stderr)
