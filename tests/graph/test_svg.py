from __future__ import annotations

import threading
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.graph.svg import (
    StoppedError,
    SvgDiscs,
    SvgDrawing,
    SvgLabel,
    SvgLines,
    SvgRing,
    svg_chunks,
    write_svg,
)

SVG = "{http://www.w3.org/2000/svg}"


def drawing(words: tuple[SvgLabel, ...] = (), nodes: int = 3) -> SvgDrawing:
    at = np.array([[10.0 * row, 5.0, 2.0] for row in range(nodes)], dtype=np.float32)
    ends = np.array([[0, 5, 10, 5], [10, 5, 20, 5]], dtype=np.float32)
    lines = (SvgLines(ends, "#112233", 1.0, 0.5), SvgLines(ends[:1], "#445566", 1.0, 0.5, dashed=True))
    return SvgDrawing(
        100,
        50,
        "A <graph>",
        lines,
        (SvgDiscs(at, "#ff0000"), SvgDiscs(at[:1], "#00ff00", hollow=True)),
        words,
        (SvgRing(5, 5, 3),),
        "#ffffff",
        "#ffffff",
        "#000000",
        "#888888",
        "Sans",
    )


def parsed(what: SvgDrawing) -> ET.Element:
    return ET.fromstring("".join(svg_chunks(what)))


def test_every_link_node_and_name_is_a_shape_of_its_own():
    root = parsed(drawing((SvgLabel(10, 20, 12, "One & <two>"),), nodes=9000))
    links = root.find(f"{SVG}g[@id='links']")
    assert len(links.findall(f"{SVG}path")) == 3
    assert sum("stroke-dasharray" in path.attrib for path in links) == 1
    notes = root.find(f"{SVG}g[@id='notes']")
    assert len(notes.findall(f".//{SVG}circle")) == 9001
    (name,) = root.findall(f".//{SVG}text")
    assert name.text == "One & <two>"
    assert root.find(f"{SVG}rect").get("fill") == "#ffffff"
    assert parsed(replace(drawing(), background=None)).find(f"{SVG}rect") is None


@given(st.text())
@example("\x00\ud800\ufffe\uffff")
def test_any_name_gives_a_file_that_can_be_read(text: str):
    parsed(drawing((SvgLabel(0, 0, 12, text),)))


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path):
    file = tmp_path / "graph.svg"
    size = write_svg(drawing(), file)
    assert file.stat().st_size == size and ET.parse(file)
    before = file.read_bytes()
    stopped = threading.Event()
    stopped.set()
    with pytest.raises(StoppedError):
        write_svg(drawing(nodes=8), file, stopped)
    assert file.read_bytes() == before and list(tmp_path.iterdir()) == [file]
    with pytest.raises(OSError):
        write_svg(drawing(), tmp_path / "not there" / "graph.svg")
