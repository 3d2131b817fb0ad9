"""The trace: what it says of each command, and that independent ones run at once."""

import json
import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

import dltools
from e2e import support
from e2e.test_pictures import boxes
from . import examples, plan_facts


def spans(trace):
    return [event for event in trace["traceEvents"] if event["ph"] == "X"]


def commands(trace):
    return [event for event in spans(trace) if "kernel" in event["args"]]


class Trace(support.ToolTest):
    def bench(self, plan, threads, steps, *options):
        self.dlrun("bench", plan, "--threads", threads, "--steps", steps, "--trace", "trace.json", *options)
        with open(self.path("trace.json"), encoding="utf-8") as file:
            return json.load(file)

    def products(self, name):
        """The forward products of a plan with one tile a kernel, and a trace of it."""
        plan = examples.plan(examples.example(f"parallel_ops/{name}.dl"), "--tiles=1", name="-1")
        info = dltools.info(plan)
        self.assertEqual({kernel["tiles"] for kernel in info["kernels"]}, {1})
        (program,) = info["steps"][0]["programs"]
        found = [c for c, command in enumerate(program["commands"])
                 if info["kernels"][command["kernel"]]["strategy"] == "contract"][:2]
        return found, self.bench(plan, 2, 30)

    def overlaps(self, name):
        """In how many runs the two were running at once, and how many runs there were."""
        (first, second), trace = self.products(name)
        runs = {}
        for event in commands(trace):
            if event["args"]["command"] in (first, second):
                runs.setdefault(event["args"]["run"], []).append(event)
        both = 0
        for a, b in runs.values():
            both += a["ts"] < b["ts"] + b["dur"] and b["ts"] < a["ts"] + a["dur"] and a["tid"] != b["tid"]
        print(f"[{name}: at once in {both} of {len(runs)} steps] ", end="", flush=True)
        return both, len(runs)

    def test_order_in_the_plan(self):
        """No chain of edges leads from one independent product to the other; in the twin one does."""
        for name, ordered in (("parallel_ops", False), ("chained", True)):
            info = dltools.info(examples.plan(examples.example(f"parallel_ops/{name}.dl")))
            (program,) = info["steps"][0]["programs"]
            first, second = [c for c, command in enumerate(program["commands"])
                             if info["kernels"][command["kernel"]]["strategy"] == "contract"][:2]
            before = plan_facts.before(plan_facts.plan_edges(program), len(program["commands"]))
            self.assertEqual(bool(before[second] >> first & 1), ordered, name)

    def drawn(self, name):
        """Its ops as DOT and as SVG, and the two products of the forward."""
        model = examples.example(f"parallel_ops/{name}.dl")
        dot, svg = self.path("a.dot"), self.path("a.svg")
        dltools.dlcc(model, "--check", f"--emit=graph.dot={dot},graph.svg={svg}", "--view=ops", cwd=examples.data(model))
        with open(dot, encoding="utf-8") as file:
            text = file.read()
        return text, ElementTree.parse(svg), sorted(re.findall(r'^ *"(matmul[^"/]*)" \[', text, re.M))

    def reached(self, text, start):
        """All nodes that arrows of a DOT lead to from one; those of the backward are written the other way round."""
        after = {}
        for a, b, attributes in re.findall(r'^ *"([^"]+)" -> "([^"]+)" \[(.*)\];', text, re.M):
            if "style=invis" not in attributes:  # else it only places its nodes
                a, b = (b, a) if "dir=back" in attributes else (a, b)
                after.setdefault(a, set()).add(b)
        seen, queue = set(), [start]
        while queue:
            node = queue.pop()
            if node not in seen:
                seen.add(node)
                queue.extend(after.get(node, ()))
        return seen

    def test_picture(self):
        """In the DOT no path leads from k = a @ b to z = x @ y or back; in the twin one does."""
        for name, ordered in (("parallel_ops", False), ("chained", True)):
            text, _, (first, second) = self.drawn(name)
            self.assertGreater(len(self.reached(text, first)), 3)
            self.assertEqual(second in self.reached(text, first), ordered, name)
            self.assertNotIn(first, self.reached(text, second), name)

    def test_side_by_side(self):
        """In the SVG k = a @ b stands beside z = x @ y, on one height; in the twin one stands below the other."""
        for name, ordered in (("parallel_ops", False), ("chained", True)):
            _, picture, (first, second) = self.drawn(name)
            nodes = boxes(picture)
            a, b = nodes[first], nodes[second]
            middle = (a.top + a.bottom) / 2
            self.assertEqual(b.top < middle < b.bottom, not ordered, name)
            if ordered:
                self.assertLess(a.bottom, b.top)
            else:
                self.assertTrue(a.right < b.left or b.right < a.left, f"{a} and {b}")

    @unittest.skipUnless(shutil.which("dot"), "Graphviz is not installed")
    def test_side_by_side_for_graphviz(self):
        """So does Graphviz place them."""
        for name, ordered in (("parallel_ops", False), ("chained", True)):
            text, _, (first, second) = self.drawn(name)
            plain = subprocess.run(["dot", "-Tplain"], input=text, stdout=subprocess.PIPE, text=True, check=True).stdout
            places = {a or b: (float(x), float(y))
                      for a, b, x, y in re.findall(r'^node (?:"([^"]+)"|(\S+)) (\S+) (\S+)', plain, re.M)}
            (x, y), (u, v) = places[first], places[second]
            if ordered:
                self.assertGreater(y, v + 0.5, name)  # upwards, in inches
            else:
                self.assertEqual(y, v, name)
                self.assertGreater(abs(x - u), 0.5, name)

    def test_independent_products_overlap(self):
        # Other programs may keep a core for as long as a bench takes, but not for all of five:
        # products that wait for each other are at once in none.
        for _ in range(5):
            both, runs = self.overlaps("parallel_ops")
            self.assertEqual(runs, 40)
            if both > runs / 2:
                return
        self.fail("the machine is busy, or they are not independent")

    def test_the_twin_shows_no_overlap(self):
        both, runs = self.overlaps("chained")
        self.assertEqual((both, runs), (0, 40))

    def test_every_command_is_described(self):
        """Each run of each command stands in it whole, with its place in the model and its cost."""
        plan = examples.plan(examples.example("mnist/mnist.dl"))
        info = dltools.info(plan)
        trace = self.bench(plan, 2, 20)
        rows = {event["tid"]: event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
        self.assertEqual(rows, {0: "thread 0", 1: "thread 1", 2: "steps"})
        (program,) = [p for s in info["steps"] if s["training"] for p in s["programs"]]
        tiles = {}
        for event in commands(trace):
            args = event["args"]
            begin, end, total = map(int, re.fullmatch(r"(\d+) to (\d+) of (\d+)", args["tiles"]).groups())
            command = program["commands"][args["command"]]
            kernel = info["kernels"][command["kernel"]]
            source = info["sources"][command["ops"][0]]
            self.assertEqual((kernel["name"], kernel["tiles"]), (args["kernel"], total))
            self.assertEqual(event["name"], "/".join(filter(None, (source["module"], source["op"]))))
            self.assertEqual(args["line"], source["location"])
            self.assertAlmostEqual(args["flops"], kernel["flops"] * (end - begin) / total, delta=1)
            self.assertAlmostEqual(args["bytes"], kernel["bytes"] * (end - begin) / total, delta=1)
            self.assertAlmostEqual(args["expected_us"] / (command["seconds"] * 1e6 * (end - begin) / total), 1, delta=1e-4)
            self.assertIn(event["tid"], (0, 1))
            tiles.setdefault((args["run"], args["command"]), []).extend(range(begin, end))
        names = {event["name"] for event in commands(trace)}
        self.assertLessEqual({"conv1/conv2d", "conv2/conv2d", "fc1/matmul", "fc2/matmul"}, names)
        self.assertRegex(commands(trace)[0]["args"]["line"], r"mnist\.dl:\d+:\d+$")
        self.assertEqual(len(tiles), 30 * len(program["commands"]))
        for (_, number), ran in tiles.items():
            kernel = info["kernels"][program["commands"][number]["kernel"]]
            self.assertEqual(sorted(ran), list(range(kernel["tiles"])))

    def test_dependencies_are_kept(self):
        """No command begins before those it waits for have ended."""
        plan = examples.plan(examples.example("mnist/mnist.dl"))
        (program,) = [p for s in dltools.info(plan)["steps"] if s["training"] for p in s["programs"]]
        first, last = {}, {}
        for event in commands(self.bench(plan, 3, 20)):
            key = event["args"]["run"], event["args"]["command"]
            first[key] = min(first.get(key, event["ts"]), event["ts"])
            last[key] = max(last.get(key, 0), event["ts"] + event["dur"])
        for run, number in first:
            for dep in program["commands"][number]["deps"]:
                self.assertLessEqual(last[run, dep], first[run, number] + 0.001)

    def test_utilisation(self):
        """The counter adds up to the time that commands took."""
        trace = self.bench(examples.plan(examples.example("parallel_ops/parallel_ops.dl")), 2, 10)
        counters = [e for e in trace["traceEvents"] if e["ph"] == "C"]
        self.assertTrue(all(0 <= e["args"]["threads"] <= 2.001 for e in counters))
        length = counters[1]["ts"] - counters[0]["ts"]
        busy = sum(e["args"]["threads"] for e in counters) * length
        self.assertAlmostEqual(busy, sum(e["dur"] for e in commands(trace)), delta=0.01 * busy + length)

    def test_ring(self):
        """A long run keeps the latest commands and says how many it has dropped."""
        plan = examples.plan(examples.example("linear/linear.dl"))
        info = dltools.info(plan)
        commands_a_step = len([s for s in info["steps"] if s["training"]][0]["programs"][0]["commands"])
        steps = 70000 // commands_a_step
        trace = self.bench(plan, 1, steps, "-q")
        self.assertEqual(trace["otherData"]["dropped_events"], (steps + 10) * commands_a_step - 65536)
        self.assertEqual(max(event["args"]["update"] for event in commands(trace)), steps + 9)

    def test_unwritable_trace_is_found_first(self):
        plan = examples.plan(examples.example("linear/linear.dl"))
        result = dltools.call([dltools.DLRUN, "bench", plan, "--trace", "nowhere/t.json"], cwd=self.folder)
        self.assertEqual(result.returncode, 4)
        self.assertIn("nowhere", result.stderr)
        self.assertFalse(os.path.exists(self.path("nowhere")))


class Serial(support.ToolTest):
    def test_small_step_is_serial(self):
        """A step too small to share is marked so, and threads that there are leave it alone."""
        plan = examples.plan(examples.example("linear/linear.dl"))
        for step in dltools.info(plan)["steps"]:
            for program in step["programs"]:
                self.assertTrue(all(command["serial"] for command in program["commands"]))
        (event,) = [e for e in self.events("bench", plan, "--threads", 2, "--steps", 200) if e["event"] == "bench"]
        self.assertEqual(event["tiles_per_thread"][1], 0)
