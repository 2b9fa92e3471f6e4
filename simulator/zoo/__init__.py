"""Benchmark models of the field, built to their published shapes as ONNX bytes with seeded weights."""
