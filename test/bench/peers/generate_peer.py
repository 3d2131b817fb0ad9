"""GPT-2 that goes on with tokens in PyTorch, with keys and values kept where they belong: what generate.py compares with.

    generate_peer.py FOLDER THREADS eager|compile NEW_TOKENS f32|bf16

Takes the likeliest token each time. Eager code attends to the positions that there are, compiled code to all with a mask, so
that shapes stay. JSON on stdout; what was compiled or read for the first time is not counted.
"""

import json
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

HEADS, LENGTH, PROMPT = 12, 1024, [15496, 11, 314]


class Gpt2:
    def __init__(self, weights, dtype):
        self.weights = {name: torch.from_numpy(value).to(dtype) for name, value in weights.items()}
        self.depth = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("h."))
        self.width = self.weights["wte.weight"].shape[1]
        shape = self.depth, 1, HEADS, LENGTH, self.width // HEADS
        self.keys, self.values = torch.zeros(shape, dtype=dtype), torch.zeros(shape, dtype=dtype)
        self.places = torch.arange(LENGTH)

    def norm(self, x, name):
        return F.layer_norm(x, (self.width,), self.weights[name + ".weight"], self.weights[name + ".bias"])

    def linear(self, x, name):
        return torch.addmm(self.weights[name + ".bias"], x, self.weights[name + ".weight"])

    def attend(self, layer, qkv, place, all_positions):
        q, k, v = (part.view(1, HEADS, 1, -1) for part in qkv.split(self.width, 1))
        if all_positions:
            here = (self.places == place).view(1, 1, LENGTH, 1)
            self.keys[layer].copy_(torch.where(here, k, self.keys[layer]))
            self.values[layer].copy_(torch.where(here, v, self.values[layer]))
            seen = (self.places <= place).view(1, LENGTH)
            return F.scaled_dot_product_attention(q, self.keys[layer], self.values[layer], attn_mask=seen)
        self.keys[layer][:, :, place] = k[:, :, 0]
        self.values[layer][:, :, place] = v[:, :, 0]
        return F.scaled_dot_product_attention(q, self.keys[layer][:, :, :place + 1], self.values[layer][:, :, :place + 1])

    def __call__(self, token, place, all_positions):
        x = (self.weights["wte.weight"][token] + self.weights["wpe.weight"][place]).view(1, -1)
        for layer in range(self.depth):
            name = f"h.{layer}."
            y = self.attend(layer, self.linear(self.norm(x, name + "ln_1"), name + "attn.c_attn"), place, all_positions)
            x = x + self.linear(y.reshape(1, -1), name + "attn.c_proj")
            y = F.gelu(self.linear(self.norm(x, name + "ln_2"), name + "mlp.c_fc"), approximate="tanh")
            x = x + self.linear(y, name + "mlp.c_proj")
        return F.linear(self.norm(x, "ln_f"), self.weights["wte.weight"])[0]


def main():
    folder, threads, mode, count, dtype = sys.argv[1:]
    torch.set_num_threads(int(threads))
    model = Gpt2(np.load(f"{folder}/weights.npz"), {"f32": torch.float32, "bf16": torch.bfloat16}[dtype])
    step = torch.compile(model) if mode == "compile" else model

    def run(new_tokens):
        tokens = list(PROMPT)
        for place in range(len(PROMPT) + new_tokens - 1):
            at = torch.tensor(place) if mode == "compile" else place
            logits = step(torch.tensor(tokens[place]), at, mode == "compile")
            if place + 1 == len(tokens):
                tokens.append(int(logits.argmax()))
        return tokens

    with torch.no_grad():
        run(2)
        started = time.perf_counter()
        tokens = run(int(count))
        seconds = time.perf_counter() - started
    print(json.dumps({"tokens": tokens, "a_second": int(count) / seconds, "version": torch.__version__}))


if __name__ == "__main__":
    main()
