"""Edges: all that are needed, no others, and a plan without any one of them is refused."""

import os

import dltools
from e2e import support
from . import examples, plan_facts

DROP_EDGE = os.path.join(dltools.BIN, "dl_drop_edge")


class Edges(support.ToolTest):
    def test_examples(self):
        """The edges of every example are those that the bytes ask for."""
        count = 0
        for model in examples.models():
            info = dltools.info(examples.plan(model))
            self.assertEqual(plan_facts.edge_faults(info), [], model)
            count += sum(len(plan_facts.plan_edges(program)) for *_, program in plan_facts.programs(info))
        print(f"[{count} edges] ", end="", flush=True)
        self.assertGreater(count, 50)

    def refused_without(self, plan):
        """Drops each edge of the plan in turn."""
        count = 0
        for s, p, name, program in plan_facts.programs(dltools.info(plan)):
            for dep, command in sorted(plan_facts.plan_edges(program)):
                dltools.run(DROP_EDGE, plan, self.path("broken.plan"), s, p, command, dep)
                result = dltools.call([dltools.DLRUN, "info", self.path("broken.plan")])
                self.assertEqual(result.returncode, 5, f"{name}: without the edge from {dep} to {command}")
                self.assertIn("race", result.stderr)
                self.assertIn(f"command {command} ", result.stderr)
                count += 1
        print(f"[{count} edges dropped] ", end="", flush=True)
        return count

    def test_each_edge_of_the_convnet_is_needed(self):
        self.assertGreater(self.refused_without(examples.plan(examples.example("mnist/mnist.dl"))), 20)

    def test_each_edge_between_independent_products_is_needed(self):
        self.assertGreater(self.refused_without(examples.plan(examples.example("parallel_ops/parallel_ops.dl"))), 4)

    def test_each_edge_of_accumulation_is_needed(self):
        model = examples.example("mnist_mlp/mnist_mlp.dl")
        self.assertGreater(self.refused_without(examples.plan(model, "--accumulate=4", name="-4")), 20)

    def test_control(self):
        """The same tool refuses to drop an edge that there is not, and a plan that is only read stays good."""
        plan = examples.plan(examples.example("parallel_ops/parallel_ops.dl"))
        result = dltools.call([DROP_EDGE, plan, self.path("broken.plan"), 0, 0, 1, 0])
        self.assertEqual(result.returncode, 2)
        self.assertFalse(os.path.exists(self.path("broken.plan")))
