"""The record of what was shown, and the schemes and schedules by which it is chosen.

The names below are what estimators may take.
"""
