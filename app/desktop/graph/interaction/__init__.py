"""Mouse, touch and keyboard on the graph's canvas."""
