"""Benchmark models of the field, built to their published shapes as ONNX; weights are drawn only when numbers run."""
