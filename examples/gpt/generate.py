#!/usr/bin/env python3
"""Makes train.txt and valid.txt in a folder: of Shakespeare's plays where they are, else of this project's own texts.

    examples/gpt/generate.py FOLDER [TEXT]

The plays are $DL_DATA/tinyshakespeare/input.txt, or data/tinyshakespeare/input.txt here.
"""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def own_texts():
    """All documentation and sources, in the order of their names."""
    paths = []
    tops = [os.path.join(ROOT, top) for top in ("compiler", "dialects", "examples", "passes", "runtime", "test", "tools")]
    for folder, folders, files in (place for top in tops for place in os.walk(top)):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in ("build", "data"))
        found = [os.path.join(folder, name) for name in sorted(files) if name.endswith((".md", ".h", ".cpp", ".dl"))]
        paths += filter(os.path.isfile, found)
    text = b""
    for path in paths:
        with open(path, "rb") as file:
            text += file.read() + b"\n"
    return text


def main(folder, given=None):
    places = [given] if given else [os.path.join(data, "tinyshakespeare", "input.txt")
                                    for data in (os.environ.get("DL_DATA", ""), os.path.join(ROOT, "data")) if data]
    found = next((path for path in places if os.path.isfile(path)), None)
    if given and not found:
        sys.exit(f"{given}: there is no such file")
    if found:
        with open(found, "rb") as file:
            text = file.read()
    else:
        text = own_texts()
    print(f"{len(text)} bytes of {found or 'the texts of this project'}; the last tenth is for validation")
    os.makedirs(folder, exist_ok=True)
    cut = len(text) * 9 // 10
    for name, part in (("train.txt", text[:cut]), ("valid.txt", text[cut:])):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(part)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
