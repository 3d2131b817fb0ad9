#!/usr/bin/env python3
"""What a plan must keep to, computed anew from `dlrun info --json` alone.

    plan_facts.py PLAN...

Edges: two commands of a program that touch a common byte of the arena, one of them writing, must be ordered. The edges
that are needed are the transitive reduction of these pairs; a plan has all of them and no others.

Memory: a lower bound of the arena is the heaviest set of buffers of which none is dead (its last uses have happened)
before another one is defined. Whoever shares bytes must be ordered so; all members of such a set have bytes of their own.
"""

import collections
import json
import os
import subprocess
import sys

ALIGNMENT = 64


def aligned(count):
    return (count + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def programs(info):
    """(step number, program number, name, program) of all programs."""
    for s, step in enumerate(info["steps"]):
        for p, program in enumerate(step["programs"]):
            yield s, p, f"{step['name']} {program['phase']}", program


def accesses(info, program):
    """For each command the ranges of the arena it touches: (begin, end, writes)."""
    result = []
    for command in program["commands"]:
        writes = info["kernels"][command["kernel"]]["writes"]
        ranges = []
        for index, written in zip(command["bindings"], writes):
            buffer = info["buffers"][index]
            if buffer["space"] == "arena" and buffer["bytes"]:
                ranges.append((buffer["offset"], buffer["offset"] + buffer["bytes"], written))
        result.append(ranges)
    return result


def conflicts(info, program):
    """Pairs (i, j), i before j in the list, that must be ordered."""
    touched = accesses(info, program)
    return {(i, j) for j, later in enumerate(touched) for i, earlier in enumerate(touched[:j])
            if any((w or v) and a < d and c < b for a, b, w in earlier for c, d, v in later)}


def before(edges, count):
    """For each command the set, as bits, of those that happen before it."""
    result = []
    predecessors = collections.defaultdict(list)
    for i, j in edges:
        predecessors[j].append(i)
    for j in range(count):
        bits = 0
        for i in predecessors[j]:
            bits |= result[i] | 1 << i
        result.append(bits)
    return result


def needed_edges(info, program):
    """The pairs that no chain of other pairs implies."""
    pairs = conflicts(info, program)
    known = before(pairs, len(program["commands"]))
    predecessors = collections.defaultdict(list)
    for i, j in pairs:
        predecessors[j].append(i)
    return {(i, j) for i, j in pairs if not any(known[k] >> i & 1 for k in predecessors[j] if k != i)}


def plan_edges(program):
    return {(dep, c) for c, command in enumerate(program["commands"]) for dep in command["deps"]}


def edge_faults(info):
    """Sentences about pairs that are not ordered and about edges that nobody needs."""
    faults = []
    for _, _, name, program in programs(info):
        edges = plan_edges(program)
        order = before(edges, len(program["commands"]))
        for i, j in sorted(conflicts(info, program)):
            if not order[j] >> i & 1:
                faults.append(f"{name}: commands {i} and {j} share bytes and are not ordered")
        for i, j in sorted(edges - needed_edges(info, program)):
            faults.append(f"{name}: the edge from {i} to {j} is not needed")
    return faults


def pinned_buffers(info):
    """States, and what programs report."""
    pinned = {state["buffer"] for state in info["states"]}
    for _, _, _, program in programs(info):
        pinned |= {metric["buffer"] for metric in program["metrics"]}
        pinned |= {flag["buffer"] for flag in program["errors"]}
    return pinned


class Flow:
    """Largest flow from node 0 to node 1 (Dinic)."""

    def __init__(self, nodes):
        self.edges = [[] for _ in range(nodes)]  # [to, capacity, position of the way back]

    def add(self, a, b, capacity):
        self.edges[a].append([b, capacity, len(self.edges[b])])
        self.edges[b].append([a, 0, len(self.edges[a]) - 1])

    def levels(self):
        level = [-1] * len(self.edges)
        level[0] = 0
        queue = collections.deque([0])
        while queue:
            node = queue.popleft()
            for to, capacity, _ in self.edges[node]:
                if capacity and level[to] < 0:
                    level[to] = level[node] + 1
                    queue.append(to)
        return level

    def push(self, node, most, level, at):
        if node == 1:
            return most
        while at[node] < len(self.edges[node]):
            edge = self.edges[node][at[node]]
            to, capacity, back = edge
            if capacity and level[to] == level[node] + 1:
                pushed = self.push(to, min(most, capacity), level, at)
                if pushed:
                    edge[1] -= pushed
                    self.edges[to][back][1] += pushed
                    return pushed
            at[node] += 1
        return 0

    def largest(self):
        total = 0
        while True:
            level = self.levels()
            if level[1] < 0:
                return total
            at = [0] * len(self.edges)
            while True:
                pushed = self.push(0, float("inf"), level, at)
                if not pushed:
                    break
                total += pushed


def heaviest_set(weights, precedes):
    """The weight of the heaviest set without a pair in `precedes`, a transitive relation: by Dilworth's theorem with
    weights, all of it less the largest flow along pairs."""
    count = len(weights)
    flow = Flow(2 + 2 * count)
    for i, weight in enumerate(weights):
        flow.add(0, 2 + i, weight)
        flow.add(2 + count + i, 1, weight)
        for j in range(count):
            if precedes(i, j):
                flow.add(2 + i, 2 + count + j, float("inf"))
    return sum(weights) - flow.largest()


def temporaries_bound(info, program, pinned):
    order = before(plan_edges(program), len(program["commands"]))
    uses = collections.defaultdict(list)
    for c, command in enumerate(program["commands"]):
        for buffer in command["bindings"]:
            if info["buffers"][buffer]["space"] == "arena" and buffer not in pinned:
                uses[buffer].append(c)
    buffers = list(uses)
    defined = [uses[b][0] for b in buffers]
    used = [sum(1 << c for c in set(uses[b])) for b in buffers]
    weights = [aligned(info["buffers"][b]["bytes"]) for b in buffers]
    return heaviest_set(weights, lambda i, j: used[i] & ~order[defined[j]] == 0)


def memory_bound(info):
    """Bytes that no arena with this order of commands can go below. Its end is followed by what kernels may read too
    much."""
    pinned = pinned_buffers(info)
    fixed = sum(aligned(info["buffers"][b]["bytes"]) for b in pinned)
    return ALIGNMENT + fixed + max((temporaries_bound(info, program, pinned) for _, _, _, program in programs(info)), default=0)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    here = os.path.dirname(os.path.abspath(__file__))
    tools = os.environ.get("DL_BIN", os.path.join(here, "..", "..", "build", "release", "bin"))
    wrong = False
    for plan in sys.argv[1:]:
        text = subprocess.run([os.path.join(tools, "dlrun"), "info", plan, "--json"], stdout=subprocess.PIPE, check=True).stdout
        info = json.loads(text)
        edges = sum(len(plan_edges(program)) for _, _, _, program in programs(info))
        bound = memory_bound(info)
        print(f"{plan}: {edges} edges; arena {info['arena_bytes']} bytes, {info['arena_bytes'] / bound:.3f} of the bound")
        for fault in edge_faults(info):
            print(f"  {fault}")
            wrong = True
    sys.exit(wrong)


if __name__ == "__main__":
    main()
