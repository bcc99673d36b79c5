"""Online linear classifiers: estimators and compiled learners."""
