"""External servers made with the official SDK, over HTTP and over stdio."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.errors import InvalidParametersError, PermissionDeniedError
from app.external.connection import ConnectionState
from app.external.http_transport import UserServerAddresses, origin_at, token_account
from app.external.states import ExternalProgress
from app.settings import ExternalServer
from app.toolkit.call import Call
from app.web.address_policy import check_url
from app.web.addresses import parse_address
from tests.support.external_servers import AGENT, allow_all, run_server, state, until, wait_for_state
from tests.support.sdk_mcp_server import SdkServer, Tools


@pytest.fixture
def served() -> Iterator[SdkServer]:
    with SdkServer(Tools("echo", "steps", "never", "huge", "asks")) as server:
        yield server


def at(address: str, name: str = "Far", **more: object) -> ExternalServer:
    return ExternalServer.model_validate(
        {"name": name, "transport": "http", "address": address, "on": True, "seconds": 30, **more}
    )


async def test_tools_over_http_are_listed_page_by_page_and_called(opened, served, approver) -> None:
    await run_server(opened, at(served.address))
    names = allow_all(opened, "Far")
    assert len(names) == 5 and state(opened.external, "Far").implementation == "sdk 1"
    outcome = await opened.runner.run(Call.of(names["echo"], {"text": "hi"}, AGENT))
    assert outcome.result["text"] == "hi" and outcome.untrusted
    assert approver.asked[0].proposal.arguments[0] == ("address", served.address)
    events: list[ExternalProgress] = []
    opened.events.subscribe(ExternalProgress, events.append)
    await opened.runner.run(Call.of(names["steps"], {}, AGENT))
    assert events == [ExternalProgress("far__steps", 0.25, "a quarter")]
    huge = await opened.runner.run(Call.of(names["huge"], {}, AGENT))
    assert huge.error["type"] == "network"
    asks = await opened.runner.run(Call.of(names["asks"], {}, AGENT))
    assert "asked for user input" in asks.message
    assert (await opened.runner.run(Call.of(names["echo"], {"text": "still"}, AGENT))).result[
        "text"
    ] == "still"


async def test_withdrawing_a_call_over_http_reaches_the_server(opened, served) -> None:
    await run_server(opened, at(served.address))
    names = allow_all(opened, "Far")
    call = asyncio.create_task(opened.runner.run(Call.of(names["never"], {}, AGENT)))
    while served.tools.called != ["never"]:
        await asyncio.sleep(0.01)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    while served.tools.cancelled != ["never"]:
        await asyncio.sleep(0.01)


async def test_a_server_over_http_notifies_of_new_tools(opened, served) -> None:
    await run_server(opened, at(served.address))
    while not any(header.get("mcp-method") == "subscriptions/listen" for header in served.headers):
        await asyncio.sleep(0.01)
    served.tools.names.append("late")
    served.publish_change()
    await until(opened.events, lambda: len(state(opened.external, "Far").tools) == 6)


async def test_the_token_comes_from_the_key_store_and_goes_to_its_origin_alone(
    opened, caplog, tmp_path
) -> None:
    caplog.set_level(logging.DEBUG)
    with SdkServer(Tools("echo"), token="sesame-open-1234567890") as server:
        opened.change_settings("external", servers=(at(server.address),))
        failed = await wait_for_state(opened, "Far", ConnectionState.FAILED)
        assert failed.reason == "it requires a token, or rejected the one that was sent (401)"
        opened.keys.set(*token_account("Far", server.address), "sesame-open-1234567890")
        opened.external.retry("Far")
        await wait_for_state(opened, "Far", ConnectionState.RUNNING)
        names = allow_all(opened, "Far")
        assert (await opened.runner.run(Call.of(names["echo"], {"text": "in"}, AGENT))).success
        # The same server under another address has no token.
        assert opened.keys.get(*token_account("Far", "http://127.0.0.1:9/mcp")) is None
        kept = (tmp_path / "never").parent.rglob("*")
        said = caplog.text + str(opened.audit.entries(limit=9))
        said += "".join(one.read_text("utf-8", "replace") for one in kept if one.is_file())
        assert "sesame-open" not in said


@pytest.mark.parametrize("path", ["away", "packed"])
async def test_redirects_elsewhere_and_packed_answers_are_refused(opened, served, path) -> None:
    opened.change_settings("external", servers=(at(served.address.replace("/mcp", f"/{path}")),))
    failed = await wait_for_state(opened, "Far", ConnectionState.FAILED)
    assert failed.reason and not failed.is_listed


async def test_a_server_that_goes_away_and_comes_back(opened) -> None:
    with SdkServer(Tools("echo")) as server:
        await run_server(opened, at(server.address))
        names, port = allow_all(opened, "Far"), server.port
    outcome = await opened.runner.run(Call.of(names["echo"], {}, AGENT))
    assert outcome.error["type"] == "network"
    await until(
        opened.events, lambda: state(opened.external, "Far").reason == "nothing is responding at the address"
    )
    with SdkServer(Tools("echo"), port=port):
        await wait_for_state(opened, "Far", ConnectionState.RUNNING)
        assert (await opened.runner.run(Call.of(names["echo"], {"text": "again"}, AGENT))).success


async def test_a_program_made_with_the_sdk(opened) -> None:
    root = Path(__file__).resolve().parents[2]
    given = ("-m", "tests.support.sdk_mcp_server")
    program = ExternalServer(
        name="Sdk", command=sys.executable, arguments=given, variables=("PYTHONPATH",), on=True
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(root))
        await run_server(opened, program)
        names = allow_all(opened, "Sdk")
        outcome = await opened.runner.run(Call.of(names["third"], {"text": "here"}, AGENT))
    assert len(names) == 3 and outcome.result["text"] == "here"


def test_without_encryption_only_to_this_network() -> None:
    plain, safe = (
        UserServerAddresses(origin_at("http://nas.lan/mcp")),
        UserServerAddresses(origin_at("https://a.example/mcp")),
    )
    near, far = parse_address("192.168.1.7"), parse_address("93.184.216.34")
    assert near is not None and far is not None
    assert plain.allows_address("nas.lan", 80, near) and not plain.allows_address("nas.lan", 80, far)
    assert safe.allows_address("a.example", 443, far) and not safe.allows_address("b.example", 443, far)
    assert UserServerAddresses(origin_at("http://127.0.0.1:8000/")).allows_address(
        "127.0.0.1", 8000, parse_address("127.0.0.1")
    )  # type: ignore[arg-type]
    with pytest.raises(PermissionDeniedError):
        check_url("http://nas.lan:81/mcp", plain)
    for address in (
        "ftp://a/",
        "https://me:pw@a.example/",
        "nonsense",
        "",
        "http://0x7f.1/",
        "http://a.example:0/",
    ):
        with pytest.raises(InvalidParametersError):
            origin_at(address)
