"""Text that is known before the run: joining, splitting, normalising; and counts of n-grams, of words or of numbers."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np

from simulator.frontends.onnx.call import Call, xp
from simulator.frontends.onnx.registry import op


def _words(call: Call, x: Any) -> np.ndarray:
    """Elements as str, in an object array of the same shape."""
    known = call.known(x, "text")
    flat = [v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in known.reshape(-1)]
    return np.array(flat, object).reshape(known.shape)


@op("StringConcat")
def concat(call: Call, a: Any, b: Any) -> Any:
    return np.asarray(np.add(_words(call, a), _words(call, b)), object)


@op("StringSplit")
def split(call: Call, x: Any) -> Any:
    """The pieces along a new last axis, filled up with empty ones, and how many each has."""
    words, mark = _words(call, x), call.text("delimiter", "")
    most = call.attr("maxsplit")
    pieces = [word.split(mark or None, -1 if most is None else most) for word in words.reshape(-1)]
    width = max((len(p) for p in pieces), default=0)
    call.scratch(width * len(pieces))
    table = np.array([p + [""] * (width - len(p)) for p in pieces], object).reshape(*words.shape, width)
    return table, np.array([len(p) for p in pieces], np.int64).reshape(words.shape)


@op("StringNormalizer")
def normalise(call: Call, x: Any) -> Any:
    """Without accents and stop words, in one case; with nothing left, one empty word."""
    change, sensitive = call.text("case_change_action", "NONE"), bool(call.attr("is_case_sensitive", 0))
    stops = {s.decode() if isinstance(s, bytes) else s for s in call.attr("stopwords") or []}
    stops = stops if sensitive else {_cased(s, "LOWER") for s in stops}
    words = _words(call, x)
    kept = [_cased(_plain(w), change) for w in words.reshape(-1) if (w if sensitive else w.lower()) not in stops]
    if words.ndim == 2:
        return np.array([kept or [""]], object)
    return np.array(kept or [""], object)


def _plain(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


def _cased(word: str, change: str) -> str:
    return {"LOWER": word.lower(), "UPPER": word.upper()}.get(change, word)


@op("TfIdfVectorizer")
def count_grams(call: Call, x: Any) -> Any:
    """How often each n-gram of a pool appears in each row, also with gaps, weighed: [N, entries] float32."""
    table = call.attr("pool_int64s")
    words = table is None
    rows = _words(call, x) if words else x
    pool = np.array([s.decode() for s in call.attr("pool_strings")] if words else list(table or []), object)
    flat = rows.ndim == 1
    rows = rows.reshape(1, -1) if flat else rows
    indexes, weights = call.required("ngram_indexes"), call.attr("weights")
    mode, space = call.text("mode", "TF"), xp(rows)
    counts = _gram_counts(call, rows, pool)
    if weights is not None and mode != "TF":
        scale = np.asarray(weights, np.float32)
        counts = (counts > 0) * scale if mode == "IDF" else counts * scale
    place = np.zeros((len(indexes), max(indexes) + 1), np.float32)
    place[np.arange(len(indexes)), list(indexes)] = 1
    result = space.matmul(counts.astype(np.float32), place)
    return result[0] if flat else result


def _gram_counts(call: Call, rows: Any, pool: np.ndarray) -> Any:
    """[N, n-grams of the pool in order], zero for lengths that are not asked for."""
    starts, space = [int(c) for c in call.required("ngram_counts")], xp(rows)
    least, most = call.attr("min_gram_length"), call.attr("max_gram_length")
    columns = []
    for size, (begin, end) in enumerate(zip(starts, [*starts[1:], len(pool)], strict=True), 1):
        grams = pool[begin:end].reshape(-1, size)
        total = space.zeros((rows.shape[0], len(grams)), np.float32)
        gaps = range(call.attr("max_skip_count") + 1) if size > 1 else range(1)
        for gap in gaps if least <= size <= most else ():
            reach = rows.shape[1] - (size - 1) * (gap + 1)
            if reach < 1 or not len(grams):
                continue
            call.scratch(rows.shape[0] * reach * len(grams))
            same = True
            for i in range(size):
                window = rows[:, i * (gap + 1) : i * (gap + 1) + reach]
                wanted = grams[:, i] if grams.dtype == rows.dtype else grams[:, i].astype(np.int64)
                same = same & (window[:, :, None] == wanted)
            total = total + space.sum(same, 1)
        columns.append(total)
    return space.concatenate(columns, 1)
