# SPDX-License-Identifier: Apache-2.0
"""Seeded inputs of the seven measured networks."""
import hashlib

import numpy as np

SEQUENCE = 128
SEVEN = {  # network: the names of its inputs, in order
    "resnet50": ["input"],
    "mobilenet_v3_large": ["input"],
    "efficientnet_b0": ["input"],
    "convnext_tiny": ["input"],
    "vit_b_16": ["input"],
    "bert_base": ["input_ids", "attention_mask", "token_type_ids"],
    "gpt2": ["input_ids"],
}
VOCABULARY = {"bert_base": 30522, "gpt2": 50257}
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # the usual picture statistics


def generator(key):
    """Returns a PCG64 generator seeded by a hash of `key`."""
    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "little")
    return np.random.Generator(np.random.PCG64(seed))


def smooth(rng, cells, size):
    """Returns a size x size field that runs linearly between the random corners of its cells."""
    corners = rng.uniform(-1, 1, (cells + 1, cells + 1))
    place = np.linspace(0, cells, size, endpoint=False)
    whole = place.astype(int)
    weight = np.zeros((size, cells + 1))
    weight[np.arange(size), whole] = 1 - (place - whole)
    weight[np.arange(size), whole + 1] = place - whole
    return weight @ corners @ weight.T


def picture(key, size=224):
    """Returns a normalized random picture [1, 3, size, size] with coarse and fine structure."""
    rng = generator("picture/" + key)
    grey = smooth(rng, 4, size) + 0.6 * smooth(rng, 13, size) + 0.4 * smooth(rng, 50, size)
    planes = [grey + 0.7 * smooth(rng, 6, size) + 0.1 * rng.standard_normal((size, size))
              for _ in range(3)]
    field = np.stack(planes)
    field = (field - field.min()) / (field.max() - field.min())
    normal = (field - np.reshape(MEAN, (3, 1, 1))) / np.reshape(DEVIATION, (3, 1, 1))
    return normal[None].astype(np.float32)


def feed(name, key="0"):
    """Returns {input name: array} for one of the seven networks, batch 1."""
    if name not in VOCABULARY:
        return {"input": picture(f"{name}/{key}")}
    rng = generator(f"tokens/{name}/{key}")
    ids = rng.integers(0, VOCABULARY[name], (1, SEQUENCE), dtype=np.int64)
    if name == "gpt2":
        return {"input_ids": ids}
    mask = np.ones((1, SEQUENCE), np.int64)
    mask[:, SEQUENCE - SEQUENCE // 8:] = 0  # the end is padding
    kinds = np.zeros((1, SEQUENCE), np.int64)
    kinds[:, SEQUENCE // 2:] = 1
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
