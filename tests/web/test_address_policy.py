"""The guard rejects addresses as text, by name, after a redirect, and when a name changes its address."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.responses import RedirectResponse, Response

from app.errors import (
    InvalidParametersError,
    LimitError,
    NotFoundError,
    PermissionDeniedError,
    ScriptoriumError,
)
from app.web.address_policy import Origin, PublicAddresses, SingleOrigin
from app.web.http_fetcher import Fetcher, WebError, WebRequest
from tests.support.page_server import NAME, Names, PageServer, PublicAndOne

KINDS = frozenset({"text/plain"})


@pytest.fixture
def server() -> Iterator[PageServer]:
    with PageServer({"/": Response("here", media_type="text/plain")}) as running:
        yield running


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost/",
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[fe80::1%25eth0]/",
        "http://169.254.169.254/latest/meta-data",
        "http://10.0.0.1/",
        "http://192.168.0.1./",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://0.0.0.0/",
        "http://127。0。0。1/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "https://localhost./",
        "http://example.org:22/",
        "http://example.org:0/",
        "https://example.org:80/",
        "http://example.org:9200/",
    ],
)
async def test_addresses_that_are_not_public_are_refused_in_any_spelling(url: str) -> None:
    with pytest.raises((PermissionDeniedError, InvalidParametersError)):
        await Fetcher(PublicAddresses()).fetch(WebRequest(url), KINDS)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/",
        "gopher://example.org/",
        "javascript:alert(1)",
        "example.org",
        "http://",
        "http:///x",
        "http://user:secret@example.org/",
        "http://user@example.org/",
        "http://exa mple.org/",
        "http://example.org\\@127.0.0.1/",
        "http://%31%32%37.0.0.1/",
        "http://a\nb/",
        "http://example.org/" + "a" * 5000,
    ],
)
async def test_addresses_that_are_not_plain_web_urls_are_refused(url: str) -> None:
    with pytest.raises(InvalidParametersError):
        await Fetcher(PublicAddresses()).fetch(WebRequest(url), KINDS)


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["10.0.0.7"], ["::1"], ["::ffff:127.0.0.1"], ["93.184.216.34", "192.168.0.1"]],
)
async def test_a_name_with_any_address_that_is_not_public_is_refused(addresses: list[str]) -> None:
    names = Names()
    names.answers["intern.example"] = [addresses]
    with pytest.raises(PermissionDeniedError, match="not on the public Internet"):
        await Fetcher(PublicAddresses(), names).fetch(WebRequest("http://intern.example/"), KINDS)


async def test_a_name_without_an_address_is_not_found() -> None:
    with pytest.raises(NotFoundError, match=r"server nowhere\.example was not found"):
        await Fetcher(PublicAddresses(), Names()).fetch(WebRequest("http://nowhere.example/"), KINDS)


async def test_a_name_is_looked_up_once_for_check_and_connection(server: PageServer) -> None:
    """There is no second lookup that could return another address for the connection."""
    names = Names()
    names.answers[NAME] = [["127.0.0.1"], ["10.0.0.1"]]
    answer = await Fetcher(PublicAndOne(server), names).fetch(WebRequest(server.at("/")), KINDS)
    assert answer.body == b"here"
    assert names.asked == [NAME]


async def test_a_name_that_turns_to_loopback_between_two_hops_is_refused(server: PageServer) -> None:
    """DNS rebinding: public for the first request, this machine for the redirect's target."""
    names = Names()
    rebound = f"http://rebind.example:{server.port}/"
    names.answers["rebind.example"] = [["127.0.0.1"]]
    server.answers["/go"] = RedirectResponse(rebound)
    with pytest.raises(PermissionDeniedError):
        await Fetcher(PublicAndOne(server), names).fetch(WebRequest(server.at("/go")), KINDS)
    assert [one.path for one in server.asked] == ["/go"]


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1:{port}/",
        "http://localhost/",
        "http://2130706433:{port}/",
        "http://[::1]:{port}/",
        "http://169.254.169.254/",
        "file:///etc/passwd",
        "//127.0.0.1:{port}/",
        "http://u:p@pages.example:{port}/",
        "http://[x",
    ],
)
async def test_a_redirect_is_checked_as_the_first_address_is(server: PageServer, target: str) -> None:
    server.answers["/go"] = RedirectResponse(target.format(port=server.port))
    with pytest.raises((PermissionDeniedError, InvalidParametersError)):
        await Fetcher(PublicAndOne(server), Names()).fetch(WebRequest(server.at("/go")), KINDS)
    assert [one.path for one in server.asked] == ["/go"]


async def test_redirects_are_followed_to_the_end_and_no_further_than_the_bound(server: PageServer) -> None:
    server.answers["/one"] = RedirectResponse("/two?x=1")
    server.answers["/two"] = RedirectResponse(server.at("/"), 301)
    server.answers["/round"] = RedirectResponse("/round")
    fetcher = Fetcher(PublicAndOne(server), Names())
    answer = await fetcher.fetch(WebRequest(server.at("/one#part")), KINDS)
    assert answer.url == server.at("/")
    with pytest.raises(LimitError, match="Redirected more than 5 times"):
        await fetcher.fetch(WebRequest(server.at("/round")), KINDS)
    with pytest.raises(WebError, match="redirect"):
        await fetcher.fetch(WebRequest(server.at("/one")), KINDS, follow_redirects=False)


async def test_a_key_and_a_body_stay_with_the_first_server(server: PageServer) -> None:
    server.answers["/go"] = RedirectResponse("/", 307)
    request = WebRequest(server.at("/go"), "POST", b"words")
    await Fetcher(PublicAndOne(server), Names()).fetch(
        request, KINDS, secret_headers={"Authorization": "Bearer k"}
    )
    first, second = server.asked
    assert (first.headers["authorization"], first.body) == ("Bearer k", b"words")
    assert "authorization" not in second.headers and (second.method, second.body) == ("GET", b"")


async def test_a_request_says_who_asks_and_carries_no_cookie(server: PageServer) -> None:
    cookie = Response("one", media_type="text/plain", headers={"set-cookie": "track=1"})
    server.answers["/cookie"] = cookie
    fetcher = Fetcher(PublicAndOne(server), Names())
    for _ in range(2):
        await fetcher.fetch(WebRequest(server.at("/cookie")), KINDS)
    for asked in server.asked:
        assert asked.headers["user-agent"].startswith("Scriptorium/")
        assert not {"cookie", "referer", "authorization"} & set(asked.headers)
        assert asked.headers["host"] == f"{NAME}:{server.port}"


async def test_the_users_own_server_is_reached_at_exactly_its_origin(server: PageServer) -> None:
    own = Fetcher(SingleOrigin(Origin("http", "127.0.0.1", server.port)))
    assert (await own.fetch(WebRequest(f"{server.address}/"), KINDS)).body == b"here"
    for other in (
        f"http://localhost:{server.port}/",
        "http://127.0.0.1:1/",
        f"https://127.0.0.1:{server.port}/",
    ):
        with pytest.raises(PermissionDeniedError):
            await own.fetch(WebRequest(other), KINDS)


async def test_a_proxy_of_the_environment_is_not_used(
    server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    answer = await Fetcher(PublicAndOne(server), Names()).fetch(WebRequest(server.at("/")), KINDS)
    assert answer.body == b"here"


async def test_an_unreachable_server_is_reported(server: PageServer) -> None:
    names = Names()
    own = Fetcher(SingleOrigin(Origin("http", "127.0.0.1", 1)), names)
    with pytest.raises(ScriptoriumError, match="could not be reached"):
        await own.fetch(WebRequest("http://127.0.0.1:1/"), KINDS)
