"""Ranks and scores of labels as data frames, whose columns are the names of the labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sklrank._sklearn import ADAPTERS_MANAGER
from sklrank.base import LabelRankerMixin

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

Method = TypeVar("Method", bound=Callable[..., Any])


def with_names(method: Method) -> Method:
    """Decorate a method that returns a column for each label: `set_output` chooses its container.

    The container is kept where scikit-learn's `set_output` and `clone` keep theirs.
    """

    @wraps(method)
    def call(ranker: Any, X: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        values = method(ranker, X, *args, **kwargs)
        container = getattr(ranker, "_sklearn_output_config", {}).get("predict", "default")
        if container == "default" or np.ndim(values) == 1:
            return values
        names = ranker.classes_ if container == "pandas" else ranker.classes_.astype(str)
        adapter = ADAPTERS_MANAGER.adapters[container]
        return adapter.create_container(np.asarray(values), X, columns=names)

    return call  # type: ignore[return-value]


class NamedRanksMixin(LabelRankerMixin):
    """Mixin for rankers of labels whose ranks and scores may be data frames.

    Methods other than `predict_ranks` have the decorator :func:`with_names`.
    """

    def set_output(self, *, predict: str | None = None) -> Self:
        """Set the container of predictions that have a column for each label.

        These are the results of `predict_ranks`, `decision_function`, `predict` and
        `predict_proba`; of :class:`~sklrank.label_ranking.PlackettLuceRanker` also
        `predict_topk_proba` and `expected_positions`. Results of one dimension, such as class
        labels, remain arrays.

        Parameters
        ----------
        predict : {"default", "pandas", "polars"}, default=None
            Container: an array, or a data frame whose columns are `classes_` and whose index is
            that of `X`. If None, it does not change.

        Returns
        -------
        self : object
            The ranker.

        Raises
        ------
        ValueError
            If `predict` is none of these.

        Examples
        --------
        >>> import pandas as pd
        >>> from sklearn.linear_model import Ridge
        >>> from sklrank.label_ranking import LabelwiseRanker
        >>> y = pd.DataFrame({"tea": [1, 2, 1], "coffee": [2, 1, 2]})
        >>> ranker = LabelwiseRanker(Ridge()).set_output(predict="pandas")
        >>> ranker.fit([[0], [2], [1]], y).predict([[2]])
           tea  coffee
        0    2       1
        """
        containers = ("default", *sorted(ADAPTERS_MANAGER.adapters))
        if predict is not None:
            if predict not in containers:
                raise ValueError(f"predict must be one of {containers}, got {predict!r}")
            self._sklearn_output_config = {"predict": predict}
        return self

    predict_ranks = with_names(LabelRankerMixin.predict_ranks)
