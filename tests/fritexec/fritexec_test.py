# SPDX-License-Identifier: Apache-2.0
"""Holds fritexec to its command line: fritexec_test.py FRITEXEC."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import numpy_helper

FRITEXEC = os.path.abspath(sys.argv.pop(1))
STAMP = re.compile(r"^\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] \[[EWIV]\]( |$)")
SHORT = ("--iterations=4", "--duration=0", "--warmUp=0", "--avgRuns=2")


def run(*arguments):
    done = subprocess.run([FRITEXEC, *arguments], capture_output=True, text=True, timeout=60,
                          check=False)
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


def answer(x):
    return np.maximum(2 * x + 1, 0)


def write_tensor(path, array, name):
    with open(path, "wb") as file:
        file.write(numpy_helper.from_array(array, name).SerializeToString())


class Fritexec(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.model = cls.path("model.onnx")
        node, info = onnx.helper.make_node, onnx.helper.make_tensor_value_info
        kind = onnx.TensorProto.FLOAT
        graph = onnx.helper.make_graph(
            [node("Mul", ["x", "two"], ["m"]), node("Add", ["m", "one"], ["a"]),
             node("Relu", ["a"], ["y"])],
            "small", [info("x", kind, ["N", 3])], [info("y", kind, ["N", 3])],
            [numpy_helper.from_array(np.float32(2), "two"),
             numpy_helper.from_array(np.float32(1), "one")])
        onnx.save(onnx.helper.make_model(
            graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), cls.model)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    def passes(self, *arguments):
        status, out, err = run(*arguments)
        self.assertEqual(status, 0, "\n".join(out + err))
        return out, err

    def refused(self, pattern, *arguments):
        status, out, err = run(*arguments)
        self.assertEqual(status, 1, arguments)
        errors = [line for line in err if "[E]" in line]
        self.assertEqual(len(errors), 1, err)
        self.assertRegex(errors[0], pattern)
        self.assertTrue(out[-1].startswith("&&&& FAILED Frit.fritexec [Frit v"), out)

    def test_builds_saves_loads_and_answers(self):
        engine, x = self.path("e"), np.array([[-2, -0.25, 3], [0, 1, 2]], np.float32)
        x.tofile(self.path("x.bin"))
        out, _ = self.passes(f"--onnx={self.model}", "--shapes=x:2x3", f"--saveEngine={engine}",
                             "--skipInference")
        self.assertTrue(any("Engine built in" in line for line in out))
        self.assertTrue(any("Verified y" in line and "passed" in line for line in out))
        out, _ = self.passes(f"--loadEngine={engine}", f"--loadInputs=x:{self.path('x.bin')}",
                             f"--exportOutput={self.path('o')}", *SHORT)
        with open(self.path("o"), encoding="utf-8") as file:
            outputs = json.load(file)
        self.assertEqual((outputs[0]["name"], outputs[0]["dimensions"]), ("y", "2x3"))
        np.testing.assert_array_equal(np.reshape(outputs[0]["values"], (2, 3)), answer(x))

    def test_report_has_the_lines_that_scripts_read(self):
        out, _ = self.passes(f"--onnx={self.model}", f"--exportTimes={self.path('t')}",
                             f"--exportProfile={self.path('p')}", "--dumpProfile", *SHORT)
        self.assertRegex(out[0], r"^&&&& RUNNING Frit\.fritexec \[Frit v\d{6}\] # ")
        self.assertRegex(out[-1], r"^&&&& PASSED Frit\.fritexec \[Frit v\d{6}\] # ")
        for line in out[1:-1]:
            self.assertRegex(line, STAMP)
        text = "\n".join(out)
        for label in ("=== Model Options ===", "=== Build Options ===", "=== System Options ===",
                      "=== Inference Options ===", "=== Reporting Options ===",
                      "=== Device Information ===", "=== Trace details ===",
                      "=== Performance summary ===", "Trace averages of 2 runs:", "Throughput: ",
                      "Timing trace has 4 queries", "Total Host Walltime: "):
            self.assertIn(label, text)
        statistics = (r"min = \S+ ms, max = \S+ ms, mean = \S+ ms, median = \S+ ms, "
                      r"percentile\(90%\) = \S+ ms, percentile\(95%\)")
        for label in ("Latency", "Enqueue Time", "H2D Latency", "GPU Compute Time", "D2H Latency"):
            self.assertRegex(text, f"\\] {label}: {statistics}")
        with open(self.path("t"), encoding="utf-8") as file:
            times = json.load(file)
        self.assertEqual(len(times), 4)
        self.assertTrue(all(t["latencyMs"] > 0 and t["h2dMs"] == 0 for t in times))
        with open(self.path("p"), encoding="utf-8") as file:
            profile = json.load(file)
        self.assertGreaterEqual(profile[0]["count"], 10)
        self.assertAlmostEqual(sum(step["percentage"] for step in profile[1:]), 100, places=3)

    def test_data_of_several_shapes(self):
        folder = self.path("data")
        for n, batch in enumerate((2, 5, 2)):
            os.makedirs(f"{folder}/test_data_set_{n}")
            x = np.random.default_rng(n).standard_normal((batch, 3)).astype(np.float32)
            write_tensor(f"{folder}/test_data_set_{n}/input_0.pb", x, "x" if n else "")
            write_tensor(f"{folder}/test_data_set_{n}/output_0.pb", answer(x), "y")
        out, _ = self.passes(f"--onnx={self.model}", f"--testData={folder}",
                             f"--saveOutputs={self.path('saved')}")
        self.assertEqual(sum("Engine built in" in line for line in out), 2)
        for n in range(3):
            with open(f"{self.path('saved')}/test_data_set_{n}/output_0.pb", "rb") as file:
                saved = numpy_helper.to_array(onnx.TensorProto.FromString(file.read()))
            with open(f"{folder}/test_data_set_{n}/input_0.pb", "rb") as file:
                x = numpy_helper.to_array(onnx.TensorProto.FromString(file.read()))
            np.testing.assert_allclose(saved, answer(x), rtol=1e-6)
        wrong = answer(x)
        wrong[1, 2] += 0.01
        for bad in (wrong, np.where(wrong == wrong[0, 0], np.inf, wrong).astype(np.float32)):
            write_tensor(f"{folder}/test_data_set_2/output_0.pb", bad, "y")
            self.refused("test_data_set_2: output 'y'", f"--onnx={self.model}",
                         f"--testData={folder}")
        write_tensor(f"{folder}/test_data_set_2/output_0.pb", wrong, "y")
        self.passes(f"--onnx={self.model}", f"--testData={folder}", "--atol=0.1")

    def test_flags_are_never_ignored_in_silence(self):
        _, err = self.passes(f"--onnx={self.model}", "--useCudaGraph", "--memPoolSize=workspace:1",
                             "--minShapes=x:1x3", "--optShapes=x:2x3", "--maxShapes=x:4x3",
                             "--device=0", *SHORT)
        for flag in ("--useCudaGraph", "--memPoolSize", "--minShapes", "--optShapes", "--device"):
            self.assertEqual(sum(f"[W] {flag} " in line for line in err), 1, (flag, err))
        self.refused("--fp16 is refused: ", f"--onnx={self.model}", "--fp16")
        self.refused("--batch is refused: removed", f"--onnx={self.model}", "--batch=4")
        self.refused("did you mean --iterations?", f"--onnx={self.model}", "--iteratons=4")
        self.refused("--backend=cuda", f"--onnx={self.model}", "--backend=cuda")

    def test_bad_input_gives_one_error(self):
        onnx_flag = f"--onnx={self.model}"
        self.refused("No such file", "--onnx=" + self.path("none"))
        self.refused("not a shape", onnx_flag, "--shapes=x:2xa")
        self.refused("no input 'q'", onnx_flag, "--shapes=q:2x3")
        self.refused("rank 2", onnx_flag, "--shapes=x:2x3x4")
        self.refused("takes 24 bytes", onnx_flag, "--shapes=x:2x3", f"--loadInputs=x:{self.model}")
        self.refused("--percentile", onnx_flag, "--percentile=101")
        self.refused("lacks a value", "--onnx=")
        self.refused("give either", "--verbose")
        self.refused("not begin as a Frit engine", f"--loadEngine={self.model}")
        self.refused("cannot write", onnx_flag, "--exportTimes=" + self.path("no/t"), *SHORT)


if __name__ == "__main__":
    unittest.main()
