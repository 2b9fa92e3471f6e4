"""ONNX files: parsed and checked as hostile input, then bound to a Program by a table from op to small function."""
