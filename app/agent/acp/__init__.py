"""Agents from outside: installed programs that speak the Agent Client Protocol and answer in the panel."""
