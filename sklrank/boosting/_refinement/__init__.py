"""Refinement of the ranking of a base ranker by few judgements."""
