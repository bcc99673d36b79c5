"""Linear classifiers that learn from bandit feedback: estimators, rounds and compiled models."""
