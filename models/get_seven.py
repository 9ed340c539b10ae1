#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make the seven measured networks and their reference outputs.

  get_seven.py DIR [--only NAME,...] [--dynamo] [--sets N]

Writes DIR/NAME/model.onnx and DIR/NAME/test_data_set_K/{input,output}_N.pb: seeded weights, seeded
inputs and what ONNX Runtime computes from them on the CPU. --dynamo adds the networks that were
also written by PyTorch's other exporter, as NAME.dynamo. Needs onnx, numpy and onnxruntime.
"""
import argparse
import os
import time

import onnx
import onnxruntime
from onnx import numpy_helper

import fill_weights
import inputs

GRAPHS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "graphs")


def graph_path(stem):
    return os.path.join(GRAPHS, stem + ".onnx.xz")


def save_tensor(directory, file, name, array):
    """Writes one array as a named TensorProto."""
    with open(os.path.join(directory, file), "wb") as out:
        out.write(numpy_helper.from_array(array, name).SerializeToString())


def make(stem, directory, sets):
    """Fills one network and stores its data sets."""
    start = time.time()
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, "model.onnx")
    model = fill_weights.load(graph_path(stem))
    count = fill_weights.fill(model)
    onnx.save(model, path)
    del model
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    for index in range(sets):
        case = os.path.join(directory, f"test_data_set_{index}")
        os.makedirs(case, exist_ok=True)
        feed = inputs.feed(stem.split(".")[0], str(index))
        for number, (name, array) in enumerate(feed.items()):
            save_tensor(case, f"input_{number}.pb", name, array)
        for number, (name, array) in enumerate(zip(names, session.run(None, feed))):
            save_tensor(case, f"output_{number}.pb", name, array)
    print(f"{path}: {count} weights, {os.path.getsize(path) / 1e6:.0f} MB, {sets} data set(s), "
          f"{time.time() - start:.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--dynamo", action="store_true")
    parser.add_argument("--sets", type=int, default=1)
    options = parser.parse_args()
    stems = list(inputs.SEVEN)
    others = [n + ".dynamo" for n in inputs.SEVEN if os.path.exists(graph_path(n + ".dynamo"))]
    wanted = [name for name in options.only.split(",") if name]
    unknown = [name for name in wanted if name not in stems + others]
    if unknown:
        parser.error(f"no network called {', '.join(unknown)}; "
                     f"there are {', '.join(stems + others)}")
    for stem in wanted or stems + others * options.dynamo:
        make(stem, os.path.join(options.directory, stem), options.sets)


if __name__ == "__main__":
    main()
