#!/usr/bin/python3
"""Measure in PyTorch what `heed bench --generate` measures: tokens per second that the language models of
bench/pytorch_step.py generate, sampled from one token up to the last position.

    bench/pytorch_generate.py --size baby [--batch 8] [--no-cache] [--bf16] [--seconds 5] [--threads 2]

Prints one line of JSON with the keys of `heed bench --generate --json`. The cache has room for all positions,
so that a step writes the keys and values of one position and copies nothing. With --no-cache the model reads
all tokens again for each new one and computes only the logits of the last position. Needs Debian's
python3-torch. bench/generate runs it in the environment in which it is fastest.
"""
import json
import sys
import time

import torch
from torch.nn import functional as F

sys.dont_write_bytecode = True
from pytorch_step import LANGUAGE_MODELS, LanguageModel, options, prepared


class Cache:
    """Keys and values of every layer, (B, H, room, K); the first `length` positions are filled."""

    def __init__(self, model, batch, room):
        heads, kind = model.layers[0].heads, model.token.weight
        shape = batch, heads, room, kind.shape[1] // heads
        self.keys = [torch.empty(shape, dtype=kind.dtype) for _ in model.layers]
        self.values = [torch.empty(shape, dtype=kind.dtype) for _ in model.layers]
        self.length = 0


def attend(layer, x, cache, number):
    """Layer.attend() for the position after those in the cache: x (B, 1, D)."""
    batch, _, dim = x.shape
    heads = layer.query_key_value(x).view(batch, 1, 3, layer.heads, dim // layer.heads)
    query, key, value = heads.permute(2, 0, 3, 1, 4)  # each (B, H, 1, K)
    last = cache.length + 1
    cache.keys[number][:, :, cache.length:last] = key
    cache.values[number][:, :, cache.length:last] = value
    scores = query @ cache.keys[number][:, :, :last].transpose(-2, -1) * (dim // layer.heads) ** -0.5
    mixed = torch.softmax(scores, dim=-1) @ cache.values[number][:, :, :last]
    return layer.output(mixed.transpose(1, 2).reshape(batch, 1, dim))


def next_logits(model, token, cache):
    """Return logits (B, V) after `token` (B, 1), whose position follows those in the cache."""
    x = model.token(token) + model.position.weight[cache.length]
    for number, layer in enumerate(model.layers):
        x = x + attend(layer, layer.attention_norm(x), cache, number)
        x = x + layer.feed_forward(layer.feed_forward_norm(x))
    cache.length += 1
    return F.linear(model.norm(x[:, -1]), model.token.weight)


def logits_of(model, tokens):
    """Return logits (B, V) after tokens (B, T), without a cache."""
    time = tokens.shape[1]
    x = model.token(tokens) + model.position.weight[:time]
    for layer in model.layers:
        x = layer(x, model.mask[:time, :time])
    return F.linear(model.norm(x[:, -1]), model.token.weight)


@torch.inference_mode()
def generate(model, batch, positions, cached):
    """Generate tokens (B, 1 + positions)."""
    cache = Cache(model, batch, positions) if cached else None
    tokens = torch.zeros(batch, 1 + positions, dtype=torch.long)
    for t in range(positions):
        logits = next_logits(model, tokens[:, t:t + 1], cache) if cached else logits_of(model, tokens[:, :t + 1])
        tokens[:, t + 1:t + 2] = torch.multinomial(torch.softmax(logits.float(), dim=-1), 1)
    return tokens


@torch.inference_mode()
def check(model, positions):
    """Fail unless logits with and without the cache agree."""
    tokens = generate(model, 2, positions, True)
    cache = Cache(model, 2, positions)
    for t in range(positions):
        cached = next_logits(model, tokens[:, t:t + 1], cache)
    whole = logits_of(model, tokens[:, :positions])
    if not torch.allclose(cached, whole, rtol=1e-3, atol=1e-4):
        raise RuntimeError("logits with and without the cache differ")


def main():
    parser = options(__doc__.split("\n\n")[0], LANGUAGE_MODELS)
    parser.add_argument("--batch", type=int, default=1, help="texts to generate at once")
    parser.add_argument("--no-cache", action="store_true", help="read all tokens again for each new one")
    parser.add_argument("--bf16", action="store_true", help="with weights, and the cache, in bfloat16")
    arguments = prepared(parser)

    *_, positions, _ = LANGUAGE_MODELS[arguments.size]
    model = LanguageModel(*LANGUAGE_MODELS[arguments.size][:-1]).eval()
    check(model, positions)
    if arguments.bf16:
        model = model.bfloat16()
    generate(model, arguments.batch, min(8, positions), not arguments.no_cache)
    times, start = 0, time.perf_counter()
    while times < 1 or time.perf_counter() < start + arguments.seconds:
        generate(model, arguments.batch, positions, not arguments.no_cache)
        times += 1
    seconds = time.perf_counter() - start
    tokens = times * arguments.batch * positions
    print(json.dumps({
        "peer": "PyTorch " + torch.__version__.split("+")[0],
        "size": arguments.size,
        "dtype": "bfloat16" if arguments.bf16 else "float32",
        "threads": torch.get_num_threads(),
        "parameters": sum(p.numel() for p in model.parameters()),
        "batch": arguments.batch,
        "cache": not arguments.no_cache,
        "positions": positions,
        "tokens": tokens,
        "tokens_per_s": round(tokens / seconds, 1),
    }))


if __name__ == "__main__":
    main()
