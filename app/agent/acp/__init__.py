"""External agents: installed programs that answer in the panel over the Agent Client Protocol."""
