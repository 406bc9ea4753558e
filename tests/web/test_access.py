"""Each provider's protocol against a local server that speaks it, and the errors on failure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.responses import JSONResponse, RedirectResponse, Response

from app.errors import PermissionDeniedError, ScriptoriumError
from app.settings import WebSettings
from app.web.access import WebAccess, key_account
from app.web.address_policy import AddressPolicy
from app.web.http_fetcher import WebError
from app.web.providers import PROVIDERS, SearchProvider
from tests.support.page_server import Names, PageServer, PublicAndOne

RESULTS = [
    {"url": "https://a.example/1", "title": "First &amp; <b>best</b>", "text": "Some <em>words</em> of it."},
    {"url": "ftp://a.example/2", "title": "Not the web", "text": ""},
    {"url": "https://a.example/3", "title": "", "text": ""},
    {"url": "https://a.example/1", "title": "Again", "text": ""},
]
DDG_PAGE = """<html><body>
<div class="result results_links result--ad"><a class="result__a" href="https://ad.example/">Ad</a></div>
<div class="result results_links web-result"><h2><a class="result__a"
 href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F1&amp;rut=x">First &amp; <b>best</b></a></h2>
 <a class="result__snippet" href="x">Some <b>words</b> of it.</a></div>
<div class="result web-result"><a class="result__a" href="https://a.example/3">https://a.example/3</a></div>
<div class="result web-result"><a class="result__a" href="//[malformed">Malformed</a></div>
</body></html>"""
NOTHING = '<html><body><div class="no-results">No results.</div></body></html>'
PATHS = {"searxng": "/search", "tavily": "/search", "brave": "/res/v1/web/search", "duckduckgo": "/html/"}


def answer_of(provider: str, found: list[dict[str, str]]) -> Response:
    if provider == "searxng":
        rows = [{"url": r["url"], "title": r["title"], "content": r["text"]} for r in found]
        return JSONResponse({"query": "q", "results": rows})
    if provider == "tavily":
        rows = [{"url": r["url"], "title": r["title"], "content": r["text"]} for r in found]
        return JSONResponse({"results": rows})
    if provider == "brave":
        rows = [{"url": r["url"], "title": r["title"], "description": r["text"]} for r in found]
        return JSONResponse({"type": "search", **({"web": {"results": rows}} if rows else {})})
    return Response(DDG_PAGE if found else NOTHING, media_type="text/html")


@pytest.fixture
def server() -> Iterator[PageServer]:
    with PageServer() as running:
        yield running


class WebBench:
    """Web access set up for one provider with the address of the test's server."""

    def __init__(self, server: PageServer, provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.server = server
        self.provider: SearchProvider = PROVIDERS[provider]
        self.path = PATHS[provider]
        if self.provider.address:
            monkeypatch.setattr(type(self.provider), "address", server.at(""))
        self.keys = {key_account("tavily", ""): "tv-key", key_account("brave", ""): "br-key"}
        settings = WebSettings.model_validate({"provider": provider, "address": server.address})
        reach: AddressPolicy = PublicAndOne(server)
        self.web = WebAccess(
            lambda: settings,
            lambda name, at: self.keys.get((name, at)),
            address_policy=reach,
            resolve=Names(),
        )


@pytest.fixture(params=sorted(PROVIDERS))
def bench(request: pytest.FixtureRequest, server: PageServer, monkeypatch: pytest.MonkeyPatch) -> WebBench:
    return WebBench(server, request.param, monkeypatch)


async def test_each_provider_finds_pages_by_its_own_protocol(bench: WebBench) -> None:
    bench.server.answers[bench.path] = answer_of(bench.provider.id, RESULTS)
    search = bench.web.prepare("clocks & tides", 5)
    first, second = await bench.web.run(search)
    assert (first.url, first.title, first.snippet) == (
        "https://a.example/1",
        "First & best",
        "Some words of it.",
    )
    assert (second.url, second.title) == ("https://a.example/3", "https://a.example/3")
    (server_request,) = bench.server.asked
    queries = parse_qs(urlsplit(server_request.path).query).get("q") or [
        json.loads(server_request.body)["query"]
    ]
    assert queries == ["clocks & tides"]


async def test_what_is_shown_is_what_is_sent_and_the_key_is_not_shown(bench: WebBench) -> None:
    bench.server.answers[bench.path] = answer_of(bench.provider.id, RESULTS)
    search = bench.web.prepare("clocks", 1)
    assert len(await bench.web.run(search)) == 1
    (server_request,) = bench.server.asked
    assert search.request.url.endswith(server_request.path)
    assert (server_request.method, server_request.body) == (search.request.method, search.request.body)
    carried = [
        server_request.headers.get("authorization"),
        server_request.headers.get("x-subscription-token"),
    ]
    expected = {"tavily": ["Bearer tv-key", None], "brave": [None, "br-key"]}
    assert carried == expected.get(bench.provider.id, [None, None])
    assert "-key" not in repr(search)


async def test_nothing_found_is_no_error(bench: WebBench) -> None:
    bench.server.answers[bench.path] = answer_of(bench.provider.id, [])
    assert await bench.web.run(bench.web.prepare("nothing", 5)) == []


@pytest.mark.parametrize(
    ("status", "words"),
    [(401, "(rejected the key|refuses searches)"), (429, "reached its search limit"), (500, "error 500")],
)
async def test_errors_have_readable_messages(bench: WebBench, status: int, words: str) -> None:
    bench.server.answers[bench.path] = Response("secret words of a server", status)
    with pytest.raises(WebError, match=words) as caught:
        await bench.web.run(bench.web.prepare("clocks", 5))
    assert caught.value.data["status"] == status
    assert "secret words" not in str(caught.value.as_dict())


@pytest.mark.parametrize(
    "body",
    ["", "[1, 2]", "{", '{"results": 3, "web": 3}', "[" * 100_000, '{"web": {"results": "x"}}', "<html>"],
)
async def test_malformed_answers_are_errors_not_results(bench: WebBench, body: str) -> None:
    kind = "text/html" if bench.provider.id == "duckduckgo" else "application/json"
    bench.server.answers[bench.path] = Response(body, media_type=kind)
    with pytest.raises(ScriptoriumError):
        await bench.web.run(bench.web.prepare("clocks", 5))


async def test_a_provider_that_redirects_gets_no_key_elsewhere(bench: WebBench) -> None:
    bench.server.answers[bench.path] = RedirectResponse("/other")
    with pytest.raises(WebError, match="redirect"):
        await bench.web.run(bench.web.prepare("clocks", 5))
    assert len(bench.server.asked) == 1


@pytest.mark.parametrize("key", ["tv–key", "tv\nkey"])
async def test_a_key_that_no_header_can_contain_is_reported(
    server: PageServer, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    bench = WebBench(server, "tavily", monkeypatch)
    bench.keys[key_account("tavily", "")] = key
    with pytest.raises(PermissionDeniedError, match="Nothing was sent"):
        await bench.web.run(bench.web.prepare("clocks", 5))
    assert server.asked == []


def test_a_missing_setting_is_reported_with_its_place() -> None:
    for chosen, words in (
        ({}, "No search provider is chosen"),
        ({"provider": "searxng"}, "address of your server"),
        ({"provider": "tavily"}, "Tavily needs a key"),
        ({"provider": "brave"}, "Brave Search needs a key"),
    ):
        settings = WebSettings.model_validate(chosen)
        web = WebAccess(lambda settings=settings: settings, lambda name, at: None)  # type: ignore[misc]
        with pytest.raises(PermissionDeniedError, match=words):
            web.prepare("clocks", 5)


@pytest.mark.parametrize("address", ["file:///x", "localhost:8888", "http://u:p@localhost/", "http://"])
def test_an_invalid_address_is_refused(address: str) -> None:
    settings = WebSettings(provider="searxng", address=address)
    with pytest.raises(ScriptoriumError):
        WebAccess(lambda: settings, lambda name, at: None).prepare("clocks", 5)


async def test_the_users_own_server_opens_no_other_local_address(server: PageServer) -> None:
    """The address of the settings is used for searches only; pages stay on the public Internet."""
    settings = WebSettings(provider="searxng", address=server.address)
    web = WebAccess(lambda: settings, lambda name, at: None)
    server.answers["/search"] = answer_of("searxng", RESULTS)
    assert await web.run(web.prepare("clocks", 5))
    with pytest.raises(PermissionDeniedError):
        await web.pages.read(f"{server.address}/search?q=x&format=json")
