"""The doctor reports what keeps it from checking a vault."""

from __future__ import annotations

from pathlib import Path

import pytest

from app import paths
from app.cli.diagnostics import Severity
from app.cli.vault_checks import check_vault
from app.errors import PermissionDeniedError
from app.servers.endpoint_file import Endpoint, new_endpoint, publish
from app.servers.remote_vault import RemoteVaultAccess


async def test_a_holder_that_rejects_the_connection_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def reject(endpoint: Endpoint) -> RemoteVaultAccess:
        raise PermissionDeniedError("The token is unknown.")

    monkeypatch.setattr(RemoteVaultAccess, "join", reject)
    publish(paths.vault_data_folder(tmp_path), new_endpoint(1234))
    (holder,) = [result for result in await check_vault(tmp_path) if result.what == "holder"]
    assert holder.state is Severity.WRONG and "The token is unknown." in holder.message
