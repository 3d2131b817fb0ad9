"""Pictures of many devices: the predicted course of a pipeline, and what each class of ranks does."""

import collections
import os
import re
import unittest
import xml.etree.ElementTree as ElementTree

import numpy as np

import dltools
from e2e.support import ToolTest, example

WIDE = """#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;
struct Layer : nn::Module {
  nn::Linear fc{512, 512};
  dl::Tensor forward(dl::Tensor x) { return F::relu(fc(x)); }
};
struct Net : nn::Module {
  nn::Sequential h{Layer{}, Layer{}, Layer{}, Layer{}, Layer{}, Layer{}, Layer{}, Layer{}};
  dl::Tensor forward(dl::Tensor x) { return h(x); }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "x.npy"}, {.batch_size = 256});
  Net model;
  dl::optim::Adam optimizer(model.parameters(), {.lr = 0.0001});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::mse_loss(model(b[0]), b[1]);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""
SVG = "{http://www.w3.org/2000/svg}"


def classes(element):
    return element.get("class", "").split()


class DevicePictures(ToolTest):
    def setUp(self):
        super().setUp()
        dltools.run("python3", os.path.join(dltools.ROOT, "examples", "mlp_mesh", "generate.py"), self.folder)

    def picture(self, *options):
        self.dlcc(example("mlp_mesh"), "-o", "m.plan", *options)
        with open(self.path("p.svg"), encoding="utf-8") as file:
            self.text = file.read()
        return ElementTree.fromstring(self.text)

    def fragments(self, root):
        """{(row, kind, micro): (begin, end)}"""
        found = {}
        for rect in root.iter(SVG + "rect"):
            if "fragment" in classes(rect):
                x, y, width = (float(rect.get(key)) for key in ("x", "y", "width"))
                found[y, classes(rect)[1], int(rect.get("data-micro"))] = (x, x + width)
        return found

    def test_timeline(self):
        for schedule, micros in (("gpipe", 4), ("1f1b", 4), ("1f1b", 2), ("zb-h1", 4)):
            root = self.picture(f"--schedule={schedule}", f"--microbatches={micros}", "--emit=timeline.svg=p.svg")
            found = self.fragments(root)
            rows = sorted({y for y, _, _ in found})
            self.assertEqual(len(rows), 2)
            counts = collections.Counter((y, kind) for y, kind, _ in found)
            for y in rows:
                self.assertEqual((counts[y, "forward"], counts[y, "weights"], counts[y, "update"]), (micros, micros, 1))
            first, second = rows
            # No stage waits for what the first one makes backward: all of it is for its weights.
            self.assertEqual((counts[first, "backward"], counts[second, "backward"]), (0, micros))
            ends = [max(found[y, "forward", m][1] for m in range(1, micros + 1)) for y in rows]
            for m in range(1, micros + 1):  # what comes in was made before
                self.assertLessEqual(found[first, "forward", m][1], found[second, "forward", m][0] + 0.02)
                self.assertLessEqual(found[second, "forward", m][1], found[second, "backward", m][0] + 0.02)
                self.assertLessEqual(found[second, "backward", m][1], found[first, "weights", m][0] + 0.02)
                self.assertLessEqual(found[second, "backward", m][1], found[second, "weights", m][0] + 0.02)
                if schedule == "zb-h1" and m < micros:  # one micro-batch later
                    self.assertLessEqual(found[second, "backward", m + 1][1], found[second, "weights", m][0] + 0.02)
                if schedule == "gpipe":
                    self.assertGreaterEqual(found[second, "backward", m][0] + 0.02, ends[1])
            if schedule != "gpipe":
                self.assertLess(found[second, "backward", 1][0], ends[1])
            # Nothing of a row lies on top of another, and the idle share is what is left.
            for y in rows:
                spans = sorted(span for (row, _, _), span in found.items() if row == y)
                for before, after in zip(spans, spans[1:]):
                    self.assertLessEqual(before[1], after[0] + 0.02)
            begin, end = min(s[0] for s in found.values()), max(s[1] for s in found.values())
            idle = 1 - sum(s[1] - s[0] for s in found.values()) / (2 * (end - begin))
            said = float(re.search(r"idle ([\d.]+) %", self.text)[1])
            self.assertAlmostEqual(idle * 100, said, delta=0.3)
            # With F = B = W: (S - 1)(F + B) and, of ZB-H1, (S - 1)(F + B - W) beside M (F + B + W).
            waits = 1 if schedule == "zb-h1" else 2
            self.assertIn(f"({100 * waits / (3 * micros + waits):.1f} % if all", self.text)
            again = self.text
            self.picture(f"--schedule={schedule}", f"--microbatches={micros}", "--emit=timeline.svg=p.svg")
            self.assertEqual(again, self.text)

    def test_timeline_of_several_stages_on_each_rank(self):
        self.write("wide.dl", WIDE)
        np.save(self.path("x.npy"), np.zeros((256, 512), np.float32))
        for schedule, stages, waits in (("interleaved", ((0, 2), (1, 3)), 2), ("zb-v", ((0, 3), (1, 2)), 1)):
            self.dlcc("wide.dl", "--mesh=pp=2", "--microbatches=4", f"--schedule={schedule}", "--emit=timeline.svg=p.svg", "-o", "m.plan")
            with open(self.path("p.svg"), encoding="utf-8") as file:
                text = file.read()
            # With equal phases: 2 (S - 1) of their 24, on each rank, are waited; by zb-v half of that.
            self.assertIn(f"({100 * waits / (24 + waits):.1f} % if all", text)
            rows = collections.defaultdict(list)
            for rect in ElementTree.fromstring(text).iter(SVG + "rect"):
                if rect.get("data-stage"):
                    rows[float(rect.get("y"))].append((int(rect.get("data-stage")), int(rect.get("data-micro")), classes(rect)[1]))
            for (_, drawn), own in zip(sorted(rows.items()), stages):
                self.assertEqual({stage for stage, _, _ in drawn}, set(own))
                self.assertEqual(len(drawn), len(set(drawn)))
                self.assertEqual({micro for _, micro, _ in drawn}, {1, 2, 3, 4})
                self.assertIn(f"stages {own[0]}, {own[1]}", text)

    def test_idle_share_of_the_commands(self):
        """Where products outweigh exchanges, gradients of weights fill waits of the schedule: nearly all, but for gpipe's, whose
        backward begins where all are behind the forward."""
        self.write("wide.dl", WIDE)
        np.save(self.path("x.npy"), np.zeros((256, 512), np.float32))
        idle = {}
        for schedule in "gpipe", "1f1b", "interleaved", "zb-h1", "zb-v":
            self.dlcc("wide.dl", "--mesh=pp=2", "--microbatches=4", f"--schedule={schedule}", "--emit=timeline.svg=p.svg", "-o", "m.plan")
            with open(self.path("p.svg"), encoding="utf-8") as file:
                text = file.read()
            drawn = float(re.search(r"idle ([\d.]+) %", text)[1])
            idle[schedule] = float(re.search(r"step after step: [\d.]+ [µm]s, idle ([\d.]+) %", text)[1])
            self.assertLess(idle[schedule], drawn, schedule)
        for fills in "1f1b", "zb-h1", "zb-v":
            self.assertLess(idle[fills], 0.5 * idle["gpipe"], idle)
        self.assertLess(idle["interleaved"], 0.75 * idle["gpipe"], idle)
        self.assertGreater(idle["gpipe"], 5, idle)

    def test_columns_of_devices(self):
        root = self.picture("--view=devices", "--emit=graph.svg=p.svg")
        columns = [g for g in root.iter(SVG + "g") if "device" in classes(g)]
        info = self.info("m.plan")
        self.assertEqual(len(columns), len(info["plans"]))
        titles = [column.find(SVG + "text").text for column in columns]
        self.assertEqual(titles[0], "ranks 0, 1, 4, 5" if len(columns) == 2 else titles[0])
        for column in columns:
            boxes = [rect for rect in column.iter(SVG + "rect") if "communication" in classes(rect)]
            self.assertTrue(boxes)
            for box in boxes:
                self.assertRegex(box.find(SVG + "title").text, r"^\w+ over (dp|tp|pp)(, \w+)*\n[\d.]+ (B|kB|MB)")
            places = sorted(float(rect.get("y")) for rect in column.iter(SVG + "rect") if "rx" in rect.attrib and rect.get("class"))
            for above, below in zip(places, places[1:]):
                self.assertGreaterEqual(below - above, 36)
        self.assertTrue([line for line in root.iter(SVG + "line") if "exchange" in classes(line)])
        self.refuse(2, "graph.svg", dltools.DLCC, example("mlp_mesh"), "--view=devices", "--emit=graph.dot")
        self.refuse(2, "leave it out", dltools.DLCC, example("mlp_mesh"), "--check", "--emit=timeline.svg")

    def test_communication_among_kernels(self):
        self.picture("--view=kernels", "--emit=graph.svg=p.svg")
        self.assertIn("all_to_all over tp", self.text)
        self.assertRegex(self.text, r"over dp")
        self.picture("--mesh", "pp=1", "--microbatches=1", "--view=kernels", "--emit=graph.svg=p.svg")
        self.assertNotIn(" over ", self.text)


if __name__ == "__main__":
    unittest.main()
