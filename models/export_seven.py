#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Export the seven measured networks with PyTorch and strip their weights.

  export_seven.py --out DIR [--only NAME,...]

Writes DIR/seven.tar, which holds NAME.onnx.xz for the classic exporter (opset 17) and
NAME.dynamo.onnx.xz for the dynamo exporter (opset 18). All are fp32, batch 1, static shapes.
Weights are seeded normal numbers; batch statistics come from running seeded pictures through the
network. Needs torch, torchvision, transformers and onnx; onnxruntime, where present, checks it.
Run once; the result is committed in models/graphs, where fill_weights.py reads it.
"""
import argparse
import io
import json
import lzma
import math
import os
import sys
import tarfile
import time
import traceback

import numpy as np
import onnx
import torch
from onnx import numpy_helper

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fill_weights
import inputs

KEEP_ELEMENTS = 64  # smaller tensors keep their values whatever they are
KEEP_BYTES = 64 << 10  # a tensor without a rule must compress to less than this
CLASSIC_OPSET, DYNAMO_OPSET = 17, 18
OUTPUTS = {"bert_base": ["last_hidden_state", "pooler_output"], "gpt2": ["logits"]}
DYNAMO_TOO = ("resnet50", "vit_b_16", "bert_base", "gpt2")


def vision(name):
    import torchvision
    return getattr(torchvision.models, name)(weights=None)


def bert(attention):
    from transformers import BertConfig, BertModel
    config = BertConfig()
    config._attn_implementation = attention
    return BertModel(config)


def gpt2(attention):
    from transformers import GPT2Config, GPT2LMHeadModel
    config = GPT2Config(use_cache=False)
    config._attn_implementation = attention
    return GPT2LMHeadModel(config)


class Named(torch.nn.Module):
    """Calls a text model with its inputs by name, so that their order is the order exported."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *args):
        named = dict(zip(self.names, args))
        # Without a mask the library looks for packed sequences with an operator that ONNX lacks.
        named.setdefault("attention_mask", torch.ones_like(named["input_ids"]))
        return self.model(**named).to_tuple()


def rule_of(name, parameter, module):
    """Returns (mean, deviation) for a parameter: scaled so that activations keep their size."""
    last, shape = name.rsplit(".", 1)[-1], list(parameter.shape)
    if last == "layer_scale":
        return 0.2, 0.03
    if last in ("class_token", "pos_embedding") or isinstance(module, torch.nn.Embedding):
        return 0.0, 0.04
    if last.endswith("bias"):
        return 0.0, 0.05
    if len(shape) == 1:
        return 1.0, 0.1
    if type(module).__name__ == "Conv1D":  # GPT-2's linear layer, stored input by output
        return 0.0, 1 / math.sqrt(shape[0])
    fan_in = int(np.prod(shape[1:]))
    return 0.0, math.sqrt((2 if len(shape) == 4 else 1) / fan_in)


def seed_weights(name, model):
    """Gives every parameter its seeded values and returns [(rule, values)] for strip()."""
    known, modules = [], dict(model.named_modules())
    for path, parameter in model.named_parameters():
        mean, std = rule_of(path, parameter, modules[path.rpartition(".")[0]])
        shape = list(parameter.shape)
        array = fill_weights.values(f"{name}/{path}", mean, std, shape)
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(array))
        rule = {"key": f"{name}/{path}", "mean": mean, "std": std, "shape": shape}
        known.append((rule, array))
    return known


def settle_batch_norms(model):
    """Sets the running statistics of batch normalizations to those of seeded pictures."""
    norms = [m for m in model.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    if not norms:
        return
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device)
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # a plain average over the batches
        norm.train()
    with torch.no_grad():
        for batch in range(4):
            pictures = np.concatenate([inputs.picture(f"settle/{batch}/{i}") for i in range(16)])
            model(torch.from_numpy(pictures).to(device))
    model.to("cpu").eval()
    for norm in norms:
        norm.momentum = 0.1


def find_rule(array, known):
    """Returns (rule, factors or None) if `array` is a known parameter, perhaps scaled by row."""
    for rule, source in known:
        if source.size != array.size:
            continue
        for transpose in (False, True) if source.ndim == 2 else (False,):
            candidate = source.T if transpose else source
            found = dict(rule, transpose=transpose)
            if np.array_equal(candidate.ravel(), array.ravel()):
                return found, None
            if candidate.shape != array.shape or array.ndim < 2:
                continue
            rows, wanted = (a.reshape(a.shape[0], -1).astype(float) for a in (candidate, array))
            norms = np.linalg.norm(wanted[0]) * np.linalg.norm(rows[0])
            if np.abs(np.sum(wanted[0] * rows[0])) < 0.9 * norms:
                continue
            factors = np.sum(wanted * rows, 1) / np.sum(rows * rows, 1)
            if np.abs(wanted - factors[:, None] * rows).max() <= 1e-5 * np.abs(wanted).max():
                return found, factors
    return None, None


def shorten(array):
    """Rounds float32 values to 12 significant bits, which halves their size when compressed."""
    fraction, exponent = np.frexp(array.astype(np.float64))
    return np.ldexp(np.round(fraction * 4096) / 4096, exponent).astype("<f4")


def strip(model, known):
    """Replaces large weights by rules, in place; returns notes on tensors that follow no rule."""
    notes = []
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        plain = numpy_helper.from_array(array, tensor.name)
        tensor.CopyFrom(plain)
        if array.dtype != np.float32 or array.size <= KEEP_ELEMENTS:
            continue
        rule, factors = find_rule(array, known)
        if rule:
            tensor.raw_data = b"" if factors is None else shorten(factors).tobytes()
            tensor.doc_string = json.dumps(rule)
            assert tensor.doc_string.startswith(fill_weights.RULE_MARK)
        elif array.ndim == 1 and not np.all(array == array[0]):
            tensor.raw_data = shorten(array).tobytes()
        elif len(lzma.compress(array.tobytes())) > KEEP_BYTES:
            rule = {"key": f"unknown/{tensor.name}", "mean": float(array.mean()),
                    "std": float(array.std()), "shape": list(array.shape), "transpose": False}
            tensor.raw_data, tensor.doc_string = b"", json.dumps(rule)
            notes.append(f"{tensor.name} {list(array.shape)} matches no parameter")
    return notes


def drop_remarks(model):
    """Removes source locations and other remarks that exporters attach to graph parts."""
    def clean(graph):
        graph.doc_string = ""
        values = [*graph.input, *graph.output, *graph.value_info]
        for part in [graph, *graph.node, *values, *graph.initializer]:
            part.doc_string = ""
            del part.metadata_props[:]
        for node in graph.node:
            for attribute in node.attribute:
                attribute.doc_string = ""
                if attribute.HasField("g"):
                    clean(attribute.g)
                for sub in attribute.graphs:
                    clean(sub)
    model.doc_string = ""
    del model.metadata_props[:]
    clean(model.graph)
    for function in model.functions:
        function.doc_string = ""
        del function.metadata_props[:]
        for node in function.node:
            node.doc_string = ""
            del node.metadata_props[:]


def export(model, args, names, outputs, dynamo, directory):
    """Returns the exporter's own model."""
    path = os.path.join(directory, "export.onnx")
    common = dict(input_names=names, output_names=outputs, dynamo=dynamo)
    with torch.no_grad():
        if dynamo:
            program = torch.onnx.export(model, args, opset_version=DYNAMO_OPSET, **common)
            return program.model_proto
        torch.onnx.export(model, args, path, opset_version=CLASSIC_OPSET, **common)
    result = onnx.load(path)
    os.remove(path)
    return result


def check(stripped, feeds, expected, directory):
    """Runs the filled graph with ONNX Runtime; returns the error, and how lively the output is."""
    try:
        import onnxruntime
    except ImportError:
        return "no onnxruntime"
    path = os.path.join(directory, "check.onnx")
    filled = onnx.ModelProto()
    filled.CopyFrom(stripped)
    fill_weights.fill(filled)
    onnx.save(filled, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    first = session.run(None, feeds[0])[0]
    second = session.run(None, feeds[1])[0]
    os.remove(path)
    return (f"error {np.abs(first - expected).max():.2g} deviation {first.std():.3g} "
            f"max {np.abs(first).max():.3g} change by input {(first - second).std():.3g}")


def build(name):
    """Yields ways to make the model, best first."""
    if name == "bert_base":
        return [lambda a=a: Named(bert(a), inputs.SEVEN[name]) for a in ("sdpa", "eager")]
    if name == "gpt2":
        return [lambda a=a: Named(gpt2(a), inputs.SEVEN[name]) for a in ("sdpa", "eager")]
    return [lambda: vision(name)]


def export_one(name, dynamo, directory, archive):
    """Exports, strips and checks one network and adds it to the archive."""
    stem = name + (".dynamo" if dynamo else "")
    for attempt, make in enumerate(build(name)):
        try:
            start = time.time()
            model = make().eval()
            known = seed_weights(name, model)
            settle_batch_norms(model)
            feeds = [inputs.feed(name, str(i)) for i in range(2)]
            args = tuple(torch.from_numpy(v) for v in feeds[0].values())
            with torch.no_grad():
                expected = model(*args)
            expected = (expected[0] if isinstance(expected, tuple) else expected).numpy()
            outputs = OUTPUTS.get(name, ["output"])
            proto = export(model, args, list(feeds[0]), outputs, dynamo, directory)
            drop_remarks(proto)
            notes = strip(proto, known)
            data = lzma.compress(proto.SerializeToString(deterministic=True), preset=9)
            info = tarfile.TarInfo(stem + ".onnx.xz")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
            kinds = sorted({node.op_type for node in proto.graph.node})
            print(f"{stem}: {len(data)} bytes, way {attempt}, {len(proto.graph.node)} nodes, "
                  f"opset {[o.version for o in proto.opset_import]}, "
                  f"{time.time() - start:.0f} s\n  {' '.join(kinds)}", flush=True)
            for note in notes:
                print("  note:", note)
            print("  check:", check(proto, feeds, expected, directory), flush=True)
            return True
        except Exception:
            print(f"{stem}: way {attempt} failed", flush=True)
            print(traceback.format_exc()[-1500:], flush=True)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    torch.backends.mha.set_fastpath_enabled(False)  # the classic exporter cannot write its operator
    wanted = [n for n in options.only.split(",") if n] or list(inputs.SEVEN)
    print("torch", torch.__version__, "onnx", onnx.__version__, "numpy", np.__version__)
    failed = []
    with tarfile.open(os.path.join(options.out, "seven.tar"), "w") as archive:
        for dynamo in (False, True):
            for name in wanted:
                if dynamo and name not in DYNAMO_TOO:
                    continue
                if not export_one(name, dynamo, options.out, archive):
                    failed.append(name + (".dynamo" if dynamo else ""))
    print("failed:", failed or "none")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
