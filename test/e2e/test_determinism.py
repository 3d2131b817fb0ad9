"""Same input, same bytes: plans from different folders and thread counts, weights from different thread counts."""

import hashlib
import os
import shutil

from . import support


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Plans(support.ToolTest):
    def plan(self, name, model, *arguments, cache=None):
        folder = self.path(name)
        os.makedirs(folder)
        for file in os.listdir(self.folder):
            if file.endswith((".dl", ".npy")):
                shutil.copy(self.path(file), folder)
        # Each compilation has a cache of its own, except where a test asks for a warm one.
        support.dltools.dlcc(model, *arguments, "-o", "out.plan", cwd=folder,
                             env={"XDG_CACHE_HOME": cache or os.path.join(folder, "cache")})
        return digest(os.path.join(folder, "out.plan"))

    def test_byte_identical_plans(self):
        self.classification_data()
        self.write("net.dl", support.CONVNET)
        shutil.copy(support.example("mnist"), self.path("mnist.dl"))
        for model in ("net.dl", "mnist.dl"):
            plans = {self.plan(f"{model}-one", model), self.plan(f"{model}-a/longer/way", model),
                     self.plan(f"{model}-t1", model, "--threads=1"), self.plan(f"{model}-t3", model, "--threads=3"),
                     self.plan(f"{model}-warm", model, cache=self.path(f"{model}-one/cache"))}
            self.assertEqual(len(plans), 1, model)

    def test_another_model_is_another_plan(self):
        """The control: the digest does see a changed number."""
        self.classification_data()
        self.write("net.dl", support.CONVNET)
        first = self.plan("first", "net.dl")
        self.write("net.dl", support.CONVNET.replace("0.05", "0.06"))
        self.assertNotEqual(first, self.plan("second", "net.dl"))


class Threads(support.ToolTest):
    def weights(self, threads, *more):
        out = f"w{threads}.safetensors"
        self.dlrun("net.plan", "--epochs", 2, "--threads", threads, "--save-final", out, "-q", *more)
        return digest(self.path(out))

    def test_same_bits_with_any_number_of_threads(self):
        """Wide enough for several tiles a kernel, with dropout and a shuffled order."""
        self.classification_data(items=96, shape=(1, 28, 28))
        text = support.CONVNET.replace("150", "1014").replace("fc1{1014, 20}", "fc1{1014, 200}").replace("fc2{20,", "fc2{200,")
        text = text.replace("F::relu(fc1(", "F::dropout(fc1(").replace(".batch_size = p", ".shuffle = true, .batch_size = p")
        text = text.replace('{.shuffle = true, .batch_size = p.arg("batch_size", 16)}',
                            '{.batch_size = p.arg("batch_size", 40), .shuffle = true}')
        self.write("net.dl", text)
        self.dlcc("net.dl")
        self.assertEqual(len({self.weights(threads, "--seed", 3) for threads in (1, 2, 4)}), 1)
        self.assertNotEqual(self.weights(1, "--seed", 3), self.weights(2, "--seed", 4), "the seed has no effect")

    def test_every_thread_runs_tiles(self):
        self.classification_data(items=128, shape=(1, 28, 28))
        text = support.CONVNET.replace("150", "1014").replace("fc1{1014, 20}", "fc1{1014, 400}").replace("fc2{20,", "fc2{400,")
        self.write("net.dl", text)
        self.dlcc("net.dl", "-D", "batch_size=128")
        (event,) = [e for e in self.events("bench", "net.plan", "--threads", 2, "--steps", 30) if e["event"] == "bench"]
        self.assertEqual(len(event["tiles_per_thread"]), 2)
        self.assertGreater(min(event["tiles_per_thread"]), 0, event)
