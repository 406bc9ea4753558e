"""The options of a program follow its reports, and a mode stays when a report does not include it."""

from __future__ import annotations

from acp import schema

from app.agent.acp.client import AcpClient
from app.agent.acp.connection import AcpConnection, AcpSession
from app.agent.acp.options import session_options


def effort(current: str) -> schema.SessionConfigOptionSelect:
    choices = [schema.SessionConfigSelectOption(value=value, name=value.title()) for value in ("low", "high")]
    return schema.SessionConfigOptionSelect(
        id="effort", name="Effort", type="select", current_value=current, options=choices
    )


async def test_a_report_of_options_keeps_the_mode(tmp_path):
    modes = schema.SessionModeState(
        current_mode_id="careful",
        available_modes=[schema.SessionMode(id=id_, name=id_.title()) for id_ in ("careful", "bold")],
    )
    session = AcpSession("s", read_only=False, options=session_options(modes, [effort("low")]))
    client = AcpClient(tmp_path)
    connection = AcpConnection(None, None, None, client)
    connection.sessions["conversation"] = session
    client.on_options_changed = connection._update_options
    await client.session_update(
        "s", schema.ConfigOptionUpdate(session_update="config_option_update", config_options=[effort("high")])
    )
    assert [(one.name, one.current) for one in session.options] == [("Mode", "careful"), ("Effort", "high")]
