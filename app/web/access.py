"""Web access for an open vault: individual pages, and searches through the provider that the user chose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.errors import ConflictError, PermissionDeniedError
from app.settings import WebSettings
from app.web.address_policy import (
    AddressPolicy,
    AnyAddress,
    PublicAddresses,
    Resolve,
    SingleOrigin,
    check_url,
    origin_of,
    system_resolve,
)
from app.web.http_fetcher import Fetcher, WebError, WebRequest
from app.web.page import PageReader
from app.web.providers import PROVIDERS, SearchProvider, WebSearchHit

KeyOf = Callable[[str, str], str | None]
"""Returns the key stored for a name and an address (see `key_account`), or None."""

_SETTINGS_PAGE = "Settings → Web"


@dataclass(frozen=True, slots=True)
class WebSearch:
    """A search that is ready to send: the provider's name and the exact request."""

    provider: str
    query: str
    request: WebRequest
    limit: int


class WebAccess:
    """Reads pages and searches the web. Belongs to one event loop.

    Args:
        settings: Returns the current settings.
        key_of: Returns a provider's key.
        address_policy: The addresses that may be fetched; the public Internet by default. A search at an
            address that the user entered may reach only that address.
        resolve: Resolves host names.
    """

    def __init__(
        self,
        settings: Callable[[], WebSettings],
        key_of: KeyOf,
        *,
        address_policy: AddressPolicy | None = None,
        resolve: Resolve = system_resolve,
    ) -> None:
        self._settings = settings
        self._key_of = key_of
        self._address_policy = address_policy or PublicAddresses()
        self._resolve = resolve
        self.fetcher = Fetcher(self._address_policy, resolve)
        self.pages = PageReader(self.fetcher)

    async def close(self) -> None:
        """End the worker process that reads pages."""
        await self.pages.close()

    def prepare(self, query: str, limit: int) -> WebSearch:
        """Return the search that a query would send.

        Raises:
            PermissionDeniedError: no provider is chosen, its address or key is missing, or the address is
                ambiguous.
            InvalidParametersError: the address in the settings is not valid.
        """
        provider = self._provider()
        address = self._address(provider)
        if provider.needs_key and not self._key_of(*key_account(provider.id, address)):
            message = f"{provider.name} needs a key. Enter it in {_SETTINGS_PAGE}."
            raise PermissionDeniedError(message, provider=provider.id)
        return WebSearch(provider.name, query, provider.build_request(address, query, limit), limit)

    async def run(self, search: WebSearch) -> list[WebSearchHit]:
        """Send a prepared search and return its hits, best first.

        Raises:
            ConflictError: the user has changed the provider or its address since then; nothing was sent.
            PermissionDeniedError: the key contains a character that a header can't contain; nothing
                was sent.
            WebError: the provider could not be reached, rejected the key or throttled the search.
            ScriptoriumError: see `prepare`, `Fetcher.fetch` and `SearchProvider.parse_hits`.
        """
        provider = self._provider()
        if search != self.prepare(search.query, search.limit):
            # The key of one provider must not be sent to the address of another.
            message = (
                f"The search provider was changed in {_SETTINGS_PAGE} after this search was prepared."
                " Nothing was sent. Search again."
            )
            raise ConflictError(message, provider=search.provider)
        key = self._key_of(*key_account(provider.id, self._address(provider)))
        if key and not (key.isascii() and key.isprintable()):
            message = (
                f"The key for {provider.name} contains a character that can't be sent. Nothing was sent."
                f" Enter the key again in {_SETTINGS_PAGE}."
            )
            raise PermissionDeniedError(message, provider=provider.id)
        key_headers = provider.key_headers(key) if key else {}
        fetcher = Fetcher(self._policy_for(provider), self._resolve)
        try:
            response = await fetcher.fetch(
                search.request, provider.content_types, secret_headers=key_headers, follow_redirects=False
            )
        except WebError as error:
            raise _explain_error(provider, error) from error
        return provider.parse_hits(response)[: search.limit]

    def _provider(self) -> SearchProvider:
        provider = PROVIDERS.get(self._settings().provider)
        if provider is None:
            raise PermissionDeniedError(f"No search provider is chosen. Choose one in {_SETTINGS_PAGE}.")
        return provider

    def _address(self, provider: SearchProvider) -> str:
        if provider.address:
            return provider.address
        address = self._settings().address.strip()
        if not address:
            message = f"{provider.name} needs the address of your server. Enter it in {_SETTINGS_PAGE}."
            raise PermissionDeniedError(message, provider=provider.id)
        check_url(address, AnyAddress())
        return address

    def _policy_for(self, provider: SearchProvider) -> AddressPolicy:
        """Return a policy that allows only the user's own server, or the default if the address is fixed."""
        if provider.address:
            return self._address_policy
        return SingleOrigin(origin_of(check_url(self._address(provider), AnyAddress())))


def key_account(provider: str, address: str) -> tuple[str, str]:
    """Return the name and address under which the key store keeps a provider's key.

    Without a fixed address, the provider has one key for each `address` that the user enters.
    """
    provider_info = PROVIDERS.get(provider)
    return (
        f"web-{provider}",
        provider_info.address if provider_info is not None and provider_info.address else address.strip(),
    )


def _explain_error(provider: SearchProvider, error: WebError) -> WebError:
    status = error.data.get("status")
    if status in (401, 403):
        message = f"{provider.name} rejected the key ({status}). Enter another one in {_SETTINGS_PAGE}."
        if not provider.needs_key:
            message = f"{provider.name} refuses searches from the app ({status})."
    elif status in (402, 429, 432, 433):
        message = f"{provider.name} has reached its search limit ({status}). Try again later."
    else:
        message = f"{provider.name}: {error.message}"
    return WebError(message, provider=provider.id, **error.data)
