#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make case folders from the backend tests that the installed onnx package brings along.

  make_cases.py DIR [--groups node,simple,pytorch-converted,pytorch-operator,light] [--tensors-only]
                    [--match TEXT]

Writes DIR/GROUP/NAME/model.onnx, DIR/GROUP/NAME/test_data_set_K/{input,output}_N.pb and
DIR/GROUP/NAME/data.json with the tolerances {"rtol", "atol"}, and prints how many each group has.
--tensors-only leaves out cases that an engine cannot express: inputs or outputs that are sequences,
optionals, maps or strings, and operators outside ONNX's default domain.
A light case is one of onnx's well-known networks with constant weights; its input runs from 0 to 1.
"""
import argparse
import glob
import json
import os
import shutil
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper

GROUPS = ("node", "simple", "pytorch-converted", "pytorch-operator", "light")
DEFAULT_DOMAINS = ("", "ai.onnx")


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def inputs_of(model):
    """Returns the graph inputs that a caller must give."""
    known = {tensor.name for tensor in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in known]


def nodes_of(graph):
    """Yields every node of a graph and of its subgraphs."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in [attribute.g] * attribute.HasField("g") + list(attribute.graphs):
                yield from nodes_of(inner)


def is_expressible(model):
    """True if the model takes and gives numeric tensors and uses the default domain only."""
    for value in list(model.graph.input) + list(model.graph.output):
        if not value.type.HasField("tensor_type"):
            return False
        if value.type.tensor_type.elem_type == onnx.TensorProto.STRING:
            return False
    return all(node.domain in DEFAULT_DOMAINS for node in nodes_of(model.graph))


def to_proto(value, info):
    """Packs one value as the kind of proto that its graph entry declares."""
    kind = info.type.WhichOneof("value")
    if isinstance(value, onnx.TensorProto):
        return value
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name)
    return numpy_helper.from_array(np.asarray(value), info.name)


class Writer:
    """Writes the cases of one group that pass the filters, and counts them."""

    def __init__(self, directory, options):
        self.directory, self.options, self.count = directory, options, 0

    def start(self, name, model, rtol, atol):
        """Returns the case's fresh folder, or None if the case is filtered out."""
        if self.options.match not in name:
            return None
        if self.options.tensors_only and not is_expressible(model):
            return None
        self.count += 1
        case = os.path.join(self.directory, name)
        shutil.rmtree(case, ignore_errors=True)
        os.makedirs(case)
        write(os.path.join(case, "data.json"), json.dumps({"rtol": rtol, "atol": atol}).encode())
        return case

    def add(self, name, model, data_sets, rtol, atol):
        """Writes a case whose values are in memory."""
        case = self.start(name, model, rtol, atol)
        if case is None:
            return
        write(os.path.join(case, "model.onnx"), model.SerializeToString())
        for index, data_set in enumerate(data_sets):
            folder = os.path.join(case, f"test_data_set_{index}")
            os.makedirs(folder)
            declared = inputs_of(model), model.graph.output
            for kind, values, infos in zip(("input", "output"), data_set, declared):
                for number, (value, info) in enumerate(zip(values, infos, strict=True)):
                    path = os.path.join(folder, f"{kind}_{number}.pb")
                    write(path, to_proto(value, info).SerializeToString())

    def copy(self, name, model, source, rtol, atol):
        """Copies a case that the package holds as a folder."""
        case = self.start(name, model, rtol, atol)
        if case is not None:
            shutil.copy(os.path.join(source, "model.onnx"), case)
            for folder in glob.glob(os.path.join(glob.escape(source), "test_data_set_*")):
                shutil.copytree(folder, os.path.join(case, os.path.basename(folder)))


def counting_input(info):
    """Returns the input of a light case: 0, 1/n, 2/n ... in its shape, unknown dims being 1."""
    dims = info.type.tensor_type.shape.dim
    shape = [dim.dim_value if dim.HasField("dim_value") else 1 for dim in dims]
    count = int(np.prod(shape))
    return (np.arange(count) / count).astype(np.float32).reshape(shape)


def make_light(writer, data):
    """Writes onnx's light networks; their outputs are stored beside them."""
    tolerances = {}
    for path in glob.glob(os.path.join(data, "real", "*", "data.json")):
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        tolerances[os.path.basename(record["url"])] = record["rtol"], record["atol"]
    for path in sorted(glob.glob(os.path.join(data, "light", "*.onnx"))):
        model, stem = onnx.load(path), os.path.splitext(path)[0]
        outputs = []
        for number, info in enumerate(model.graph.output):
            outputs.append(onnx.load_tensor(f"{stem}_output_{number}.pb"))
            outputs[-1].name = info.name
        inputs = [counting_input(info) for info in inputs_of(model)]
        rtol, atol = tolerances.get(os.path.basename(path), (1e-3, 1e-7))
        writer.add("test_" + os.path.basename(stem), model, [(inputs, outputs)], rtol, atol)


def make_group(group, directory, options):
    """Writes one group and returns how many cases it has after filtering, and before."""
    from onnx.backend.test import loader
    writer = Writer(os.path.join(directory, group), options)
    if group == "light":
        make_light(writer, loader.DATA_DIR)
        return writer.count, len(glob.glob(os.path.join(loader.DATA_DIR, "light", "*.onnx")))
    cases = sorted(loader.load_model_tests(kind=group), key=lambda case: case.name)
    for case in cases:
        if case.model_dir is None:
            writer.add(case.name, case.model, case.data_sets, case.rtol, case.atol)
        else:
            model = onnx.load(os.path.join(case.model_dir, "model.onnx"))
            writer.copy(case.name, model, case.model_dir, case.rtol, case.atol)
    return writer.count, len(cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--groups", default=",".join(GROUPS))
    parser.add_argument("--tensors-only", action="store_true")
    parser.add_argument("--match", default="", help="only cases whose name contains this text")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # the package's own tests overflow on purpose
    groups = options.groups.split(",")
    unknown = [group for group in groups if group not in GROUPS]
    if unknown:
        parser.error(f"no group called {', '.join(unknown)}; there are {', '.join(GROUPS)}")
    for group in groups:
        count, total = make_group(group, options.directory, options)
        print(f"{group}: {count} of {total} cases", flush=True)
    print(f"onnx {onnx.__version__}, Python {sys.version.split()[0]}, in {options.directory}")


if __name__ == "__main__":
    main()
