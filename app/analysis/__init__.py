"""What can be said of a vault as a network: pure functions over arrays, and the process that runs them."""
