"""Predtron: perceptrons for any loss, with their losses, tasks, rounds and estimators."""
