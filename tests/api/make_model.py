# SPDX-License-Identifier: Apache-2.0
"""Writes a small ONNX model with an open batch size: make_model.py FILE."""
import sys

import onnx

node = onnx.helper.make_node
graph = onnx.helper.make_graph(
    [node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
     node("Relu", ["c"], ["y"], name="activation")],
    "small",
    [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["N", 1, 5, 5])],
    [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["N", 2, 5, 5])],
    [onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [2, 1, 3, 3],
                             [0.25 * (i % 5 - 2) for i in range(18)])])
onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]),
          sys.argv[1])
