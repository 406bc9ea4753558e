"""The layers of a frame: links, nodes, labels, and their caches."""
