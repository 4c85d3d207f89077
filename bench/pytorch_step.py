#!/usr/bin/python3
"""Measure in PyTorch what `heed bench` measures: a training step (forward, backward, clip to norm 1, AdamW),
always on the same batch: windows of a text of random tokens, or random pairs.

    bench/pytorch_step.py --size baby [--bf16] [--compile] [--seconds 5] [--threads 2]

Prints one line of JSON with the keys of `heed bench --json`. working_mb is the peak memory of the process,
minus its memory before the model was made, minus 16 bytes per parameter (weight, gradient and Adam's two
moments). Needs Debian's python3-torch. bench/compare runs it in the environment in which it is fastest. With
PyTorch 2 it uses what its users write: F.scaled_dot_product_attention, fused AdamW, and torch.compile on request.

The models are those of lab/measure/benchmark.cpp: pre-norm, with learned positions. Language models have GELU
and tied embeddings. Encoder-decoders have ReLU, one embedding for both sides and a separate output layer.
Where PyTorch has a module for a part, it is used.
"""
import argparse
import json
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

# Layers, heads, D, V, T, B.
LANGUAGE_MODELS = {
    "micro": (1, 4, 16, 27, 16, 1),
    "tiny": (2, 4, 64, 64, 32, 16),
    "babycpu": (4, 4, 128, 65, 64, 12),
    "baby": (6, 6, 384, 65, 256, 16),
    "gpt2": (12, 12, 768, 50257, 64, 4),
}
# Layers of the encoder and of the decoder, heads, D, hidden width, V, Ts = T, B.
ENCODER_DECODERS = {
    "reverse": (2, 4, 64, 256, 54, 26, 32),
    "base": (6, 8, 512, 2048, 8000, 32, 16),
}
WARM_UP_STEPS = 3
VERSION_2 = int(torch.__version__.split(".")[0]) >= 2


def causal_mask(length):
    """Return (length, length): 0 where a position may attend, -inf for later positions."""
    return torch.full((length, length), float("-inf")).triu(diagonal=1)


class Layer(nn.Module):
    """x + attention(norm(x)), then x + feed_forward(norm(x))."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(dim)
        self.query_key_value = nn.Linear(dim, 3 * dim)
        self.output = nn.Linear(dim, dim)
        self.feed_forward_norm = nn.LayerNorm(dim)
        self.feed_forward = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def attend(self, x, mask):
        batch, time, dim = x.shape
        heads = self.query_key_value(x).view(batch, time, 3, self.heads, dim // self.heads)
        query, key, value = heads.permute(2, 0, 3, 1, 4)  # each (B, H, T, K)
        if VERSION_2:
            mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        else:
            scores = query @ key.transpose(-2, -1) * (dim // self.heads) ** -0.5 + mask
            mixed = torch.softmax(scores, dim=-1) @ value
        return self.output(mixed.transpose(1, 2).reshape(batch, time, dim))

    def forward(self, x, mask):
        x = x + self.attend(self.attention_norm(x), mask)
        return x + self.feed_forward(self.feed_forward_norm(x))


class LanguageModel(nn.Module):
    def __init__(self, layers, heads, dim, vocabulary, length):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.position = nn.Embedding(length, dim)
        self.layers = nn.ModuleList([Layer(dim, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(dim)
        self.register_buffer("mask", causal_mask(length))
        nn.init.normal_(self.token.weight, std=0.02)  # also the output layer

    def forward(self, tokens):
        x = self.token(tokens) + self.position.weight
        for layer in self.layers:
            x = layer(x, self.mask)
        return F.linear(self.norm(x), self.token.weight)


class EncoderDecoder(nn.Module):
    def __init__(self, layers, heads, dim, hidden, vocabulary, length):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.position = nn.Embedding(length, dim)
        self.transformer = nn.Transformer(dim, heads, layers, layers, hidden, dropout=0.0, activation="relu",
                                          batch_first=True, norm_first=True)
        self.head = nn.Linear(dim, vocabulary, bias=False)
        self.register_buffer("mask", causal_mask(length))

    def embed(self, tokens):
        return self.token(tokens) + self.position.weight

    def forward(self, source, tokens):
        causal = {"tgt_is_causal": True} if VERSION_2 else {}
        return self.head(self.transformer(self.embed(source), self.embed(tokens), tgt_mask=self.mask, **causal))


def memory_mb(key):
    """Return VmRSS, the memory now, or VmHWM, the peak. (getrusage would include the parent program.)"""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(key + ":"):
                return int(line.split()[1]) / 1024
    raise RuntimeError("/proc/self/status: no " + key)


def make(size):
    """Return the model, its inputs and its targets."""
    if size in LANGUAGE_MODELS:
        *_, vocabulary, length, batch = LANGUAGE_MODELS[size]
        text = torch.randint(vocabulary, (batch, length + 1))
        return LanguageModel(*LANGUAGE_MODELS[size][:-1]), [text[:, :-1]], text[:, 1:]
    *_, vocabulary, length, batch = ENCODER_DECODERS[size]
    begin, end = vocabulary - 2, vocabulary - 1
    source, text = (torch.randint(begin, (batch, time)) for time in (length, length + 1))
    text[:, 0], text[:, -1] = begin, end
    return EncoderDecoder(*ENCODER_DECODERS[size][:-1]), [source, text[:, :-1]], text[:, 1:]


def options(description, sizes):
    """Return a parser with the options of every PyTorch benchmark."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--size", required=True, choices=[*sizes])
    parser.add_argument("--seconds", type=float, default=5, help="to measure; default: 5")
    parser.add_argument("--threads", type=int, help="default: PyTorch's default")
    return parser


def prepared(parser):
    """Parse the arguments and apply them to PyTorch."""
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    return arguments


def main():
    parser = options(__doc__.split("\n\n")[0], [*LANGUAGE_MODELS, *ENCODER_DECODERS])
    parser.add_argument("--bf16", action="store_true", help="under torch.autocast to bfloat16")
    parser.add_argument("--compile", action="store_true", help="with torch.compile")
    arguments = prepared(parser)
    if arguments.compile and not VERSION_2:
        parser.error(f"PyTorch {torch.__version__} has no torch.compile")

    before = memory_mb("VmRSS")
    model, inputs, target = make(arguments.size)
    parameters = sum(p.numel() for p in model.parameters())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, **({"fused": True} if VERSION_2 else {}))
    forward = torch.compile(model) if arguments.compile else model

    def step():
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=arguments.bf16):
            logits = forward(*inputs)
        loss = F.cross_entropy(logits.flatten(0, 1).float(), target.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss  # as in most training loops, it keeps part of its graph alive until the next step

    for _ in range(WARM_UP_STEPS):
        step()
    times = []
    end = time.perf_counter() + arguments.seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        loss = step()
        times.append(time.perf_counter() - start)

    peak = memory_mb("VmHWM")
    seconds = statistics.median(times)
    print(json.dumps({
        "peer": "PyTorch " + torch.__version__.split("+")[0] + (" compiled" if arguments.compile else ""),
        "size": arguments.size,
        "dtype": "bfloat16" if arguments.bf16 else "float32",
        "threads": torch.get_num_threads(),
        "parameters": parameters,
        "ms_per_step": round(1e3 * seconds, 3),
        "tokens_per_s": round(target.numel() / seconds),
        "loss": round(loss.item(), 4),
        "peak_rss_mb": round(peak, 1),
        "working_mb": round(peak - before - parameters * 16 / 2**20, 1),
        "steps": len(times),
    }))


if __name__ == "__main__":
    main()
