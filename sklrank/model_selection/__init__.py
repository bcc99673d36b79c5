"""Progressive validation: a model that learns row by row is scored on each row beforehand.

Every row is then both a test and a training row, and never a row that the model has seen. Also
known as prequential evaluation; papers on online boosting report the mean of these losses.
"""

from sklrank.model_selection._plot import ProgressiveValidationDisplay
from sklrank.model_selection._progressive import progressive_val_score

__all__ = ["ProgressiveValidationDisplay", "progressive_val_score"]
