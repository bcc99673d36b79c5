"""Online linear models: compiled learners, and their estimators."""
