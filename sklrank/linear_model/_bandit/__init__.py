"""Estimators, rounds and compiled models of linear classifiers that learn from bandit feedback."""
