"""The probabilistic label tree."""
