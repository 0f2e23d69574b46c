"""What the page of the map of articles holds, unpacked."""

import base64
import json
import re
import zlib

import numpy as np


def head_and_rest(page):
    """What the page says of topics and areas, and the bytes of arrays and texts."""
    (packed,) = re.findall('id="packed">([^<]+)<', page)
    data = zlib.decompress(base64.b64decode(packed))
    length = int.from_bytes(data[:4], "little")
    end = 4 + length
    return json.loads(data[4:end]), data[end:]


def unpacked(page):
    """The head, and by name the arrays and texts of the page."""
    head, data = head_and_rest(page)
    n = head["n"]
    at = 0
    found = {}
    kinds = [("x", "<u2"), ("y", "<u2"), ("levels", "u1")]
    for column in range(head["columns"]):
        kinds.append((f"topic{column}", "u1" if head["width"] == 1 else "<u2"))
    if head["labels"]:
        kinds.append(("labels", "u1"))
    for name, kind in kinds:
        found[name] = np.frombuffer(data, kind, n, at)
        at += n * np.dtype(kind).itemsize
    lines = data[at:].decode().split("\n")
    for name, has in zip(("titles", "addresses", "snippets"), head["texts"], strict=True):
        if has:
            found[name] = lines[:n]
            lines = lines[n:]
    assert not lines
    return head, found
