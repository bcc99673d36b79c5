"""Mirror maps, the constraints of the parameter `mirror_map`, and a tag of scikit-learn."""

from sklrank._sklearn import StrOptions
from sklrank.linear_model._mirror._norms import MIRROR_MAPS

CONSTRAINTS = [StrOptions(set(MIRROR_MAPS))]


def scores_poorly(mirror_map, *, one_score):
    """Return whether a map may fail on linearly separable data, scikit-learn's tag `poor_score`.

    Weights that are a distribution may fail if a feature is evidence against a class. Nonnegative
    weights can use such a feature as evidence for the other classes. But if two classes share one
    score (`one_score`), no feature can be evidence for the first class.
    """
    # Tags must be available for invalid parameters, too.
    if not isinstance(mirror_map, str):
        return True
    return mirror_map == "entropy" or (mirror_map == "positive" and one_score)
