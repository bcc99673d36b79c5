"""Online boosting of label rankers."""

from sklrank.online_boosting._ada_olmr import AdaOLMR
from sklrank.online_boosting._online_bmr import OnlineBMR

__all__ = ["AdaOLMR", "OnlineBMR"]
