#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fill a weightless graph from models/graphs with its seeded weights.

  fill_weights.py GRAPH.onnx[.xz] OUT.onnx

In a weightless graph a large weight has its name, type and shape but no values. Its doc_string
holds a JSON rule instead: {"key", "mean", "std", "shape", "transpose"}. The values are normal
numbers drawn by PCG64 seeded with a hash of the key, in `shape`, transposed when the rule says so.
If raw_data is not empty it holds one float32 factor for each index of axis 0 (a batch normalization
that was folded into a convolution). Tensors without a rule hold their own values.
Needs onnx and numpy only.
"""
import hashlib
import json
import lzma
import sys

import numpy as np
import onnx

RULE_MARK = '{"key"'


def values(key, mean, std, shape):
    """Returns the float32 values that belong to `key`: normal, of this mean and deviation."""
    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "little")
    rng = np.random.Generator(np.random.PCG64(seed))
    drawn = rng.standard_normal(int(np.prod(shape)), dtype=np.float32)
    drawn *= np.float32(std)
    drawn += np.float32(mean)
    return drawn.reshape(shape)


def load(path):
    """Reads a graph, compressed with xz or plain, without looking for external data."""
    data = open(path, "rb").read()
    return onnx.load_from_string(lzma.decompress(data) if path.endswith(".xz") else data)


def fill_tensor(tensor):
    """Replaces a rule by the values it stands for; leaves any other tensor alone."""
    if not tensor.doc_string.startswith(RULE_MARK):
        return False
    rule = json.loads(tensor.doc_string)
    array = values(rule["key"], rule["mean"], rule["std"], rule["shape"])
    if rule["transpose"]:
        array = array.T
    if tensor.raw_data:
        factors = np.frombuffer(tensor.raw_data, dtype="<f4")
        array = array * factors.reshape([-1] + [1] * (array.ndim - 1))
    array = array.reshape(list(tensor.dims))
    tensor.raw_data = np.ascontiguousarray(array, dtype="<f4").tobytes()
    tensor.doc_string = ""
    return True


def fill(model):
    """Fills every weight of `model` in place and returns how many there were."""
    return sum(fill_tensor(tensor) for tensor in model.graph.initializer)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    model = load(sys.argv[1])
    count = fill(model)
    onnx.save(model, sys.argv[2])
    print(f"{sys.argv[2]}: {count} weights filled")


if __name__ == "__main__":
    main()
