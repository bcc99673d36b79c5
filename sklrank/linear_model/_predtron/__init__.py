"""Perceptrons for any loss: losses, representations, tasks made of both, rounds, estimators."""
