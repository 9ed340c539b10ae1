#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fetch a real text-reading network and a real picture, and say what the network reads in it.

  quickstart.py prepare DIR         writes the files below; prints the input's name and dims
  quickstart.py answer DIR OUTPUTS  prints the text in the network's outputs (.json by fritexec,
                                    .pb tensor, .npy, or raw float32); exit 1 if the page says
                                    otherwise
  quickstart.py reference DIR       the same for ONNX Runtime's output

  DIR/model.onnx       PP-OCRv4's recognizer of text lines (Apache-2.0), from rapidocr-onnxruntime
  DIR/page.png         a photograph of a printed page, from scikit-image (BSD-3-Clause)
  DIR/picture.pgm      its heading, as the network sees it
  DIR/input.bin        the input tensor, raw float32
  DIR/test_data_set_0  input and ONNX Runtime's output as TensorProto

Both packages are fetched with pip in exact versions and checked by hash; nothing in them is run.
Needs pip, onnx, onnxruntime and numpy.
"""
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile
import zlib

import numpy as np
import onnx
from onnx import numpy_helper

MODEL = ("rapidocr-onnxruntime==1.4.4", "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
         "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b")
PICTURE = ("scikit-image==0.26.0", "skimage/data/page.png",
           "341a6f0a61557662b02734a9b6e56ec33a915b2c41886b97509dedf2a43b47a3")
HEADING = (6, 36, 0, 300)  # rows and columns of the photograph that hold the heading
INPUT_NAME = "x"
INPUT_SHAPE = (1, 3, 48, 480)
EXPECTED = "Region-based segmentation"


def digest_of(data):
    return hashlib.sha256(data).hexdigest()


def fetch(source, target):
    """Returns one file out of a package's wheel, kept as `target`. Any wheel has it."""
    package, path, digest = source
    if os.path.exists(target):
        with open(target, "rb") as file:
            data = file.read()
        if digest_of(data) == digest:
            return data
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "pip", "download", "--quiet",
                   "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
                   "--python-version", "3.11", "--implementation", "cp", "--abi", "cp311",
                   "--platform", "manylinux_2_28_x86_64", "--platform", "any",
                   "--dest", directory, package]
        if subprocess.run(command).returncode != 0:
            sys.exit(f"pip could not fetch {package}; check that pip reaches a package index")
        wheel = os.path.join(directory, os.listdir(directory)[0])
        with zipfile.ZipFile(wheel) as archive:
            data = archive.read(path)
    if digest_of(data) != digest:
        sys.exit(f"{path} of {package} should have the SHA-256 {digest} but has {digest_of(data)}; "
                 "fetch it again, and if that does not help report it")
    write(target, data)
    return data


def decode_png(data):
    """Returns the pixels of an 8-bit grey PNG without interlacing as uint8 [rows, columns]."""
    place, packed, header = 8, b"", None
    while place < len(data):
        length, kind = int.from_bytes(data[place:place + 4], "big"), data[place + 4:place + 8]
        body = data[place + 8:place + 8 + length]
        if kind == b"IHDR":
            header = body
        elif kind == b"IDAT":
            packed += body
        place += 12 + length
    width, height = (int.from_bytes(header[i:i + 4], "big") for i in (0, 4))
    if header[8:] != bytes([8, 0, 0, 0, 0]):
        sys.exit(f"the picture should be an 8-bit grey PNG but its header says {header[8:].hex()}")
    raw = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, width + 1)
    pixels, above = np.zeros((height, width), np.uint8), [0] * width
    for row in range(height):
        above = unfilter(raw[row, 0], raw[row, 1:].tolist(), above)
        pixels[row] = above
    return pixels


def unfilter(kind, line, above):
    """Undoes a PNG row filter: adds to each byte what its filter predicts."""
    left = corner = 0
    result = []
    for value, up in zip(line, above):
        if kind == 4:
            estimate = left + up - corner
            nearest = min((abs(estimate - left), 0, left), (abs(estimate - up), 1, up),
                          (abs(estimate - corner), 2, corner))
            guess = nearest[2]
        else:
            guess = (0, left, up, (left + up) // 2)[kind]
        left, corner = (value + guess) & 255, up
        result.append(left)
    return result


def stretch(size, wanted):
    """Returns the matrix [wanted, size] of linear interpolation with aligned borders."""
    place = np.clip((np.arange(wanted) + 0.5) * size / wanted - 0.5, 0, size - 1)
    low = np.minimum(place.astype(int), size - 2)
    matrix = np.zeros((wanted, size))
    matrix[np.arange(wanted), low] = 1 - (place - low)
    matrix[np.arange(wanted), low + 1] = place - low
    return matrix


def make_input(photograph):
    """Returns the heading in the network's size: as pixels, and as the tensor of three colours."""
    top, bottom, left, right = HEADING
    line = photograph[top:bottom, left:right].astype(np.float64)
    line = stretch(line.shape[0], INPUT_SHAPE[2]) @ line @ stretch(line.shape[1], INPUT_SHAPE[3]).T
    tensor = np.broadcast_to((line / 255 - 0.5) / 0.5, INPUT_SHAPE)
    return line.round().astype(np.uint8), np.ascontiguousarray(tensor, dtype=np.float32)


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def prepare(directory):
    """Writes the model, the input and the reference answer."""
    import onnxruntime
    case = os.path.join(directory, "test_data_set_0")
    os.makedirs(case, exist_ok=True)
    model_path = os.path.join(directory, "model.onnx")
    fetch(MODEL, model_path)
    line, tensor = make_input(decode_png(fetch(PICTURE, os.path.join(directory, "page.png"))))
    header = b"P5 %d %d 255\n" % line.shape[::-1]
    write(os.path.join(directory, "picture.pgm"), header + line.tobytes())
    write(os.path.join(directory, "input.bin"), tensor.tobytes())
    session = onnxruntime.InferenceSession(model_path, providers=["CPUExecutionProvider"])
    output = session.run(None, {INPUT_NAME: tensor})[0]
    for name, array, file in ((INPUT_NAME, tensor, "input_0.pb"),
                              (session.get_outputs()[0].name, output, "output_0.pb")):
        write(os.path.join(case, file), numpy_helper.from_array(array, name).SerializeToString())
    print(INPUT_NAME, "x".join(map(str, INPUT_SHAPE)))


def read_output(path):
    """Reads an output in any of the forms in which one may be stored."""
    if path.endswith(".pb"):
        return numpy_helper.to_array(onnx.load_tensor(path))
    if path.endswith(".npy"):
        return np.load(path)
    if path.endswith(".json"):
        with open(path, encoding="utf-8") as file:
            return np.array(json.load(file)[0]["values"], np.float32)
    return np.fromfile(path, np.float32)


def read_text(directory, scores):
    """Turns scores [1, steps, characters] into text: the best of each step, without repeats."""
    model = onnx.load(os.path.join(directory, "model.onnx"))
    listed = next(p.value for p in model.metadata_props if p.key == "character")
    characters = [""] + listed.split("\n") + [" "]
    if scores.size == 0 or scores.size % len(characters) != 0:
        sys.exit(f"an output of this network holds steps of {len(characters)} scores but this one "
                 f"holds {scores.size} numbers; give the output, not the input or a cut-off file")
    best = scores.reshape(-1, len(characters)).argmax(1)
    kept = [b for i, b in enumerate(best) if b != 0 and (i == 0 or b != best[i - 1])]
    return "".join(characters[b] for b in kept)


def answer(directory, path):
    """Prints the text and compares it with what is printed on the page."""
    text = read_text(directory, read_output(path))
    right = text == EXPECTED
    print(f"the network reads: {text}" + ("" if right else f"\nbut the page says: {EXPECTED}"))
    return 0 if right else 1


def main():
    verb, arguments = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 2 else ("", [])
    if verb == "prepare" and len(arguments) == 1:
        prepare(arguments[0])
    elif verb == "answer" and len(arguments) == 2:
        sys.exit(answer(*arguments))
    elif verb == "reference" and len(arguments) == 1:
        sys.exit(answer(arguments[0], os.path.join(arguments[0], "test_data_set_0", "output_0.pb")))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
