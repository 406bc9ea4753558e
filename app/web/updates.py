"""The check for the latest release: a small file at a fixed address, signed by the app's publisher.

The file is text. Its first line is the Ed25519 signature of all bytes after that line, in base64. These bytes
are a JSON object with the release's `version`, `date`, `page` and `notes` (Markdown). A file with a wrong
signature is rejected, so the server and the network need not be trusted. Nothing else is downloaded.

`cryptography` (Apache-2.0 or BSD) checks the signature; the app already has it for the system's key store.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app import paths
from app.errors import InvalidParametersError
from app.settings import UpdateSettings
from app.web.address_policy import AnyAddress, Origin, PublicAddresses, SingleOrigin, check_url, origin_of
from app.web.addresses import IPAddress
from app.web.http_fetcher import Fetcher, FetchLimits, WebRequest

_CONTENT_TYPES = frozenset(
    {"text/plain", "application/json", "application/octet-stream", "binary/octet-stream"}
)
_RELEASE_LIMITS = FetchLimits(wire_bytes=256 * 1024, decompressed_bytes=256 * 1024, seconds=20.0)
_VERSION = re.compile(r"\d+(\.\d+){0,3}")


class ReleaseError(InvalidParametersError):
    """No release source is set, or a release file can't be trusted or parsed; it had no effect."""


class Release(BaseModel):
    """The content of a release file. `page` is the download page, `notes` is Markdown."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    version: str = Field(pattern=rf"^{_VERSION.pattern}$", max_length=40)
    date: str = Field("", max_length=40)
    page: str = Field(pattern=r"^https?://[^\s]+$", max_length=1000)
    notes: str = Field("", max_length=100_000)


class Publisher(BaseModel):
    """The publisher of this build: written when an installer is built, empty in a checkout."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    update_address: str = ""
    release_key: str = ""


@dataclass(frozen=True, slots=True)
class UpdateSource:
    """The address of release files and the public key of their publisher."""

    address: str
    key: str

    @property
    def is_known(self) -> bool:
        """True if both the address and the key are set."""
        return bool(self.address and self.key)


def read_publisher() -> Publisher:
    """Read the publisher of this build from the shipped file; without a readable file, it is empty."""
    try:
        return Publisher.model_validate_json((paths.resources_folder() / "publisher.json").read_bytes())
    except (OSError, ValidationError):
        return Publisher()


def update_source(settings: UpdateSettings) -> UpdateSource:
    """Return the effective source: the user's entries, with this build's values for empty ones."""
    publisher_info = read_publisher()
    return UpdateSource(
        settings.address.strip() or publisher_info.update_address,
        settings.key.strip() or publisher_info.release_key,
    )


def read_release(content: bytes, key: str) -> Release:
    """Verify a signed file and return its release.

    Args:
        content: The file.
        key: The public key of the publisher: 32 bytes in base64.

    Raises:
        ReleaseError: the key is not valid, the signature is wrong, or the content can't be parsed.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        public_key = Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True))
    except (ValueError, binascii.Error) as error:
        raise ReleaseError("The release key in the settings is not an Ed25519 key in base64.") from error
    signature, _, signed_content = content.partition(b"\n")
    try:
        public_key.verify(base64.b64decode(signature.strip(), validate=True), signed_content)
    except (InvalidSignature, ValueError, binascii.Error) as error:
        raise ReleaseError("The release file does not have the publisher's signature.") from error
    try:
        return Release.model_validate(json.loads(signed_content))
    except (ValueError, ValidationError) as error:
        raise ReleaseError("The signed release file can't be read by this version.") from error


def is_newer(version: str, other: str) -> bool:
    """Return whether `version` is higher than `other`; both have only digits and dots."""
    return _version_numbers(version) > _version_numbers(other)


def _version_numbers(version: str) -> tuple[int, ...]:
    match = _VERSION.match(version)
    numbers = [int(part) for part in match[0].split(".")] if match else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


class _PublicOrOrigin(PublicAddresses):
    """Allows the public Internet and the origin of the update address, wherever that is.

    Release hosts redirect to their storage; the signature protects the content that they serve.
    """

    def __init__(self, origin: Origin) -> None:
        self._origin_policy = SingleOrigin(origin)

    def allows_origin(self, scheme: str, host: str, port: int) -> bool:
        return super().allows_origin(scheme, host, port) or self._origin_policy.allows_origin(
            scheme, host, port
        )

    def allows_address(self, host: str, port: int, address: IPAddress) -> bool:
        return super().allows_address(host, port, address) or self._origin_policy.allows_address(
            host, port, address
        )


async def latest_release(source: UpdateSource) -> Release:
    """Fetch the release file and return the release.

    Raises:
        ReleaseError: there is no source, or the file can't be trusted or parsed.
        ScriptoriumError: see `check_url` and `Fetcher.fetch`.
    """
    if not source.is_known:
        missing = "release key" if source.address else "update address"
        raise ReleaseError(f"No {missing} is set.")
    origin = origin_of(check_url(source.address, AnyAddress()))
    fetcher = Fetcher(_PublicOrOrigin(origin), limits=_RELEASE_LIMITS)
    response = await fetcher.fetch(WebRequest(source.address), _CONTENT_TYPES)
    return read_release(response.body, source.key)
