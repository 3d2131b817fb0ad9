#!/usr/bin/env python3
"""Makes train.bin and val.bin in a folder, in llm.c's form, of the texts that examples/gpt learns.

    examples/gpt2/generate.py FOLDER [TEXT]

A token is one of GPT-2's where the package tiktoken is installed, else a byte: of these OpenAI's weights make nothing.
"""

import array
import os
import subprocess
import sys
import tempfile

GPT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "gpt", "generate.py")


def encoder():
    """Tokens of a text, and what they are."""
    try:
        import tiktoken
    except ImportError:
        return lambda text: list(text), "bytes: tiktoken, which knows GPT-2's tokens, is not installed"
    gpt2 = tiktoken.get_encoding("gpt2")
    return lambda text: gpt2.encode_ordinary(text.decode("utf-8", "replace")), "GPT-2's"


def write(path, tokens):
    with open(path, "wb") as file:
        array.array("i", [20240520, 1, len(tokens)] + [0] * 253).tofile(file)
        array.array("H", tokens).tofile(file)


def main(folder, *text):
    encode, kind = encoder()
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as texts:
        if code := subprocess.run([sys.executable, GPT, texts, *text]).returncode:
            sys.exit(code)
        for source, name in (("train.txt", "train.bin"), ("valid.txt", "val.bin")):
            with open(os.path.join(texts, source), "rb") as file:
                tokens = encode(file.read())
            write(os.path.join(folder, name), tokens)
            print(f"{name}: {len(tokens)} tokens, {kind}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
