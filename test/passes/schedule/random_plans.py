#!/usr/bin/env python3
"""Random plans through the schedule's passes, checked by brute force.

    random_plans.py [--seed S] [--count N] [--dl-opt PROGRAM]

Edges of add-dependencies: enough (every conflicting pair of commands is
ordered) and none too many (without any one of them verify-races refuses the
plan). Offsets of place-buffers: what lives at once does not overlap, and the
arena stays within 1.15 of the bytes that live at once (a tenth more where
commands may run at once). Where a remark says that commands may run at once,
bytes order no two of those that are worth a thread and that data leave free.
"""

import argparse
import random
import re
import subprocess
import sys

BLOCK = 64
SEPARATOR = "// -----\n"


class Plan:
    """Buffers as [first block, blocks], commands as lists of (buffer, first block in it, blocks, writes)."""

    def __init__(self, rng, blocks, commands):
        self.buffers, self.commands, self.states = [], [], []
        owner = {}
        for block in range(rng.randint(1, 3)):
            self.states.append(self.add_buffer(block, 1))
            owner[block] = block
        first = len(self.states)
        for _ in range(commands):
            intact = [(b, at, size) for b, (start, length) in enumerate(self.buffers) for at in range(length)
                      for size in range(1, length - at + 1)
                      if all(owner.get(start + i) == b for i in range(at, at + size))]
            command = [(*r, False) for r in rng.sample(intact, min(len(intact), rng.randint(0, 3)))]
            taken = {self.buffers[b][0] + i for b, at, size, _ in command for i in range(at, at + size)}
            # What is written: an operand, more of a buffer that is there, or a new one, all of it or a part.
            choice = rng.random()
            older = [(b, at, 1) for b, (start, length) in enumerate(self.buffers) for at in range(length)
                     if length > 1 and start + at not in taken]
            if command and choice < 0.25 and not any(
                    self.buffers[b][0] + i in {self.buffers[c][0] + j for c, to, n, _ in command[1:] for j in range(to, to + n)}
                    for b, at, size, _ in command[:1] for i in range(at, at + size)):
                command.append((*command[0][:3], True))
            elif older and choice < 0.5:
                command.append((*rng.choice(older), True))
            else:
                size = rng.randint(1, 3)
                start = rng.choice([s for s in range(first, blocks - size) if not taken & set(range(s, s + size))])
                at = rng.randrange(size) if rng.random() < 0.3 else 0
                length = rng.randint(1, size - at) if rng.random() < 0.3 else size - at
                command.append((self.add_buffer(start, size), at, length, True))
            b, at, size, _ = command[-1]
            for i in range(at, at + size):
                owner[self.buffers[b][0] + i] = b
            self.commands.append(command)

    def add_buffer(self, start, size):
        self.buffers.append((start, size))
        return len(self.buffers) - 1

    def text(self, edges=None, offsets=True, serial=()):
        """As IR; buffers that no command names are left out. `serial`: commands that are not worth a thread."""
        used = {binding[0] for command in self.commands for binding in command} | set(self.states)
        lines = [f'plan.plan "p" f32 arena {1 << 20 if offsets else 0} parameters 0 machine "" {{']
        for b in sorted(used):
            start, size = self.buffers[b]
            offset = f" offset {start * BLOCK}" if offsets else ""
            pinned = " pinned" if b in self.states else ""
            lines.append(f'%b{b} = plan.buffer "b{b}" arena bytes {size * BLOCK}{offset}{pinned}')
            if b in self.states:
                lines.append(f'plan.state "s{b}" buffer in %b{b} : tensor<16xf32> dims [] '
                             "init <zero, 0.0 : f64, 0.0 : f64, key = 0>")
        for c, command in enumerate(self.commands):
            bytes_ = ", ".join(str(size * BLOCK) for _, _, size, _ in command)
            writes = ", ".join(str(w).lower() for _, _, _, w in command)
            lines.append(f'plan.kernel @k{c} "" tiles 1 scratch 0 bindings [{bytes_}] writes [{writes}] '
                         "flops 0 bytes 0")
        lines.append('plan.step "train" training dataset 0 accumulate 1 {\nplan.program full batch 1 {')
        for c, command in enumerate(self.commands):
            bindings = ", ".join(f"%b{b}" + (f"[{at * BLOCK}, {size * BLOCK}]" if size != self.buffers[b][1] else "")
                                 for b, at, size, _ in command)
            after = ", ".join(f"%c{d}" for d in (edges or {}).get(c, []))
            lines.append(f"%c{c} = plan.launch @k{c}({bindings})" + (f" after({after})" if after else "")
                         + (" serial" if c in serial else ""))
        return "\n".join(lines) + "\n}\n}\n}\n"

    def conflicts(self):
        """Pairs of commands that must be ordered."""
        def overlap(x, y):
            s, t = self.buffers[x[0]][0] + x[1], self.buffers[y[0]][0] + y[1]
            return s < t + y[2] and t < s + x[2]
        return {(i, j) for j, later in enumerate(self.commands) for i, earlier in enumerate(self.commands[:j])
                if any((x[3] or y[3]) and overlap(x, y) for x in earlier for y in later)}

    def data_edges(self):
        """For each command those before it that the bytes of one buffer order, wherever it lies."""
        return {j: [i for i, earlier in enumerate(self.commands[:j])
                    if any((x[3] or y[3]) and x[0] == y[0] and x[1] < y[1] + y[2] and y[1] < x[1] + x[2]
                           for x in earlier for y in later)]
                for j, later in enumerate(self.commands)}


def run(program, text, *passes):
    return subprocess.run([program, "-", "--split-input-file", *passes], input=text, capture_output=True, text=True)


def edges_of(text):
    """{command: [commands it comes after]} from printed IR."""
    names, edges = {}, {}
    for name, _, after in re.findall(r"(%\w+) = plan\.launch @k(\d+)\([^)]*\)(?: after\(([^)]*)\))?", text):
        names[name] = len(names)
        edges[names[name]] = [names[d.strip()] for d in after.split(",")] if after else []
    return edges


def reachable(edges):
    before = {}
    for c in sorted(edges):
        before[c] = set(edges[c]).union(*(before[d] for d in edges[c]))
    return before


def check_edges(program, plans):
    result = run(program, SEPARATOR.join(p.text() for p in plans), "--add-dependencies", "--verify-races")
    if result.returncode:
        return "refused: " + result.stderr
    mutants = []
    for plan, text in zip(plans, result.stdout.split(SEPARATOR)):
        edges = edges_of(text)
        before = reachable(edges)
        missing = [(i, j) for i, j in plan.conflicts() if i not in before[j]]
        if missing or len(edges) != len(plan.commands):
            return f"not ordered: {missing} in\n{text}"
        for c, deps in edges.items():
            for dep in deps:
                mutants.append(plan.text({**edges, c: [d for d in deps if d != dep]}))
    result = run(program, SEPARATOR.join(mutants), "--verify-races")
    caught = result.stderr.count("are not ordered")
    print(f"{len(plans)} plans, {len(mutants)} edges, {caught} missed when left out")
    return None if caught == len(mutants) else f"{len(mutants) - caught} edges are not needed"


def check_offsets(program, plans, serial):
    result = run(program, SEPARATOR.join(p.text(offsets=False, serial=range(len(p.commands)) if serial else ()) for p in plans), "--place-buffers",
                 "--add-dependencies", "--verify-races")
    if result.returncode:
        return "refused: " + result.stderr
    worst = 0
    for plan, text in zip(plans, result.stdout.split(SEPARATOR)):
        arena = int(re.search(r"arena (\d+) parameters", text).group(1))
        uses = {}
        for c, command in enumerate(plan.commands):
            for b, *_ in command:
                uses.setdefault(b, []).append(c)
        alive = [sum(plan.buffers[b][1] * BLOCK for b, at in uses.items()
                     if b not in plan.states and at[0] <= c <= at[-1]) for c in range(len(plan.commands))]
        bound = max(alive) + (len(plan.states) + 1) * BLOCK
        worst = max(worst, arena / bound)
    limit = 1.15 if serial else 1.15 * 1.1  # running at once may cost a tenth
    print(f"arena at most {worst:.2f} of what lives at once")
    return None if worst <= limit else "the arena is too large"


def check_at_once(program, plans, rng):
    free = 0
    for plan in plans:
        serial = {c for c in range(len(plan.commands)) if rng.random() < 0.3}
        result = run(program, plan.text(offsets=False, serial=serial), "--place-buffers", "--add-dependencies")
        said = re.search(r"may run at once(?: with the next (\d+))?:", result.stderr)
        if not said:
            continue
        by_data, in_plan = reachable(plan.data_edges()), reachable(edges_of(result.stdout))
        worthy = [c for c in range(len(plan.commands)) if c not in serial]
        for at, j in enumerate(worthy):
            for i in worthy[max(at - int(said[1] or 64), 0):at]:
                if i not in by_data[j]:
                    free += 1
                    if i in in_plan[j]:
                        return f"bytes order {i} and {j}:\n{result.stdout}"
    print(f"{free} pairs of commands may run at once")
    return None if free > len(plans) else "hardly any commands may run at once"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--dl-opt", default="dl-opt")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    plans = [Plan(rng, rng.randint(24, 32), rng.randint(2, 24)) for _ in range(arguments.count)]
    error = (check_edges(arguments.dl_opt, plans) or check_offsets(arguments.dl_opt, plans, serial=True)
             or check_offsets(arguments.dl_opt, plans, serial=False) or check_at_once(arguments.dl_opt, plans, rng))
    if error:
        sys.exit(error)


main()
