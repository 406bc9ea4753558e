from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.permissions.redaction import REDACTED, redacted_json, without_secrets

SECRETS = [
    "sk-abcdefghijklmnop1234",
    "ghp_abcdefghijklmnopqrstuvwxyz012345",
    "AKIAABCDEFGHIJKLMNOP",
    "Bearer abcdefghijklmnopqrstuvwxyz",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijkl",
    "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "Passwd",
        "api_key",
        "apiKey",
        "api-key",
        "token",
        "access_token",
        "client_secret",
        "Authorization",
        "private key",
        "PIN",
        "db.pwd",
    ],
)
def test_values_of_secret_names_are_left_out(name):
    assert json.loads(redacted_json({"properties": {name: "hush"}})) == {"properties": {name: REDACTED}}


@pytest.mark.parametrize("name", ["name", "content", "spinning", "compass", "keyboard", "opinion"])
def test_other_names_are_kept(name):
    assert json.loads(redacted_json({name: "text"})) == {name: "text"}


@pytest.mark.parametrize("secret", SECRETS)
def test_what_looks_like_a_secret_is_left_out(secret):
    assert without_secrets(f"before {secret} after") == f"before {REDACTED} after"
    for padding in (0, 150, 190, 380, 1500):
        assert secret[-12:] not in redacted_json({"text": ["x" * padding + " " + secret + " and more" * 60]})


def test_long_text_is_kept_by_hash_and_first_lines():
    text = "one\ntwo\nthree\nfour\n" + "x" * 1000
    kept = json.loads(redacted_json({"content": text}))["content"]
    assert kept == {
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "characters": len(text),
        "start": "one\ntwo\nthree",
    }


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_anything_can_be_logged(arguments):
    json.loads(redacted_json(arguments))


def test_odd_things_can_be_logged():
    deep: list[object] = []
    for _ in range(500):
        deep = [deep]
    assert "too deeply" in redacted_json({"deep": deep, "object": object(), "bytes": b"x"})
    assert "and 800 more" in redacted_json({"list": list(range(1000))})
