#!/usr/bin/env python3
"""List the licenses of all packages that the app needs at run time: `python packaging/licenses.py`.

Reads the metadata of the installed packages, starting from the app's own requirements. The exit status is 1
if a license is unknown or is neither permissive nor weak copyleft. Run it with the environment's Python.
"""

from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

PERMISSIVE = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "CNRI-Python",
        "ISC",
        "MIT",
        "MIT-0",
        "PSF-2.0",
        "Unlicense",
        "Zlib",
    }
)
WEAK_COPYLEFT = frozenset(
    {"LGPL-2.1-only", "LGPL-2.1-or-later", "LGPL-3.0-only", "LGPL-3.0-or-later", "MPL-1.1", "MPL-2.0"}
)

# Older metadata names its license in words.
_LICENSE_NAMES = {
    "2-clause bsd license": "BSD-2-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "apache 2.0": "Apache-2.0",
    "bsd 2-clause license": "BSD-2-Clause",
    "mit license": "MIT",
    "the bsd 2-clause license": "BSD-2-Clause",
}
_CLASSIFIERS = {
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
    "License :: OSI Approved :: ISC License (ISCL)": "ISC",
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "License :: OSI Approved :: Python Software Foundation License": "PSF-2.0",
}
_HEADINGS = {
    re.compile(r"\s*Apache License\s+Version 2\.0, January 2004"): "Apache-2.0",
    re.compile(r"\s*(The )?MIT License\b"): "MIT",
    re.compile(r"\s*(Copyright[^\n]*\s+)*Permission is hereby granted, free of charge, to any person"): "MIT",
    # The text alone does not say "or later".
    re.compile(r"\s*GNU LESSER GENERAL PUBLIC LICENSE\s+Version 2\.1"): "LGPL-2.1-only",
}


@dataclass(frozen=True, slots=True)
class Dependency:
    """An installed package that the app needs, directly or through another package.

    Attributes:
        name: The name as spelled in its metadata.
        version: The installed version.
        license: An SPDX expression; empty if no known license was found.
        url: The project's page; may be empty.
        texts: The contents of the license, notice and author files in its metadata.
    """

    name: str
    version: str
    license: str
    url: str
    texts: tuple[str, ...]

    @property
    def allowed(self) -> bool:
        """True if the license is known and permissive or weak copyleft, or offers such a choice."""
        return bool(self.license) and is_allowed(self.license)


def runtime_dependencies(root: str = "scriptorium") -> list[Dependency]:
    """Return the installed packages that `root` requires, directly or indirectly, sorted by name.

    Args:
        root: The name of an installed package; it is not in the result.

    Raises:
        importlib.metadata.PackageNotFoundError: A required package is not installed.
    """
    dependencies: dict[str, Dependency] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    pending = list(_required(importlib.metadata.distribution(root), frozenset()))
    while pending:
        name, extras = pending.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        distribution = importlib.metadata.distribution(name)
        dependencies[name] = _dependency(distribution)
        pending += _required(distribution, extras)
    return [dependencies[name] for name in sorted(dependencies)]


def is_allowed(expression: str) -> bool:
    """Return whether an SPDX expression is permissive or weak copyleft; of `OR`, one choice is enough.

    Raises:
        InvalidLicenseExpression: It is not a valid expression.
    """
    tokens = canonicalize_license_expression(expression).replace("(", " ( ").replace(")", " ) ").split()

    def parse_or() -> bool:
        result = parse_and()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            result = parse_and() or result
        return result

    def parse_and() -> bool:
        result = parse_term()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            result = parse_term() and result
        return result

    def parse_term() -> bool:
        token = tokens.pop(0)
        if token == "(":
            result = parse_or()
            tokens.pop(0)
        else:
            result = token in PERMISSIVE or token in WEAK_COPYLEFT
        if tokens and tokens[0] == "WITH":
            del tokens[:2]
        return result

    return parse_or()


def _required(
    distribution: importlib.metadata.Distribution, extras: frozenset[str]
) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the name and extras of each package that a package requires with these extras on this system."""
    for text in distribution.requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras | {""}):
            yield canonicalize_name(requirement.name), frozenset(requirement.extras)


def _dependency(distribution: importlib.metadata.Distribution) -> Dependency:
    metadata = distribution.metadata
    texts = tuple(
        file.read_text("utf-8")
        for file in distribution.files or ()
        if re.match(r"(?i)(licen[cs]e|copying|notice|authors)", file.name) and ".dist-info" in str(file)
    )
    urls = [value.split(",", 1)[1].strip() for value in metadata.get_all("Project-URL") or () if "," in value]
    return Dependency(
        metadata["Name"],
        distribution.version,
        _license(metadata.get_all("Classifier") or (), metadata, texts),
        metadata.get("Home-page") or (urls[0] if urls else ""),
        texts,
    )


def _license(
    classifiers: list[str] | tuple[()], metadata: importlib.metadata.PackageMetadata, texts: tuple[str, ...]
) -> str:
    """Return the license as an SPDX expression: as stated, by classifier or by text; empty if unknown."""
    for stated in (metadata.get("License-Expression"), metadata.get("License")):
        heading = (stated or "").strip().split("\n")[0]
        try:
            return canonicalize_license_expression(_LICENSE_NAMES.get(heading.lower(), heading))
        except InvalidLicenseExpression:
            continue
    named = [
        _CLASSIFIERS.get(each, "") for each in classifiers if each.startswith("License :: OSI Approved :: ")
    ]
    if named and all(named):
        return " AND ".join(named)
    for text in texts:
        for heading_pattern, license_id in _HEADINGS.items():
            if heading_pattern.match(text):
                return license_id
    return ""


def main() -> int:
    """Print a line for each package; return 1 if a license is not allowed."""
    status = 0
    for dependency in runtime_dependencies():
        mark = "  " if dependency.allowed else "! "
        print(f"{mark}{dependency.name} {dependency.version}: {dependency.license or 'unknown'}")
        status |= not dependency.allowed
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
