"""Graph analyses: their controls, results and result list."""
