#!/usr/bin/env python3
"""What a plan must keep to, computed anew from `dlrun info --json` alone.

    plan_facts.py PLAN...

Edges: two commands of a program that touch a common byte of the arena, one of them writing, must be ordered. The edges
that are needed are the transitive reduction of these pairs; a plan has all of them and no others.

Memory: a lower bound of the arena is the heaviest set of buffers of which none is dead (its last uses have happened)
before another one is defined. Whoever shares bytes must be ordered so; all members of such a set have bytes of their own.

Running at once: the temporaries of a program take at most a tenth more than the commands need one by one. What they need
so is searched here, for the plan does not tell: the least of what is alive in the plan's own order, and in two that are made
greedily from the data alone.
"""

import collections
import json
import os
import subprocess
import sys

ALIGNMENT = 64
COST_OF_RUNNING_AT_ONCE = 1.1


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
        ranges = []
        for access in command["accesses"]:
            buffer = info["buffers"][access["buffer"]]
            if buffer["space"] == "arena" and access["bytes"]:
                begin = buffer["offset"] + access["offset"]
                ranges.append((begin, begin + access["bytes"], access["writes"]))
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
    """States, and what programs report, save for predictions, which are read before another program runs."""
    pinned = {state["buffer"] for state in info["states"]}
    for s, _, _, program in programs(info):
        if not info["steps"][s]["predicts"]:
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


def temporaries(info, program, pinned):
    """For each temporary the commands that use it, in the order of the list; a prediction is there until the last."""
    uses = collections.defaultdict(list)
    for c, command in enumerate(program["commands"]):
        for buffer in dict.fromkeys(access["buffer"] for access in command["accesses"]):
            if info["buffers"][buffer]["space"] == "arena" and buffer not in pinned:
                uses[buffer].append(c)
    last = len(program["commands"]) - 1
    for metric in program["metrics"]:
        if uses.get(metric["buffer"], [last])[-1] != last:
            uses[metric["buffer"]].append(last)
    return uses


def temporaries_bound(info, program, pinned, edges=None):
    """What the temporaries need if nothing but `edges`, else those of the plan, orders the commands."""
    order = before(plan_edges(program) if edges is None else edges, len(program["commands"]))
    uses = temporaries(info, program, pinned)
    buffers = list(uses)
    defined = [uses[b][0] for b in buffers]
    used = [sum(1 << c for c in uses[b]) for b in buffers]
    weights = [aligned(info["buffers"][b]["bytes"]) for b in buffers]
    return heaviest_set(weights, lambda i, j: used[i] & ~order[defined[j]] == 0)


def temporaries_extent(info, program, pinned):
    """The bytes from the first temporary to the end of the last one."""
    places = [info["buffers"][b] for b in temporaries(info, program, pinned)]
    return (max((p["offset"] + aligned(p["bytes"]) for p in places), default=0)
            - min((p["offset"] for p in places), default=0))


def data_edges(info, program):
    """Pairs that the bytes of one buffer order, whatever bytes it shares with others."""
    touched = []
    for command in program["commands"]:
        touched.append([(a["buffer"], a["offset"], a["offset"] + a["bytes"], a["writes"]) for a in command["accesses"]
                        if info["buffers"][a["buffer"]]["space"] == "arena"])
    return {(i, j) for j, later in enumerate(touched) for i, earlier in enumerate(touched[:j])
            if any(a == b and c < f and e < d and (w or v) for a, c, d, w in earlier for b, e, f, v in later)}


def unordered(program, edges):
    """Pairs of commands, each worth a thread, that `edges` leave free to run at once."""
    commands = program["commands"]
    order = before(edges, len(commands))
    heavy = [c for c, command in enumerate(commands) if not command["serial"]]
    return {(i, j) for j in heavy for i in heavy if i < j and not order[j] >> i & 1}


def alive_at_most(order, uses, weights):
    """The most bytes of temporaries that are alive at a time if commands run one by one in this order."""
    at = {command: time for time, command in enumerate(order)}
    change = collections.Counter()
    for buffer, commands in uses.items():
        change[min(at[c] for c in commands)] += weights[buffer]
        change[max(at[c] for c in commands) + 1] -= weights[buffer]
    alive = most = 0
    for time in sorted(change):
        alive += change[time]
        most = max(most, alive)
    return most


def greedy_order(program, edges, uses, weights, cost):
    """Of the commands whose predecessors are done always the one with the least cost(bytes taken, bytes given back)."""
    count = len(program["commands"])
    predecessors = collections.defaultdict(set)
    for i, j in edges:
        predecessors[j].add(i)
    of_command = [[b for b in uses if c in uses[b]] for c in range(count)]
    left, done, order = {b: len(commands) for b, commands in uses.items()}, set(), []
    while len(order) < count:
        def price(c):
            taken = sum(weights[b] for b in of_command[c] if left[b] == len(uses[b]))
            given = sum(weights[b] for b in of_command[c] if left[b] == 1)
            return cost(taken, given), c
        chosen = min((c for c in range(count) if c not in done and predecessors[c] <= done), key=price)
        done.add(chosen)
        order.append(chosen)
        for b in of_command[chosen]:
            left[b] -= 1
    return order


def one_by_one(info, program, pinned):
    """What the temporaries need if one command runs at a time: the least of what a few orders need."""
    uses, edges = temporaries(info, program, pinned), data_edges(info, program)
    weights = {b: aligned(info["buffers"][b]["bytes"]) for b in uses}
    orders = [range(len(program["commands"])),
              greedy_order(program, edges, uses, weights, lambda taken, given: taken - given),
              greedy_order(program, edges, uses, weights, lambda taken, given: taken > 0)]
    return min(alive_at_most(order, uses, weights) for order in orders)


def memory_faults(info):
    """Sentences about programs that take more memory to run commands at once than they may."""
    faults, pinned = [], pinned_buffers(info)
    for _, _, name, program in programs(info):
        least, extent = one_by_one(info, program, pinned), temporaries_extent(info, program, pinned)
        if extent > COST_OF_RUNNING_AT_ONCE * least:
            faults.append(f"{name}: {extent} bytes of temporaries, one by one the commands need {least}")
    return faults


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
        for fault in edge_faults(info) + memory_faults(info):
            print(f"  {fault}")
            wrong = True
    sys.exit(wrong)


if __name__ == "__main__":
    main()
