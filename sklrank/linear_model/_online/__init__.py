"""Estimators and compiled learners of the online linear classifiers."""
