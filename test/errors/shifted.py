"""shifted.py EXIT_CODE SEED COMMAND... MODEL.dl ...: dlcc must say the same wherever the mistake is in the file.

Runs the command on a copy of the model that begins with a random number of blank and comment lines, and prints its
messages with the line numbers that the model itself has: a line that is not shifted with the rest does not match the
expected text. Fails unless the command ends with the exit code.

A comment `// NPY NAME [LENGTH]: HEADER` gives the model a .npy file with that header and no data; LENGTH is what the file
says of its header, where that is not the truth.
"""

import os
import random
import re
import subprocess
import sys
import tempfile

FILLERS = ["", "", "// A comment.", "  // Another one, indented.", "/* A comment of its own kind. */", "\t"]
MOST = 300


def filler(seed, model):
    """Lines that say nothing, by the seed and the model's name."""
    choice = random.Random(f"{seed} {model}")
    return [choice.choice(FILLERS) for _ in range(choice.randint(1, MOST))]


def unshifted(text, model, count):
    """The text with `count` taken from the line numbers of the model."""
    def earlier(match):
        return match[1] + str(int(match[2]) - count) + match[3]
    # "model.dl:23:5", and the number in front of a source line.
    text = re.sub(rf"({re.escape(model)}:)(\d+)(\b)", earlier, text)
    return re.sub(r"^( *)(\d+)( \| )", lambda m: f"{int(m[2]) - count:5d}{m[3]}", text, flags=re.M)


def write_arrays(text, folder):
    """The .npy files that a model asks for."""
    for name, length, header in re.findall(r"^// NPY (\S+?)(?: (\d+))?: (.*)$", text, re.M):
        size = int(length or len(header))
        wide = size > 0xffff  # a header of the second version
        with open(os.path.join(folder, name), "wb") as file:
            file.write(b"\x93NUMPY" + bytes([2 if wide else 1, 0]) + size.to_bytes(4 if wide else 2, "little") + header.encode())


def main(code, seed, command):
    here = os.getcwd()
    model = next(word for word in command if word.endswith(".dl"))
    lines = filler(seed, model)
    with tempfile.TemporaryDirectory(prefix="dl-shifted-") as folder:
        for name in os.listdir(here):  # what the model reads
            if name != model:
                os.symlink(os.path.join(here, name), os.path.join(folder, name))
        with open(model, encoding="utf-8") as file:
            text = file.read()
        write_arrays(text, folder)
        with open(os.path.join(folder, model), "w", encoding="utf-8") as copy:
            copy.write("".join(line + "\n" for line in lines) + text)
        result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(f"{model}: shifted by {len(lines)} lines (seed {seed})", file=sys.stderr)
    print(unshifted(result.stdout, model, len(lines)), end="")
    if result.returncode != code:
        sys.exit(f"exit code {result.returncode} instead of {code}: {' '.join(command)}")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
