"""Whatever is promised to be compared with PyTorch occurs in a model that is: see REQUIRED."""

import re
import unittest

from .cases import CASES

# What it is called, and how it looks in a .dl. Examples do not count: they change for other reasons.
REQUIRED = {
    "Sigmoid": r"\bsigmoid\(|nn::Sigmoid\b",
    "Tanh": r"\btanh\(|nn::Tanh\b",
    "GELU": r'\bgelu\((?!.*"tanh")',
    "GELU by tanh": r'\bgelu\(.*"tanh"',
    "SiLU": r"\bsilu\(|nn::SiLU\b",
    "ModuleList": r"nn::ModuleList\b",
    "AvgPool2d": r"\bavg_pool2d\(|nn::AvgPool2d\b",
    "Conv2d with dilation": r"nn::Conv2d .*\.dilation = [2-9]",
    "Conv2d with groups": r"nn::Conv2d .*\.groups = [2-9]",
    "cat": r"\bcat\(",
    "stack": r"\bstack\(",
    "chunk": r"\.chunk\(",
    "split": r"\.split\(",
    "permute": r"\.permute\(",
    "slice": r"\.slice\(",
    "where": r"\bwhere\(",
    "pow": r"\bpow\(",
    "pow with a tensor as exponent": r"\bpow\((1 / )?[a-z]",
    "max along a dim": r"\.max\(\d",
    "min along a dim": r"\.min\(\d",
    "amax": r"\.amax\(",
    "amin": r"\.amin\(",
    "clamp": r"\bclamp\(",
    "abs": r"\babs\(",
    "var": r"\bvar\(",
    "logsumexp": r"\blogsumexp\(",
    "Adam": r"optim::Adam ",
    "AdamW": r"optim::AdamW ",
    "Nesterov's momentum": r"\.nesterov = true",
    "dampening": r"\.dampening = 0\.\d",
    "groups of parameters": r"optim::\w+ \w+\(\{\{\.params",
    "several losses": r"(?s)\.backward\(\).*\.backward\(\)",
    "several optimizers in one step": r"(?s)optim::(\w+ \w+)\(.*optim::(?!\1)\w+ \w+\(",
    "weight tying": r"\.weight = \w+\.weight;",
    "frozen parameters": r"\.requires_grad_\(false\)",
    "BatchNorm2d": r"nn::BatchNorm2d\b",
    "BatchNorm1d": r"nn::BatchNorm1d\b",
    "LayerNorm": r"nn::LayerNorm\b",
    "GroupNorm": r"nn::GroupNorm\b",
    "MultiheadAttention": r"nn::MultiheadAttention\b",
    "TransformerEncoderLayer": r"nn::TransformerEncoderLayer\b",
    "a scheduler": r"lr_scheduler::\w+ ",
    "several training steps": r'(?s)p\.train\("\w+".*p\.train\("\w+"',
    "clipped gradients": r"clip_grad_norm_\(",
    "label smoothing": r"label_smoothing =",
    "detach": r"\.detach\(\)",
}


def missing(texts):
    """The names in REQUIRED that no text has; comments do not count."""
    texts = [re.sub(r"//.*", "", text) for text in texts]
    return [name for name, pattern in REQUIRED.items() if not any(re.search(pattern, text) for text in texts)]


class Required(unittest.TestCase):
    def test_each_is_in_a_model(self):
        texts = {case.name: case.text() for case in CASES if case.source.startswith("test/parity/models/")}
        self.assertEqual(missing(texts.values()), [])
        # Controls: what only one model has is missed without it, and a comment is no use of it.
        others = [text for name, text in texts.items() if name != "attention"]
        self.assertIn("ModuleList", missing(others))
        self.assertIn("ModuleList", missing(others + ["// nn::ModuleList blocks;"]))
