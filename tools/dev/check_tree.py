#!/usr/bin/env python3
"""Fails on what the style of CONTRIBUTING.md forbids and a script can see.

    tools/dev/check_tree.py [--staged] [ROOT]

Lengths of files and functions; passes: name = file = test, a description with an example; `assert` in the compiler, which
a release build leaves out; clang-format. With --staged only the files that are about to be committed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

from check_includes import files

# Lines at which a file stops.
FILE_LINES = {".cpp": 600, ".h": 300, ".hpp": 300, ".td": 400, ".py": 600, ".sh": 300}
FUNCTION_LINES = 80
# Files, and functions as path:name, that are longer: each with its reason.
LONGER = {
    "test/compiler/OpCases.cpp:makeCases": "a table with a row for each case",
    "runtime/api/dlrun.hpp": "its users copy one file",
}

# The compiler is built with LLVM's NDEBUG; see dialects/graph/Check.h.
NO_ASSERT = ("compiler/", "dialects/", "passes/", "tools/dlcc/", "tools/dl-opt/")
NO_ASSERT_BUT = ("compiler/dsl/",)


def blanked(text):
    """C++ without the content of comments, literals and preprocessor lines; every line stays where it is."""
    token = re.compile(r'''//[^\n]*|/\*.*?\*/|R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"'''
                       r"""|(?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.)*'|^[ \t]*\#(?:[^\n\\]|\\.)*""", re.S | re.M)

    def blank(match):
        lines = "\n" * match[0].count("\n")
        return '""' + lines if match[0][0] in "\"R'" else lines
    return token.sub(blank, text)


TYPE = re.compile(r"\b(class|struct|union|enum)\b")


def kind_of(head):
    """What a brace opens at the level of a file, a namespace or a class."""
    head = re.sub(r"\s+", " ", head).strip()
    if re.search(r"\bnamespace\b[^()]*$", head) or head == 'extern ""':
        return "namespace"
    if head.endswith(("=", ",", "(")) or re.search(r"\]\s*$", head):
        return "other"
    without_template = re.sub(r"^template <.*?> (?=\w)", "", head)
    if TYPE.search(without_template) and not re.search(r"\)[\w\s&]*$", without_template):
        return "type"
    return "function" if "(" in head else "other"


def functions(text):
    """(name, first line, lines) of each function that is defined in C++ text; lambdas belong to theirs."""
    text = blanked(text)
    found, stack, head_from, line = [], [], 0, 1
    for match in re.finditer(r"[{};\n]", text):
        at, mark = match.start(), match[0]
        if mark == "\n":
            line += 1
        elif mark == "{":
            inside = stack and stack[-1][0] in ("function", "other")
            head = text[head_from:at]
            stack.append(("other" if inside else kind_of(head), head, line))
            head_from = at + 1
        elif mark == "}":
            if stack:
                kind, head, first = stack.pop()
                if kind == "function":
                    begin = first - head.lstrip().count("\n")
                    named = re.search(r"((?:[\w~]+::)*(?:operator\W+|[\w~]+))\s*\(", head)
                    found.append((named[1] if named else "?", begin, line - begin + 1))
            head_from = at + 1
        elif not stack or stack[-1][0] in ("namespace", "type"):
            head_from = at + 1
    return found


def check_lengths(path, text):
    extension = os.path.splitext(path)[1]
    stop = FILE_LINES[extension]
    longer = {path: (path, text.count("\n"), stop)} if text.count("\n") > stop else {}
    for name, first, lines in functions(text) if extension in (".cpp", ".h") else []:
        if lines > FUNCTION_LINES:
            longer[f"{path}:{name}"] = (f"{path}:{first}: {name}", lines, FUNCTION_LINES)
    errors = [f"{where}: {lines} lines, stop at {stop}" for key, (where, lines, stop) in longer.items() if key not in LONGER]
    return errors + [f"{key}: is listed as longer in tools/dev/check_tree.py, and is not" for key in LONGER
                     if key.split(":")[0] == path and key not in longer]


def check_asserts(path, text):
    if not path.startswith(NO_ASSERT) or path.startswith(NO_ASSERT_BUT) or not path.endswith((".cpp", ".h")):
        return []
    text = blanked(text)
    return [f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match[1]} is no check in a release build; use DL_CHECK"
            for match in re.finditer(r"\b(assert|llvm_unreachable|report_fatal_error)\(", text)]


PASS = re.compile(r'def (\w+)\s*:\s*Pass<"([^"]+)"(.*?)^}', re.S | re.M)


def camel(name):
    return "".join(word.capitalize() for word in name.split("-"))


def check_passes(path, text, every):
    """`every`: all files of the tree."""
    errors, folder = [], os.path.dirname(path)
    for match in PASS.finditer(text):
        definition, name, body = match.groups()
        where = f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {name}"
        if definition != camel(name):
            errors.append(f"{where}: its definition is {definition}, not {camel(name)}")
        if f"{folder}/{camel(name)}.cpp" not in every:
            errors.append(f"{where}: there is no {folder}/{camel(name)}.cpp")
        if not any(re.fullmatch(rf"test/.*/{re.escape(name)}\.mlir", file) for file in every):
            errors.append(f"{where}: there is no {name}.mlir below test")
        description = re.search(r"let description = \[\{(.*?)\}\]", body, re.S)
        if not description or "```" not in description[1]:
            errors.append(f"{where}: it has no description with an example")
    return errors


def formatter():
    """clang-format of the version that the tree is formatted with."""
    for tool in ("clang-format-22", "clang-format"):
        if shutil.which(tool):
            version = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
            if re.search(r"version 22\.", version):
                return tool
    return None


def check_format(root, paths):
    tool = formatter()
    if not tool:
        print("note: clang-format 22 is not installed; the format is not checked")
        return []
    errors = []
    for first in range(0, len(paths), 100):
        result = subprocess.run([tool, "--dry-run", *paths[first:first + 100]], cwd=root, capture_output=True, text=True)
        places = re.findall(r"^(.+?):(\d+):\d+: warning: code should be clang-formatted", result.stderr, re.M)
        for path in dict.fromkeys(path for path, _ in places):
            line = next(line for other, line in places if other == path)
            errors.append(f"{path}:{line}: is not as {tool} -i makes it")
        if result.returncode:
            errors.append(f"{tool}: {result.stderr.strip()}")
    return errors


def staged(root):
    listed = subprocess.run(["git", "-C", root, "diff", "--cached", "--name-only", "--diff-filter=d"], capture_output=True,
                            text=True, check=True)
    return listed.stdout.splitlines()


def check(root, only=None):
    """`only`: the files to look at; None for all."""
    every = set(files(root))
    paths = sorted(every if only is None else every & set(only))
    errors = []
    for path in paths:
        if os.path.splitext(path)[1] not in FILE_LINES:
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        errors += check_lengths(path, text) + check_asserts(path, text)
        if path.endswith(".td"):
            errors += check_passes(path, text, every)
    return errors + check_format(root, [path for path in paths if path.endswith((".cpp", ".h", ".hpp", ".c"))])


def main(arguments):
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--staged", action="store_true", help="only what is about to be committed")
    parser.add_argument("root", nargs="?", default=os.path.join(here, "..", ".."))
    options = parser.parse_args(arguments)
    errors = check(options.root, staged(options.root) if options.staged else None)
    for error in errors:
        print(f"error: {error}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
