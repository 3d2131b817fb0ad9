"""dlrun generate: each new token is what p.predict() of the same function finds likeliest behind the window of all before it."""

import json
import os
import subprocess
import unittest

import numpy as np

import dltools
from . import support

USAGE, UNAVAILABLE, IO = 2, 3, 4
LENGTH, VOCABULARY = 24, 32

# %(mix)s makes x, which is [B, L, 32], of itself.
MODEL = support.HEAD + """
struct Net : nn::Module {
  nn::Embedding wte{%(vocabulary)d, 32}, wpe{40, 32};
  nn::LayerNorm ln{32};
  nn::Linear qkv{32, 96}, kv{32, 16}, proj{32, 32}, up{32, 64}, down{64, 32}, head{32, %(vocabulary)d};
  nn::LSTM lstm{32, 32, {.batch_first = true}};
  nn::MultiheadAttention mha{32, 4, {.batch_first = true}};
  nn::Conv1d conv{32, 32, 3}, groups{32, 32, 3, {.groups = 4}}, strided{32, 32, 3, {.stride = 2}}, causal{32, 32, 3, {.padding = 2}}, spread{32, 32, 3, {.padding = 4, .dilation = 2, .groups = 32}};
  dl::Buffer tril{dl::tril(dl::ones({40, 40}))};
  nn::Parameter learned{dl::zeros({1, 40, 32})}, pairs{dl::zeros({%(length)d * %(length)d, 4})};
  nn::Embedding distance{47, 4}, differences{63, 32};

  // Rotary positions, as in LLaMA (Su et al., "RoFormer", 2021).
  static dl::Tensor rotate(dl::Tensor x) {
    auto half = x.size(-1) / 2;
    auto rates = (dl::arange(half).to(x.dtype()) * (-1.0 / half)).exp();
    auto angles = dl::arange(x.size(-2)).to(x.dtype()).unsqueeze(1) * rates;
    auto [a, b] = x.chunk<2>(2, -1);
    return dl::cat({a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()}, -1);
  }
  dl::Tensor mix(dl::Tensor x, dl::Tensor ids) {
    auto heads = [](dl::Tensor t, dl::i64 count = 4) { return t.unflatten(-1, {count, -1}).transpose(1, 2); };
    dl::i64 length = x.size(1);
    auto unseen = dl::arange(length).unsqueeze(1).lt(dl::arange(length));
    auto [q, k, v] = qkv(x).chunk<3>(3, -1);
    %(mix)s
  }
  dl::Tensor forward(dl::Tensor tokens) {
    auto x = wte(tokens) + %(places)s;
    for (int layer = 0; layer < 2; ++layer) {
      x = x + proj(mix(ln(x), tokens));
      x = x + down(F::gelu(up(ln(x))));
    }
    return head(ln(x));
  }
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TokenDataset("text.%(file)s", {.length = %(length)d, .batch_size = 4});
  Net net;
  for (auto &parameter : net.parameters())
    if (parameter.dim() > 1)
      nn::init::normal_(parameter, 0, 0.4);
  dl::optim::Adam optimizer(net.parameters(), {.lr = %(lr)g});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(net(b.data).flatten(0, 1), b.target.flatten());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
  p.generate("text", data, [&](dl::Batch b) { return net(b.data); });
  p.predict("logits", data, [&](dl::Batch b) { return net(b.data); });
}
"""
MERGED = ".transpose(1, 2).flatten(2)"
CAUSAL = "return F::scaled_dot_product_attention(heads(q), heads(k), heads(v), {.is_causal = true})" + MERGED + ";"
MIXES = {
    "causal": CAUSAL,
    "grouped": "return F::scaled_dot_product_attention(heads(q), heads(kv(x), 2), heads(kv(x * 2), 2), "
               "{.is_causal = true, .enable_gqa = true})" + MERGED + ";",
    "masked": "return F::scaled_dot_product_attention(heads(q), heads(k), heads(v), "
              "{.attn_mask = tril.narrow(0, 0, length).narrow(1, 0, length).gt(0)})" + MERGED + ";",
    "added": "return F::scaled_dot_product_attention(heads(q), heads(k), heads(v), "
             "{.attn_mask = dl::zeros({length, length}).masked_fill(unseen, -dl::inf)})" + MERGED + ";",
    "written_out": "auto scores = heads(q).matmul(heads(k).transpose(-2, -1)) / 3.0;"
                   "return scores.masked_fill(unseen, -dl::inf).softmax(-1).matmul(heads(v))" + MERGED + ";",
    "rotary": "return F::scaled_dot_product_attention(rotate(heads(q)), rotate(heads(k)), heads(v), {.is_causal = true})"
              + MERGED + ";",
    "module": "return mha(x, x, x, {.attn_mask = unseen, .need_weights = false}).output;",
    "einsum": "auto scores = dl::einsum(\"bhqd,bhkd->bhqk\", heads(q), heads(k)) / 3.0;"
              "return dl::einsum(\"bhqk,bhkd->bhqd\", scores.masked_fill(unseen, -dl::inf).softmax(-1), heads(v))" + MERGED + ";",
    "local": "auto far = (dl::arange(length).unsqueeze(1) - dl::arange(length)).ge(5);"
             "return F::scaled_dot_product_attention(heads(q), heads(k), heads(v), "
             "{.attn_mask = unseen.logical_or(far).logical_not()})" + MERGED + ";",
    # A bias for each distance, as in T5, and a table of all pairs of positions.
    "distances": "auto far = dl::arange(length) - dl::arange(length).unsqueeze(1) + 23;"
                 "auto bias = distance(far).permute({2, 0, 1}).masked_fill(unseen, -dl::inf);"
                 "return F::scaled_dot_product_attention(heads(q), heads(k), heads(v), {.attn_mask = bias})" + MERGED + ";",
    "pairs": "auto bias = pairs.view({length, length, 4}).permute({2, 0, 1}).masked_fill(unseen, -dl::inf);"
             "return F::scaled_dot_product_attention(heads(q), heads(k), heads(v), {.attn_mask = bias})" + MERGED + ";",
    # A bias for each pair of tokens: integers are kept, too, which are indices.
    "tokens": "auto bias = q.matmul(differences.weight.t()).gather(-1, ids.unsqueeze(2) - ids.unsqueeze(1) + 31);"
              "return (q.matmul(k.transpose(-2, -1)) / 6.0 + bias).masked_fill(unseen, -dl::inf).softmax(-1).matmul(v);",
    "linear": "auto seen = unseen.logical_not().to(x.dtype());"  # attention without a softmax, a sum over all earlier ones
              "return (q.matmul(k.transpose(-2, -1)) * seen).matmul(v) / 50.0;",
    # States that go from position to position, and what a filter covers.
    "recurrence": "return dl::linear_recurrence(q.sigmoid(), k, 1) * v;",
    "cumsum": "return x.cumsum(1) / 10.0;",
    "cumprod": "return (1 - q.sigmoid() / 20).cumprod(1) * v;",
    "state_space": "auto a = (-k.exp().unsqueeze(-1) * dl::tensor({0.1, 0.7})).exp();"
                   "return (dl::linear_recurrence(a, q.unsqueeze(-1) * v.narrow(2, 0, 2).unsqueeze(2), 1) * dl::tensor({1.0, -2.0})).sum(-1);",
    "convolution": "return causal(x.transpose(1, 2)).narrow(2, 0, length).transpose(1, 2) + dl::linear_recurrence(0.5, x, 1);",
    "groups": "return groups(F::pad(x.transpose(1, 2), {2, 0})).transpose(1, 2);",
    "padded": "return conv(F::pad(x.transpose(1, 2), {2, 0})).transpose(1, 2);",
    "apart": "return spread(x.transpose(1, 2)).narrow(2, 0, length).transpose(1, 2);",
}
# What several positions of are needed for one.
BY_WINDOWS = {
    "lstm": ("return lstm(x).output;", "made of several ones"),
    "cummax": ("return x.cummax(1).values;", "made of several ones"),
    "best": ("return x.cummax(1).values * q;", "made of several ones"),
    "shifted": ("return F::pad(x, {0, 0, 1, -1});", "made of several ones"),
}
NOT_CAUSAL = {
    "all": "return F::scaled_dot_product_attention(heads(q), heads(k), heads(v))" + MERGED + ";",
    "reversed": "return x.flip({1});",
    "strided": "return F::pad(strided(F::pad(x.transpose(1, 2), {2, 0})), {0, 12}).transpose(1, 2);",
    "centred": "return F::pad(conv(x.transpose(1, 2)), {1, 1}).transpose(1, 2);",
    "from_the_end": "return dl::linear_recurrence(0.5, x, 1, true);",
    # The first row sees itself alone, and later ones the next.
    "ahead": "auto i = dl::arange(length); auto sees = i.unsqueeze(1).ge(i).logical_or(i.unsqueeze(1).eq(2).logical_and(i.eq(3)));"
             "return F::scaled_dot_product_attention(heads(q), heads(k), heads(v), {.attn_mask = sees})" + MERGED + ";",
}


class Generate(support.ToolTest):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(3)
        self.text = random.integers(0, VOCABULARY, 4 * LENGTH + 1, np.uint8)
        self.write_bytes("text.txt", self.text.tobytes())

    def write_bytes(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)

    def compiled(self, mix, *options, said="", **values):
        values = {"vocabulary": VOCABULARY, "length": LENGTH, "file": "txt", "places": "wpe(dl::arange(tokens.size(1)))",
                  "mix": mix, "lr": 0.001, **values}
        self.write("m.dl", MODEL % values)
        result = dltools.call([dltools.DLCC, "m.dl", *options], cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(said, result.stderr)
        self.assertEqual("take a whole window" in result.stderr, bool(said), result.stderr)
        self.dlrun("m.plan", "-q", "--steps", 2, "--save-final", "w.safetensors")

    def tokens(self, *options):
        lines = self.dlrun("generate", "m.plan", "--init", "w.safetensors", "--json", *options).splitlines()
        events = [json.loads(line) for line in lines]
        self.assertEqual(events[-1]["event"], "end")
        return [event["tokens"] for event in events if event["event"] == "sample"]

    def logits(self, tokens, dtype=np.uint8):
        """Of a window's tokens, by the step that takes all of them at once."""
        window = np.zeros(LENGTH + 1, dtype)
        window[:len(tokens)] = tokens
        self.write_bytes("window.txt", window.tobytes())
        self.dlrun("predict", "m.plan", "--init", "w.safetensors", "--data", "logits=window.txt", "--out", "l.npy", "-q")
        return np.load(self.path("l.npy"))[0]

    def check_greedy(self):
        """The likeliest token each time, up to a full window, behind texts of several lengths."""
        found = set()
        for length in 1, 3, 10, LENGTH - 1:
            prompt = self.text[:length].tolist()
            (tokens,) = self.tokens("--tokens", ",".join(map(str, prompt)), "--temperature", 0, "--max-new-tokens", LENGTH - length)
            self.assertEqual(tokens[:length], prompt)
            self.assertEqual(tokens[length:], self.logits(tokens).argmax(-1)[length - 1:-1].tolist())
            found |= set(tokens[length:])
        self.assertGreater(len(found), 3) # or it would show little

    def steps(self):
        return {step["name"]: step for step in json.loads(self.dlrun("info", "m.plan", "--json"))["steps"]}

    def test_token_by_token(self):
        for name, mix in MIXES.items():
            with self.subTest(name):
                self.compiled(mix)
                self.assertTrue(self.steps()["text"]["by_position"])
                self.check_greedy()

    def test_window_by_window(self):
        for name, (mix, why) in BY_WINDOWS.items():
            with self.subTest(name):
                self.compiled(mix, said=why)
                self.assertFalse(self.steps()["text"]["by_position"])
                self.check_greedy()

    def test_positions_of_a_table(self):
        for places in "learned.narrow(1, 0, tokens.size(1))", "wpe.weight.narrow(0, 0, tokens.size(1))", "wpe(tokens * 0 + 7)":
            with self.subTest(places):
                self.compiled(CAUSAL, places=places)
                self.check_greedy()

    def test_long_windows(self):
        """From 512 rows on training computes causal attention in blocks of them, and here there is one row."""
        self.write_bytes("text.txt", np.tile(self.text, 40).tobytes())
        self.compiled(CAUSAL, length=700, places="wte(tokens)")
        self.assertTrue(self.steps()["text"]["by_position"])
        (tokens,) = self.tokens("--tokens", "5,17,2", "--temperature", 0, "--max-new-tokens", 9)
        window = np.zeros(701, np.uint8)
        window[:12] = tokens
        self.write_bytes("window.txt", window.tobytes())
        self.dlrun("predict", "m.plan", "--init", "w.safetensors", "--data", "logits=window.txt", "--out", "l.npy", "-q")
        self.assertEqual(tokens[3:], np.load(self.path("l.npy"))[0].argmax(-1)[2:11].tolist())

    def test_bf16_meshes_and_unfused(self):
        for options in ["--dtype=bf16"], ["--mesh", "dp=2"], ["-fno-fuse"], ["--accumulate=2"]:
            with self.subTest(options):
                self.compiled(CAUSAL, *options)
                if options != ["--dtype=bf16"]:
                    self.check_greedy()
                    continue
                # (Two logits may be as near as their rounding.)
                (tokens,) = self.tokens("--tokens", "5,17,2", "--temperature", 0, "--max-new-tokens", LENGTH - 3)
                logits = self.logits(tokens)[2:-1]
                chosen = logits[np.arange(len(logits)), tokens[3:]]
                np.testing.assert_allclose(chosen, logits.max(-1), rtol=0, atol=2**-6 * np.abs(logits).max())

    def test_what_is_made_of_weights_is_made_once(self):
        self.compiled(CAUSAL, "--dtype=bf16")
        states = json.loads(self.dlrun("info", "m.plan", "--json"))["states"]
        kept = {state["name"]: state["dtype"] for state in states if state["role"] in ("cache", "prepared")}
        self.assertEqual(set(kept.values()), {"bf16"})
        self.assertIn("generate.text.up.prepared", " ".join(kept))
        # Of the weights at hand: others say something else; a text that is read at once leaves rounded keys, too.
        prompt = ",".join(map(str, self.text[:LENGTH - 4]))
        options = "--tokens", prompt, "--temperature", 0, "--max-new-tokens", 3
        (before,) = self.tokens(*options)
        self.dlrun("m.plan", "-q", "--steps", 0, "--seed", 5, "--save-final", "w.safetensors")
        (after,) = self.tokens(*options)
        self.assertNotEqual(before, after)
        self.assertEqual([after], self.tokens(*options, "--isa", "v3"))
        logits = self.logits(after)[LENGTH - 5:LENGTH - 2]
        chosen = logits[np.arange(len(logits)), after[LENGTH - 4:]]
        np.testing.assert_allclose(chosen, logits.max(-1), rtol=0, atol=2**-6 * np.abs(logits).max())

    @unittest.skipUnless(os.path.isdir(dltools.EMULATED), "there is no emulated GPU")
    def test_on_a_gpu(self):
        self.compiled(CAUSAL)
        self.dlcc("m.dl", "--target=cuda:source")

        def run(*arguments):
            return dltools.run(dltools.DLRUN, *map(str, arguments), cwd=self.folder, env=dltools.emulated())
        lines = run("generate", "m.plan", "--init", "w.safetensors", "--json", "--tokens", "5,17,2", "--temperature", 0,
                    "--max-new-tokens", 9).splitlines()
        tokens = json.loads(lines[0])["tokens"]
        self.write_bytes("window.txt", np.array(tokens + [0] * (LENGTH + 1 - len(tokens)), np.uint8).tobytes())
        run("predict", "m.plan", "--init", "w.safetensors", "--data", "logits=window.txt", "--out", "l.npy", "-q")
        self.assertEqual(tokens[3:], np.load(self.path("l.npy"))[0].argmax(-1)[2:11].tolist())

    def test_a_long_prompt_is_read_at_once(self):
        self.compiled(CAUSAL)
        prompt = self.text[:LENGTH - 4].tolist()
        said = ",".join(map(str, prompt))
        (tokens,) = self.tokens("--tokens", said, "--temperature", 0, "--max-new-tokens", 4, "--trace", "t.json")
        with open(self.path("t.json"), encoding="utf-8") as file:
            names = {event.get("name") for event in json.load(file)["traceEvents"]}
        self.assertLessEqual({"text", "text.window"}, names)
        self.assertEqual(tokens[len(prompt):], self.logits(tokens).argmax(-1)[len(prompt) - 1:-1].tolist())
        (tokens,) = self.tokens("--tokens", "5", "--max-new-tokens", 4, "--trace", "t.json")
        with open(self.path("t.json"), encoding="utf-8") as file:
            self.assertNotIn("text.window", {event.get("name") for event in json.load(file)["traceEvents"]})

    def test_full_windows_go_on_without_their_first_quarter(self):
        self.compiled(CAUSAL)
        count = 2 * LENGTH
        (tokens,) = self.tokens("--tokens", "5,17,2", "--temperature", 0, "--max-new-tokens", count)
        for size in LENGTH + 1, LENGTH + 5, LENGTH + LENGTH // 4, LENGTH + LENGTH // 4 + 1, count:
            quarter = LENGTH // 4
            begin = -(-(size - LENGTH) // quarter) * quarter
            seen = tokens[begin:size]
            self.assertLessEqual(len(seen), LENGTH)
            self.assertEqual(tokens[size], self.logits(seen)[len(seen) - 1].argmax(), size)
        # A prompt that is longer than a window, too.
        prompt = ",".join(str(token) for token in tokens[:LENGTH + 5])
        (again,) = self.tokens("--tokens", prompt, "--temperature", 0, "--max-new-tokens", 6)
        self.assertEqual(again, tokens[:LENGTH + 11])
        # Where windows are read as a whole it is the last tokens that count.
        self.compiled(BY_WINDOWS["lstm"][0], said="made of several ones")
        (tokens,) = self.tokens("--tokens", "5,17,2", "--temperature", 0, "--max-new-tokens", LENGTH + 5)
        for size in LENGTH, LENGTH + 1, LENGTH + 5:
            self.assertEqual(tokens[size], self.logits(tokens[size - LENGTH:size])[-1].argmax(), size)

    def test_samples(self):
        self.compiled(CAUSAL)
        options = ["--tokens", "1,2", "--max-new-tokens", 30]
        three = self.tokens(*options, "--samples", 3, "--seed", 7)
        self.assertEqual(len(three), 3)
        self.assertEqual(len({tuple(tokens) for tokens in three}), 3)
        self.assertEqual(self.tokens(*options, "--seed", 7), three[:1])
        self.assertEqual(self.tokens(*options, "--seed", 7, "--threads", 1), three[:1])
        self.assertNotEqual(self.tokens(*options, "--seed", 8), three[:1])
        # One candidate is the likeliest, as temperature 0 is.
        greedy = self.tokens(*options, "--temperature", 0)
        self.assertEqual(self.tokens(*options, "--top-k", 1, "--seed", 7), greedy)
        self.assertEqual(self.tokens(*options, "--top-p", 1e-9, "--seed", 7), greedy)
        self.assertEqual(self.tokens(*options, "--min-p", 1, "--seed", 7), greedy)
        self.assertNotEqual(three[:1], greedy)

    def test_repetition_is_penalized(self):
        self.compiled(CAUSAL)
        (tokens,) = self.tokens("--tokens", "5,17,2", "--temperature", 0, "--repetition-penalty", 3, "--max-new-tokens", LENGTH - 3)
        logits = self.logits(tokens).astype(float)
        for size in range(3, LENGTH):
            row, written = logits[size - 1], tokens[:size]
            row[written] = np.where(row[written] > 0, row[written] / 3, row[written] * 3)
            self.assertEqual(tokens[size], row.argmax(), size)
        self.assertNotEqual([tokens], self.tokens("--tokens", "5,17,2", "--temperature", 0, "--max-new-tokens", LENGTH - 3))

    def ends(self, *options):
        events = map(json.loads, self.dlrun("generate", "m.plan", "--init", "w.safetensors", *options, "--json").splitlines())
        return [(event["tokens"], event["finish_reason"]) for event in events if event["event"] == "sample"]

    def test_stops(self):
        self.compiled(CAUSAL)
        options = ["--tokens", "5,17,2", "--temperature", 0, "--max-new-tokens", 40]
        ((whole, reason),) = self.ends(*options)
        self.assertEqual((len(whole), reason), (43, "length"))
        for stops in [whole[20]], [17, whole[15], whole[25]], [17, 5]:  # 17 and 5 are in the prompt, which is no end
            size = next((i + 1 for i in range(3, 43) if whole[i] in stops), 43)
            reason = "stop" if whole[size - 1] in stops else "length"
            self.assertEqual(self.ends(*options, "--stop-tokens", ",".join(map(str, stops))), [(whole[:size], reason)])
        drawn = self.ends("--tokens", "5", "--samples", 8, "--temperature", 9, "--stop-tokens", "1,2,3,4,5,6,7,8")
        self.assertEqual({reason for _, reason in drawn}, {"stop"})
        self.assertGreater(len({len(tokens) for tokens, _ in drawn}), 1)
        self.fails(USAGE, "--stop: here tokens are numbers; --stop-tokens", "--tokens", "1", "--stop", "a")
        self.fails(USAGE, "token 32 of a text's end: the model knows 0 to 31", "--tokens", "1", "--stop-tokens", "3,32")
        self.assertEqual(self.ends(*options, "--stop-tokens", 31, "--stop-tokens", whole[20]),
                         self.ends(*options, "--stop-tokens", f"31,{whole[20]}"))

    def test_draws_follow_the_logits(self):
        """Of 400 first tokens each has about its chance."""
        self.compiled(CAUSAL)
        drawn = [tokens[-1] for tokens in
                 self.tokens("--tokens", "1,2", "--max-new-tokens", 1, "--samples", 400, "--temperature", 2, "--top-k", 5)]
        logits = self.logits([1, 2])[1] / 2
        likeliest = np.sort(logits)[-5:]
        chances = np.where(logits >= likeliest[0], np.exp(logits - logits.max()), 0)
        chances /= chances.sum()
        counts = np.bincount(drawn, minlength=VOCABULARY)
        self.assertTrue(np.all(counts[chances == 0] == 0))
        deviation = np.sqrt(400 * chances * (1 - chances)) + 1e-9
        self.assertLess(np.max(np.abs(counts - 400 * chances) / deviation), 5)

    def test_text_and_folders_of_runs(self):
        self.write_bytes("text.txt", b"to be or not to be, " * 30)
        self.compiled(CAUSAL, vocabulary=256, lr=0.01)
        self.dlrun("m.plan", "-q", "--epochs", 30, "--out", "run")
        said = self.dlrun("generate", "run", "--text", "to be ", "--temperature", 0, "--max-new-tokens", 12, "-q")
        self.assertEqual(said, "to be or not to be\n"[:18] + "\n")
        several = self.dlrun("generate", "run", "--text", "to", "--samples", 2, "--max-new-tokens", 4, "-q")
        first, second = several.split("\n---------------\n")
        self.assertTrue(first.startswith("to") and second.startswith("to"))
        event = json.loads(self.dlrun("generate", "run", "--text", "to", "--json", "--max-new-tokens", 4).splitlines()[0])
        self.assertEqual(event["text"].encode(), bytes(event["tokens"]))
        self.check_ends_of_text("run", "--temperature", 0, "-q")

    def check_ends_of_text(self, run, *options):
        options = ["--max-new-tokens", 12, *options]
        text = ["generate", run, "--text", "to be ", *options]
        self.assertEqual(self.dlrun(*text, "--stop", "or", "--stop", "not"), "to be or\n")
        self.assertEqual(self.dlrun(*text, "--stop", "not", "--stop-tokens", ord("r")), "to be or\n")
        self.assertEqual(self.dlrun(*text, "--stop", "e or"), self.dlrun(*text))  # of which a part is the prompt's
        self.write("prompt.txt", "to be ")
        self.assertEqual(self.dlrun("generate", run, "--text-file", "prompt.txt", *options), self.dlrun(*text))
        os.mkdir(self.path("elsewhere"))  # where a file is, and no run
        os.rename(self.path("prompt.txt"), self.path("elsewhere/prompt.txt"))
        self.assertEqual(dltools.dlrun("generate", self.path(run), "--text-file", "prompt.txt", *options, cwd=self.path("elsewhere")),
                         self.dlrun(*text))
        said = subprocess.run([dltools.DLRUN, "generate", self.path(run), "--text-file", "-", *map(str, options)], input="to be ",
                              capture_output=True, text=True, check=True)
        self.assertEqual(said.stdout, self.dlrun(*text))

    def test_numbers(self):
        """Tokens of 16 bits, and a vocabulary that is no text's."""
        np.array(np.arange(4 * LENGTH + 1) * 7 % 300, np.uint16).tofile(self.path("text.bin"))
        self.compiled(CAUSAL, vocabulary=300, file="bin")
        self.assertEqual(len(self.tokens("--tokens", "299,256", "--max-new-tokens", 3)[0]), 5)
        said = self.dlrun("generate", "m.plan", "--init", "w.safetensors", "--tokens", "299,256", "--max-new-tokens", 3, "-q")
        self.assertRegex(said, r"^299 256 \d+ \d+ \d+ \n$")
        self.fails(USAGE, "--tokens N,N,... says it; this model's tokens are numbers")
        self.fails(USAGE, "--text: this model has 300 tokens, which are no bytes", "--text", "a")
        self.fails(USAGE, "the prompt has token 300; the model knows 0 to 299", "--tokens", "1,300")

    def fails(self, code, words, *arguments):
        return self.refuse(code, words, dltools.DLRUN, "generate", "m.plan", "--init", "w.safetensors", *arguments)

    def test_what_is_refused(self):
        self.compiled(CAUSAL)
        self.fails(USAGE, "--text, --text-file and --tokens: give one of them", "--text", "a", "--tokens", "3")
        self.write("empty.txt", "")
        self.fails(USAGE, "--text-file empty.txt: it is empty", "--text-file", "empty.txt")
        self.fails(IO, "none.txt", "--text-file", "none.txt")
        self.fails(USAGE, "--stop: at least one byte is wanted", "--text", "a", "--stop", "")
        self.fails(USAGE, "--min-p: '2' is not a share", "--min-p", "2")
        self.fails(USAGE, "--repetition-penalty: '0' is not a number from 0.001 to 1000", "--repetition-penalty", "0")
        self.fails(USAGE, "the prompt has token 97; the model knows 0 to 31", "--text", "a")
        self.fails(USAGE, "--temperature: '-1' is not a number from 0 on", "--temperature", "-1")
        self.fails(USAGE, "--top-p: '0' is not a share", "--top-p", "0")
        self.fails(USAGE, "there is no p.generate() 'next'", "--generation", "next")
        self.fails(USAGE, "--steps: not an option of 'dlrun generate'", "--steps", "3")
        self.refuse(USAGE, "generate: with which weights? --init", dltools.DLRUN, "generate", "m.plan", "--tokens", "1")
        self.refuse(USAGE, "--top-k: not an option of 'dlrun predict'", dltools.DLRUN, "predict", "m.plan", "--top-k", "3")
        self.write("none.dl", support.LINEAR)
        self.regression_data()
        self.dlcc("none.dl")
        self.refuse(USAGE, "the model has no p.generate()", dltools.DLRUN, "generate", "none.plan")

    def test_models_that_cannot(self):
        for name, mix in NOT_CAUSAL.items():
            with self.subTest(name):
                self.compiled(mix, said="whole window" if name in ("reversed", "strided", "centred", "from_the_end") else "")
                self.fails(USAGE, "depends on later ones", "--tokens", "1,2")
        model = MODEL.replace("return net(b.data); });\n  p.predict", "return net(b.data).softmax(-1); });\n  p.predict")
        self.write("m.dl", model % {"vocabulary": VOCABULARY, "length": LENGTH, "file": "txt", "places": "0", "mix": CAUSAL, "lr": 1})
        self.dlcc("m.dl")
        self.dlrun("m.plan", "-q", "--steps", 0, "--save-final", "w.safetensors")
        self.fails(USAGE, "gives probabilities; logits are wanted", "--tokens", "1,2")

    def test_more_logits_than_bytes(self):
        """Those of no byte are never drawn."""
        self.compiled(CAUSAL, vocabulary=300)
        (tokens,) = self.tokens("--tokens", "255", "--temperature", 50, "--max-new-tokens", 300)
        self.assertLess(max(tokens), 256)
        self.assertGreater(len(set(tokens)), 100)
        self.fails(USAGE, "the prompt has token 256; the model knows 0 to 255", "--tokens", "1,256")

    def test_nothing_but_tokens_is_read(self):
        np.save(self.path("tokens.npy"), np.zeros((8, 6), np.int64))
        np.save(self.path("kinds.npy"), np.zeros((8, 6), np.int64))
        self.write("m.dl", support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"tokens.npy", "kinds.npy"}, {.batch_size = 4});
  nn::Embedding e(32, 32), k(2, 32);
  dl::optim::SGD optimizer(e.parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = e(b[0]).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
  p.generate("text", data, [&](dl::Batch b) { return e(b[0]) + k(b[1]); });
}
""")
        self.refuse(1, "'text' reads more than the tokens, which are the first tensor of the data set", dltools.DLCC, "m.dl")
        self.write("n.dl", open(self.path("m.dl"), encoding="utf-8").read().replace(" + k(b[1])", ""))
        self.dlcc("n.dl", "-o", "m.plan")
        self.dlrun("m.plan", "-q", "--save-final", "w.safetensors")
        self.assertEqual(len(self.tokens("--tokens", "1,2", "--max-new-tokens", 7)[0]), 9)

    def test_what_is_returned(self):
        for returned, words in (("net(b.data).flatten(0, 1)", "is f32 [24,32]; logits of the tokens that follow each"),
                                ("net(b.data).narrow(1, 23, 1)", "is f32 [1,1,32]; logits of"),
                                ("net(b.data).argmax(-1)", "is i64 [1,24]; logits of")):
            model = MODEL.replace("return net(b.data); });\n  p.predict", f"return {returned}; }});\n  p.predict")
            self.write("m.dl", model % {"vocabulary": VOCABULARY, "length": LENGTH, "file": "txt", "places": "0", "mix": CAUSAL, "lr": 1})
            self.refuse(1, ["m.dl:", words, "[1, 24, vocabulary]"], dltools.DLCC, "m.dl")

    def test_caches_are_not_weights(self):
        """They are in no file, and need to be in none."""
        self.compiled(CAUSAL)
        self.assertFalse([name for name in self.load("w.safetensors") if "cache" in name])
        self.dlrun("m.plan", "-q", "--steps", 3, "--out", "run")
        self.dlrun("resume", "run", "-q", "--steps", 5)
        self.tokens("--tokens", "1,2", "--max-new-tokens", 2)
