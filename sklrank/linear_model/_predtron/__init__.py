"""Perceptrons for any loss: losses, tasks, rounds and estimators."""
