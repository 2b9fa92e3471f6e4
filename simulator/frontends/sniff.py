"""Tells what an uploaded file really is from its first bytes, so that a refusal can say it. Reads 4 KiB."""

from __future__ import annotations

import zipfile
from pathlib import Path

from simulator.errors import SimulatorError
from simulator.frontends.limits import Limits

HEAD_BYTES = 4096

# (prefix, what it is, what to do)
MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"\x89PNG\r\n", "a PNG image", "Upload the .onnx file itself."),
    (b"\xff\xd8\xff", "a JPEG image", "Upload the .onnx file itself."),
    (b"GIF8", "a GIF image", "Upload the .onnx file itself."),
    (b"%PDF", "a PDF document", "Upload the .onnx file itself."),
    (b"\x1f\x8b", "a gzip archive", "Unpack it (gunzip) and upload the .onnx file inside."),
    (b"BZh", "a bzip2 archive", "Unpack it and upload the .onnx file inside."),
    (b"\xfd7zXZ", "an xz archive", "Unpack it and upload the .onnx file inside."),
    (b"7z\xbc\xaf", "a 7-Zip archive", "Unpack it and upload the .onnx file inside."),
    (b"\x28\xb5\x2f\xfd", "a zstd archive", "Unpack it and upload the .onnx file inside."),
    (b"\x7fELF", "a Linux program", "Upload the .onnx file itself."),
    (b"MZ", "a Windows program", "Upload the .onnx file itself."),
    (b"#!", "a script", "Upload the .onnx file itself; code is never run."),
    (b"\x93NUMPY", "a NumPy array", "Only .onnx models are read here."),
    (b"\x80\x02", "a Python pickle", "Pickles are never opened; export the model with torch.onnx.export."),
    (b"\x80\x03", "a Python pickle", "Pickles are never opened; export the model with torch.onnx.export."),
    (b"\x80\x04", "a Python pickle", "Pickles are never opened; export the model with torch.onnx.export."),
    (b"\x80\x05", "a Python pickle", "Pickles are never opened; export the model with torch.onnx.export."),
    (b"\x89HDF\r\n", "an HDF5 (Keras) file", "Convert it to ONNX with tf2onnx."),
    (b"GGUF", "a GGUF file", "Upload an .onnx file."),
    (b"ML\xefR", "MLIR bytecode (StableHLO)", "Export the model as ONNX; StableHLO is not read."),
    (b"version https://git-lfs", "a Git LFS pointer", "Fetch the real file with git lfs pull and upload that."),
)


def refuse_unless_plausible(path: Path, limits: Limits) -> int:
    """Size in bytes, or ``model.*`` when the file is empty, too large or visibly not a binary ONNX model."""
    if not path.is_file():
        raise SimulatorError("model.not_found", "There is no such model file.", params={"name": path.name[:200]})
    size = path.stat().st_size
    if size == 0:
        raise SimulatorError("model.empty_file", "The file is empty (0 bytes). Export or upload it again.")
    if size > limits.file_bytes:
        raise SimulatorError(
            "model.too_large",
            f"The file has {size} bytes; the limit is {limits.file_bytes}. Export a smaller model.",
            params={"bytes": size, "limit": limits.file_bytes},
        )
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    _by_magic(head)
    if head.startswith(b"PK\x03\x04"):
        raise _not_onnx(*_zip(path))
    if head[4:8] == b"TFL3":
        raise _not_onnx("a TensorFlow Lite model", "Convert it to ONNX with tf2onnx --tflite.")
    _by_text(head)
    return size


def _not_onnx(what: str, advice: str) -> SimulatorError:
    return SimulatorError("model.not_onnx", f"This is {what}, not an ONNX model. {advice}", params={"found": what})


def _by_magic(head: bytes) -> None:
    for prefix, what, advice in MAGIC:
        if head.startswith(prefix):
            raise _not_onnx(what, advice)
    length = int.from_bytes(head[:8], "little")
    if head[8:9] == b"{" and length < (100 << 20):
        raise _not_onnx("a safetensors file", "It holds weights alone; export the whole model with torch.onnx.export.")


def _zip(path: Path) -> tuple[str, str]:
    """Look at names in the archive's directory only; nothing is expanded."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()[:1000]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return "a broken zip archive", "Upload the .onnx file itself."
    if any(name.endswith(("data.pkl", "archive_format")) for name in names):
        return "a PyTorch archive (zip)", "Export it with torch.onnx.export and upload the .onnx file."
    if any(name.endswith(".npy") for name in names):
        return "a NumPy archive (npz)", "Only .onnx models are read here."
    return "a zip archive", "Unpack it and upload the .onnx file inside."


def _by_text(head: bytes) -> None:
    start = head.lstrip()[:512]
    lowered = start.lower()
    if lowered.startswith((b"<!doctype html", b"<html", b"<head", b"<?xml", b"<!--")):
        raise _not_onnx("an HTML or XML page", "Did the download fail? Fetch the model again and check its size.")
    if not _is_text(head):
        return
    if (b"module" in start and b"func.func" in head) or start.startswith(b"#loc"):
        raise _not_onnx("MLIR text (StableHLO)", "Export the model as ONNX; StableHLO is not read.")
    if any(key in head for key in (b"ir_version", b"opset_import", b"graph {")):
        raise _not_onnx(
            "ONNX in its text form",
            "Save it in the binary form: onnx.save(onnx.load('model.textproto'), 'model.onnx').",
        )
    if start[:1] in (b"{", b"["):
        raise _not_onnx("JSON", "Upload the .onnx file itself.")
    raise _not_onnx("a text file", "Upload the .onnx file itself.")


def _is_text(head: bytes) -> bool:
    return len(head) >= 8 and all(byte in (9, 10, 13) or 32 <= byte < 127 for byte in head)
