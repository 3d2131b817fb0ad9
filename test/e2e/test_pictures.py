"""Pictures: the same bytes every time, everything there once, and nothing on top of anything else."""

import collections
import itertools
import json
import os
import re
import shutil
import unittest
import xml.etree.ElementTree as ElementTree

import numpy as np

import dltools
from e2e.support import HEAD, ToolTest, example

TRAINING = """
void dl_main(dl::Program &p) {
  auto data = dl::data::MNIST("data/mnist", {.batch_size = p.arg("batch_size", 8)});
  Net model;
  dl::optim::SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(model(b.data), b.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics { return {{"loss", F::cross_entropy(model(b.data), b.target)}}; });
}
"""

# Equal blocks with a way around each, between layers that differ.
RESIDUAL = HEAD + """
struct Block : nn::Module {
  nn::Linear up{32, 64}, down{64, 32};
  dl::Tensor forward(dl::Tensor x) { return x + down(F::relu(up(x))); }
};
struct Net : nn::Module {
  nn::Linear in{784, 32};
  Block h[4];
  nn::Linear head{32, 10};
  dl::Tensor forward(dl::Tensor x) {
    x = in(x.flatten(1));
    for (auto &block : h)
      x = block(x);
    return head(x);
  }
};
""" + TRAINING

# Equal layers that are blocks of their own.
LAYERS = HEAD + """
struct Net : nn::Module {
  nn::Linear in{784, 32};
  nn::Linear h[5]{{32, 32}, {32, 32}, {32, 32}, {32, 32}, {32, 32}};
  nn::Linear head{32, 10};
  dl::Tensor forward(dl::Tensor x) {
    x = in(x.flatten(1));
    for (auto &layer : h)
      x = F::relu(layer(x));
    return head(x);
  }
};
""" + TRAINING

VIEWS = ["blocks", "modules", "ops", "kernels"]
SVG = "{http://www.w3.org/2000/svg}"
FORWARD = ("input", "forward", "output")
FILL = {"forward": "#CFE3F7", "saved": "orange", "backward": "lightgrey"}

Box = collections.namedtuple("Box", "name left top right bottom")


def rectangle(element, name=""):
    x, y, width, height = (float(element.get(key)) for key in ("x", "y", "width", "height"))
    return Box(name, x, y, x + width, y + height)


def boxes(picture):
    """The outlines of the nodes, by id."""
    found = {}
    for group in picture.iter(SVG + "g"):
        if group.get("class", "").startswith("node"):
            assert group.get("id") not in found, group.get("id") + " is there twice"
            found[group.get("id")] = rectangle(group.find(SVG + "rect"), group.get("id"))
    return found


def ops(picture, folded=True):
    """What the nodes stand for: names of ops or of kernels; with those of folded blocks, or only what is drawn."""
    found = collections.Counter()
    for group in picture.iter(SVG + "g"):
        for op in group.get("data-ops", "").split():
            found[op] += int(group.get("data-count", "1")) if folded else 1
    return found


def parts_of(picture):
    """What each node belongs to, by id."""
    return {g.get("id"): g.get("class").removeprefix("node ") for g in picture.iter(SVG + "g")
            if g.get("class", "").startswith("node")}


def direction(from_part, to_part):
    """Where an arrow must lead; None: aside."""
    if from_part in FORWARD and to_part in FORWARD:
        return "down"
    return "up" if from_part == to_part == "backward" else None


def meet(a, b, gap=0):
    return a.left < b.right + gap and b.left < a.right + gap and a.top < b.bottom + gap and b.top < a.bottom + gap


def segments(path):
    """The straight pieces of a line with round corners."""
    numbers = [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", re.sub(r"Q(\S+ \S+) ", r"L\1 L", path))]
    points = list(zip(numbers[::2], numbers[1::2]))
    for (x, y), (u, v) in zip(points, points[1:]):
        yield Box("", min(x, u), min(y, v), max(x, u), max(y, v))


class PictureTest(ToolTest):
    def picture(self, model, view, *options, kind="graph.svg"):
        name = f"{view}.{kind}"
        self.dlcc(model, f"--view={view}", f"--emit={kind}={name}", *options)
        return self.read(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def check_places(self, picture):
        nodes = boxes(picture)
        width, height = float(picture.get("width")), float(picture.get("height"))
        for box in nodes.values():
            self.assertTrue(0 <= box.left < box.right <= width and 0 <= box.top < box.bottom <= height, box)
        for box in nodes.values():
            for other in nodes.values():
                self.assertFalse(box.name < other.name and meet(box, other, gap=4), f"{box} meets {other}")
        for line in picture.iter(SVG + "path"):
            if not line.get("class", "").startswith("edge"):
                continue
            ends = line.get("data-from"), line.get("data-to")
            self.assertLessEqual(set(ends), set(nodes))
            for segment in segments(line.get("d")):
                for box in nodes.values():
                    self.assertFalse(box.name not in ends and meet(box, segment), f"the line {ends} crosses {box}")

    def check_frames(self, picture):
        """Modules lie within one another or apart."""
        frames = [rectangle(r, r.get("data-module")) for r in picture.iter(SVG + "rect") if r.get("class") == "module"]
        for i, a in enumerate(frames):
            for b in frames[i + 1:]:
                inside = a.left < b.left and a.right > b.right and a.top < b.top and a.bottom > b.bottom
                self.assertTrue(inside or not meet(a, b), f"{a} and {b}")
        return [frame.name for frame in frames]

    def models(self):
        """The name and the source of a network with blocks and of every example, with files of the shapes it reads."""
        self.write("net.dl", RESIDUAL)
        yield "net.dl", "net.dl"
        for name in ("mnist", "mnist_mlp"):
            yield name, example(name)
        self.save(x=(64, 10), y=(64, 1))
        yield "linear", example("linear")
        self.save(x=(512, 1024), a=(512, 1024), t=(512, 1024))
        yield "parallel_ops", example("parallel_ops")
        yield "chained", os.path.join(os.path.dirname(example("parallel_ops")), "chained.dl")

    def save(self, **shapes):
        for name, shape in shapes.items():
            np.save(self.path(name + ".npy"), np.zeros(shape, np.float32))

    def check_directions(self, picture):
        """The forward leads down, the backward up, and nothing leads out of the updates, which stand on the right."""
        nodes, parts = boxes(picture), parts_of(picture)
        seen = collections.Counter()
        for line in picture.iter(SVG + "path"):
            if not line.get("class", "").startswith("edge"):
                continue
            a, b = nodes[line.get("data-from")], nodes[line.get("data-to")]
            way = direction(parts[a.name], parts[b.name])
            seen[way] += 1
            if way == "down":
                self.assertLess(a.bottom, b.top, f"{a} to {b}")
            elif way == "up":
                self.assertGreater(a.top, b.bottom, f"{a} to {b}")
            if parts[a.name] == "update":
                self.assertEqual(parts[b.name], "update", f"{a} to {b}")
            pieces = list(segments(line.get("d")))
            self.assertTrue(meet(a, pieces[0], gap=0.1) and meet(b, pieces[-1], gap=0.1), f"the line from {a} to {b}")
        columns = [[box for box in nodes.values() if parts[box.name] in names]
                   for names in (FORWARD, ("saved",), ("backward",), ("update",))]
        for left, right in itertools.combinations([column for column in columns if column], 2):
            self.assertLess(max(box.right for box in left), min(box.left for box in right))
        return seen

    def test_views(self):
        seen = collections.Counter()
        for name, model in self.models():
            for view in VIEWS:
                with self.subTest(model=name, view=view):
                    text = self.picture(model, view)
                    picture = ElementTree.fromstring(text)
                    self.check_places(picture)
                    self.check_frames(picture)
                    seen += self.check_directions(picture)
                    legend = [g for g in picture.iter(SVG + "g") if g.get("class") == "legend"]
                    self.assertEqual(len(legend), 1)
                    shown = {t.text for t in legend[0].iter(SVG + "text")}
                    self.assertLessEqual({"forward", "backward", "saved for the backward", "update"}, shown)
                    for part, fill in FILL.items():
                        nodes = [g for g in picture.iter(SVG + "g") if g.get("class") == f"node {part}"]
                        self.assertTrue(nodes)
                        self.assertEqual({g.find(SVG + "rect").get("fill") for g in nodes}, {fill})
        self.assertGreater(min(seen["down"], seen["up"]), 100)

    def test_a_picture_upside_down_is_found(self):
        """The control of the directions."""
        self.write("net.dl", RESIDUAL)
        for parts in (FORWARD, ("backward",)):
            picture = ElementTree.fromstring(self.picture("net.dl", "ops", "--check"))
            height = float(picture.get("height"))
            for group in picture.iter(SVG + "g"):
                if group.get("class", "").removeprefix("node ") in parts:
                    box = group.find(SVG + "rect")
                    box.set("y", str(height - float(box.get("y")) - float(box.get("height"))))
            with self.assertRaises(AssertionError):
                self.check_directions(picture)

    def test_the_same_bytes(self):
        self.write("net.dl", RESIDUAL)
        kinds = ["graph.svg", "graph.dot", "memory.svg"]
        folders = ["a", "b/c"]
        for folder in folders:
            os.makedirs(self.path(folder))
            shutil.copy(self.path("net.dl"), self.path(folder))
        for view in VIEWS:
            texts = []
            for folder in folders:
                dltools.dlcc("net.dl", f"--view={view}", "--emit=" + ",".join(kinds), cwd=self.path(folder))
                texts.append([self.read(os.path.join(folder, "net." + kind)) for kind in kinds])
            self.assertEqual(texts[0], texts[1], view)

    def test_every_op_once(self):
        """The graph shows the IR behind expand-gradients; constants stand in the boxes that read them, and a gradient is
        what its producer makes."""
        self.write("net.dl", RESIDUAL)
        for model, more in (("net.dl", []), (example("mnist"), []), (example("mnist"), ["--accumulate=3"])):
            picture = ElementTree.fromstring(self.picture(model, "ops", "--check", *more))
            self.dlcc(model, "--check", "--emit=mlir:import=import.mlir", *more)
            ir = dltools.run(os.path.join(dltools.BIN, "dl-opt"), "--split-step", "--canonicalize", "--expand-gradients",
                             "--canonicalize", "--cse", self.path("import.mlir"))
            functions = re.split(r"^  graph\.step ", ir, flags=re.M)[1:]
            ours = [f for f in functions if re.match(r"@train(\.update)?\(", f)]
            wanted = collections.Counter(op for f in ours for op in re.findall(r"^    (?:%\S+(?:, %\S+)* = )?(graph\.\w+)", f, re.M))
            del wanted["graph.full"], wanted["graph.return"], wanted["graph.gradient"]
            self.assertEqual(ops(picture), wanted)
            # Tidied, all are there too: the shape of a bias is in the box that reads the bias.
            for view in ("blocks", "modules"):
                self.assertEqual(ops(ElementTree.fromstring(self.picture(model, view, "--check", *more))), wanted, view)

    def test_every_kernel_once(self):
        self.write("net.dl", RESIDUAL)
        for model in (example("mnist"), example("mnist_mlp"), "net.dl"):
            picture = ElementTree.fromstring(self.picture(model, "kernels", "-o", "net.plan"))
            info = self.info("net.plan")
            train = next(step for step in info["steps"] if step["name"] == "train")
            wanted = collections.Counter(info["kernels"][command["kernel"]]["name"] for command in train["programs"][0]["commands"])
            self.assertEqual(ops(picture), wanted)

    def test_equal_blocks_are_folded(self):
        self.write("net.dl", RESIDUAL)
        folded = ElementTree.fromstring(self.picture("net.dl", "blocks", "--check"))
        whole = ElementTree.fromstring(self.picture("net.dl", "ops", "--check"))
        words = [t.text for t in folded.iter(SVG + "text")]
        self.assertIn("× 4", words)
        self.assertIn("h.0 … h.3", words)
        frames = self.check_frames(folded)
        self.assertIn("h.0.up", frames)
        self.assertNotIn("h.1.up", frames)
        self.assertIn("h.3.up", self.check_frames(whole))
        # Blocks of one kind are an eighth of the picture each.
        block = sum((ops(whole) - ops(folded, folded=False)).values()) / 3
        self.assertEqual(block, int(block))
        self.assertGreater(block, 10)

    def test_equal_blocks_are_folded_in_every_view(self):
        self.write("net.dl", RESIDUAL)
        for view, most in (("modules", 0.6), ("kernels", 0.7)):
            picture = ElementTree.fromstring(self.picture("net.dl", view))
            words = [t.text for t in picture.iter(SVG + "text")]
            self.assertTrue(any(word.startswith("×") for word in words), (view, words))
            drawn, all_of_them = sum(ops(picture, folded=False).values()), sum(ops(picture).values())
            self.assertLess(drawn, most * all_of_them, view)

    def test_blocks_that_are_one_layer(self):
        """Layers of a list with something between them that stands in one line of a loop; the first reads another op."""
        self.write("net.dl", LAYERS)
        for view in ("blocks", "modules", "kernels"):
            picture = ElementTree.fromstring(self.picture("net.dl", view))
            words = [t.text for t in picture.iter(SVG + "text")]
            self.assertIn("× 4", words, view)
            self.assertIn("h.1 … h.4", words, view)
            self.check_places(picture)
            self.check_frames(picture)

    def test_a_tall_graph_shows_modules(self):
        model = LAYERS.replace("return head(x);", "for (int i = 0; i < COUNT; ++i)\n      x = x.sin();\n    return head(x);")
        for count, tall in ((20, False), (300, True)):
            self.write("net.dl", model.replace("COUNT", str(count)))
            said = dltools.call([dltools.DLCC, "net.dl", "--emit=graph.svg=a.svg", "--check"], self.folder).stderr
            text = self.read("a.svg")
            self.assertEqual("more than 16000 pixels high" in said, tall, said)
            self.assertEqual(text == self.picture("net.dl", "modules", "--check"), tall)
            self.assertLess(float(ElementTree.fromstring(text).get("height")), 16000)
        # Asked for by name it is drawn.
        self.assertGreater(float(ElementTree.fromstring(self.picture("net.dl", "ops", "--check")).get("height")), 16000)

    def test_labels_need_no_paint_order(self):
        """Of a label its border is drawn first, as an element of its own: renderers that do not know `paint-order` would draw
        it over the letters."""
        self.write("net.dl", RESIDUAL)
        text = self.picture("net.dl", "blocks", "--check")
        self.assertNotIn("paint-order", text)
        texts = list(ElementTree.fromstring(text).iter(SVG + "text"))
        halos = [i for i, t in enumerate(texts) if t.get("stroke")]
        self.assertTrue(halos)
        for i in halos:
            self.assertEqual(texts[i].get("fill"), "white")
            below, above = texts[i], texts[i + 1]
            self.assertEqual([below.text, below.get("x"), below.get("y")], [above.text, above.get("x"), above.get("y")])
            self.assertIsNone(above.get("stroke"))

    def test_steps(self):
        self.write("net.dl", RESIDUAL)
        picture = ElementTree.fromstring(self.picture("net.dl", "ops", "--check", "--step=test"))
        self.assertIn("step test", picture.find(SVG + "title").text)
        self.assertFalse([g for g in picture.iter(SVG + "g") if g.get("class") in ("node backward", "node saved")])
        self.refuse(2, ["--step=tset", "train, test"], dltools.DLCC, "net.dl", "--emit=graph.svg", "--step=tset")
        self.refuse(2, "did you mean blocks?", dltools.DLCC, "net.dl", "--view=bloks")
        self.refuse(2, "leave it out", dltools.DLCC, "net.dl", "--check", "--emit=memory.svg")
        self.refuse(2, "leave it out", dltools.DLCC, "net.dl", "--check", "--view=kernels", "--emit=graph.svg")

    def test_dot(self):
        self.write("net.dl", RESIDUAL)
        for view in VIEWS:
            dot = self.picture("net.dl", view, kind="graph.dot")
            names = set(re.findall(r'^ +("[^"]+") \[label=', dot, re.M))
            drawn = {f'"{name}"' for name in boxes(ElementTree.fromstring(self.picture("net.dl", view)))}
            self.assertEqual({name for name in names if not name.startswith('"legend/')}, drawn)
            for ends in re.findall(r'^ +("[^"]+") -> ("[^"]+")', dot, re.M):
                self.assertLessEqual(set(ends), names)
            self.assertEqual(dot.count("{"), dot.count("}"))

    @unittest.skipUnless(shutil.which("dot"), "Graphviz is not installed")
    def test_graphviz(self):
        """It draws them without a word, and places them as told: the forward down, the backward up."""
        seen = collections.Counter()
        for name, model in self.models():
            for view in VIEWS if name == "net.dl" else ["ops"]:
                with self.subTest(model=name, view=view):
                    self.write("net.dot", self.picture(model, view, kind="graph.dot"))
                    parts = parts_of(ElementTree.fromstring(self.picture(model, view)))
                    result = dltools.call(["dot", "-Tplain", "net.dot"], self.folder)
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
                    height = {a or b: float(y) for a, b, y in
                              re.findall(r'^node (?:"([^"]+)"|(\S+)) \S+ (\S+)', result.stdout, re.M)}  # upwards
                    for a, b, attributes in re.findall(r'^ +"([^"]+)" -> "([^"]+)" \[(.*)\];', self.read("net.dot"), re.M):
                        if "style=invis" in attributes:
                            continue
                        a, b = (b, a) if "dir=back" in attributes else (a, b)
                        way = direction(parts[a], parts[b])
                        seen[way] += 1
                        if way == "down":
                            self.assertGreater(height[a], height[b], f"{a} to {b}")
                        elif way == "up":
                            self.assertLess(height[a], height[b], f"{a} to {b}")
        self.assertGreater(min(seen["down"], seen["up"]), 50)

    def test_memory(self):
        """The picture has all programs; it names those that --report names, and all temporaries lie apart."""
        self.write("net.dl", RESIDUAL)
        for model, more in (("net.dl", []), (example("mnist"), []), ("net.dl", ["-D", "batch_size=7", "--accumulate=3"])):
            self.dlcc(model, "--emit=memory.svg=m.svg,report.json=r.json", *more)
            drawn = [g for g in ElementTree.fromstring(self.read("m.svg")).iter(SVG + "g") if g.get("class") == "program"]
            steps = json.loads(self.read("r.json"))["steps"]
            # What runs left over items one by one is small, and not drawn.
            kinds = [{program["kind"] for program in step["programs"]} for step in steps]
            left = [{"item", "update"} if "item" in kind else set() for kind in kinds]
            programs = [(step["name"], program) for step, out in zip(steps, left) for program in step["programs"]
                        if program["kind"] not in out]
            self.assertEqual(len(drawn), len(programs))
            self.assertEqual(len({g.get("data-program") for g in drawn}), len(programs))
            for picture, (step, program) in zip(drawn, programs):
                self.assertTrue(picture.get("data-program").startswith(f"step {step}, "))
                self.check_program(picture, program)

    def test_memory_of_one_step(self):
        self.write("net.dl", RESIDUAL)
        self.dlcc("net.dl", "--step=test", "--emit=memory.svg=m.svg")
        drawn = [g.get("data-program") for g in ElementTree.fromstring(self.read("m.svg")).iter(SVG + "g") if g.get("class") == "program"]
        self.assertEqual(drawn, ["step test, batch of 8"])

    def check_program(self, picture, program):
        blocks = [r for r in picture.iter(SVG + "rect") if r.get("class", "").startswith("buffer")]
        alive = {r.find(SVG + "title").text.splitlines()[0] for r in blocks if "peak" in r.get("class").split()}
        self.assertEqual(alive, {item["name"] for item in program["peak"]["alive"]})
        named = [t.text for t in picture.iter(SVG + "text") if t.get("class") == "alive-name"]
        self.assertEqual(len(named), min(16, len(program["peak"]["alive"])))
        self.assertEqual(len([r for r in picture.iter(SVG + "rect") if r.get("class") == "command"]), program["commands"])
        # Rectangles of less than a pixel are drawn larger than they are.
        places = [rectangle(r) for r in blocks if float(r.get("height")) > 0.5]
        for i, a in enumerate(places):
            for b in places[i + 1:]:
                self.assertFalse(meet(a, b, gap=-0.1), f"{a} and {b}")


if __name__ == "__main__":
    unittest.main()
