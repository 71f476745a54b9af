"""Embeds sentences with all-MiniLM-L6-v2, independently of the Rust crate: BERT written out in numpy.

The numbers in ../embedder.rs come from here. Needs numpy and the model's folder:

    python3 minilm.py ~/.cache/almanac/models/all-minilm-l6-v2

WordPiece is written out too (Devlin et al. 2018): lower case, split at white space and at every
punctuation mark, then the longest pieces from the left. It is exact for ASCII, which is what the
sentences are.
"""

import json
import math
import re
import struct
import sys
from pathlib import Path

import numpy as np

SENTENCES = [
    "The conjugate gradient method solves symmetric positive definite systems.",
    "void scatter(Field& f, const ParticleAttrib<Vector<T, Dim>>& pp);",
    "",
    "word " * 400,
]
WINDOW = 256


def read_safetensors(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    body = data[8 + length :]
    return {
        name: np.frombuffer(body[slice(*info["data_offsets"])], dtype=np.float32)
        .reshape(info["shape"])
        .astype(np.float64)
        for name, info in header.items()
        if info.get("dtype") == "F32"
    }


def word_pieces(text, vocabulary):
    ids = []
    for word in re.findall(r"[a-z0-9]+|[^\sa-z0-9]", text.lower()):
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in vocabulary:
                    ids.append(vocabulary[piece])
                    start = end
                    break
            else:
                raise ValueError(f"no piece for {word!r}")
    return ids


def layer_norm(x, weights, name, epsilon):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    scaled = (x - mean) / np.sqrt(variance + epsilon)
    return scaled * weights[name + ".weight"] + weights[name + ".bias"]


def linear(x, weights, name):
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def embed(ids, weights, config):
    epsilon = config["layer_norm_eps"]
    heads = config["num_attention_heads"]
    x = (
        weights["embeddings.word_embeddings.weight"][ids]
        + weights["embeddings.position_embeddings.weight"][: len(ids)]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    x = layer_norm(x, weights, "embeddings.LayerNorm", epsilon)
    size = x.shape[1] // heads
    erf = np.vectorize(math.erf)
    for index in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{index}."
        q, k, v = (
            linear(x, weights, f"{layer}attention.self.{part}")
            .reshape(-1, heads, size)
            .transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(size)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        context = (scores @ v).transpose(1, 0, 2).reshape(x.shape)
        output = linear(context, weights, layer + "attention.output.dense")
        x = layer_norm(x + output, weights, layer + "attention.output.LayerNorm", epsilon)
        inner = linear(x, weights, layer + "intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
        output = linear(inner, weights, layer + "output.dense")
        x = layer_norm(x + output, weights, layer + "output.LayerNorm", epsilon)
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def main():
    folder = Path(sys.argv[1])
    weights = read_safetensors(folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    for text in SENTENCES:
        pieces = word_pieces(text, vocabulary)
        ids = [vocabulary["[CLS]"], *pieces[: WINDOW - 2], vocabulary["[SEP]"]]
        vector = embed(ids, weights, config)
        shown = ", ".join(f"{vector[i]:.6f}" for i in (0, 1, 2, 100, 383))
        print(f"{text[:40]!r}: {len(pieces)} pieces, components 0 1 2 100 383: {shown}")


main()
