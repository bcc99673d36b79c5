"""Pipelines of online estimators: the methods that scikit-learn's `Pipeline` does not pass on."""

from __future__ import annotations

from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import check_row_labels
from sklrank._estimators import available_if, shares_text
from sklrank._typing import Self
from sklrank.feedback import Exploration

__all__ = ["OnlinePipeline"]


def _check_rows(**arguments):
    # Only pandas has row labels. What is no table yet, a transformer may collect.
    check_row_labels({name: each for name, each in arguments.items() if hasattr(each, "index")})


def _last_step_has(name):
    def check(pipeline):
        getattr(pipeline._final_estimator, name)  # the AttributeError names the estimator
        return True

    return check


@shares_text(
    samples_of_first_step="""
Parameters
----------
X : array-like of shape (n_samples, n_features), or iterable of str
    Samples, as the first step accepts them.
""",
    params_and_returns="""
**params : dict
    Arguments of the last step, such as `available`.

Returns
-------
""",
    returns_pipeline="""
Returns
-------
self : object
    The pipeline.
""",
)
class OnlinePipeline(Pipeline):
    """Pipeline that learns in parts, shows labels and learns from feedback.

    The pipeline has those of the methods below that its last step has. In addition, it has all
    methods of :class:`sklearn.pipeline.Pipeline`, such as `fit` and `predict`.

    `partial_fit` and `progressive_fit` update each transformer that has `partial_fit`, such as
    :class:`~sklearn.preprocessing.StandardScaler`, by all samples of the call, before the samples
    are transformed. Transformers without state, such as
    :class:`~sklearn.feature_extraction.text.HashingVectorizer`, only transform. Other transformers
    keep what they have learned in `fit`, which must have been called before, for example on a first
    part of the samples. If a call raises an error, the transformers are as before. The methods that
    predict, `explore` and `partial_fit_feedback` do not change a transformer.

    ``set_output(transform="pandas")`` of the pipeline concerns its transformers. Predictions, ranks
    and scores as data frames are chosen at the last step:
    ``pipeline[-1].set_output(predict="pandas")``.

    Parameters
    ----------
    steps : list of tuples (str, estimator)
        Names and estimators of the steps, as in :class:`sklearn.pipeline.Pipeline`.
    transform_input : list of str, default=None
        Metadata that are transformed, as in :class:`sklearn.pipeline.Pipeline`.
    memory : str or object with the joblib.Memory interface, default=None
        Cache of the transformers that `fit` fits.
    verbose : bool, default=False
        Whether `fit` prints the time of each step.

    Attributes
    ----------
    named_steps : :class:`~sklearn.utils.Bunch`
        The steps by their names.
    classes_ : ndarray of shape (n_labels,)
        Labels of the last step.
    n_features_in_ : int
        Number of features of the first step.

    See Also
    --------
    sklrank.model_selection.progressive_val_score : Validate a pipeline as it learns.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import HashingVectorizer
    >>> from sklearn.preprocessing import MultiLabelBinarizer
    >>> from sklrank.online_boosting import AdaOLMR
    >>> from sklrank.pipeline import OnlinePipeline
    >>> texts = ["sunset at sea", "city by night", "sea and sand", "lights of the city"] * 5
    >>> tags = [["beach", "sky"], ["city"], ["beach"], ["city", "sky"]] * 5
    >>> binarizer = MultiLabelBinarizer().fit(tags)
    >>> tagger = OnlinePipeline(
    ...     [("vectorize", HashingVectorizer(n_features=2**10)), ("rank", AdaOLMR(random_state=0))]
    ... )
    >>> tagger.partial_fit(texts, binarizer.transform(tags), classes=binarizer.classes_)
    OnlinePipeline(...)
    >>> print(*tagger.predict_topk(["the sea"], k=1)[0])
    beach
    """

    # See `expected_failed_checks`.
    @property
    def _failed_checks(self):
        reason = "as in Pipeline of scikit-learn, fit fits the steps themselves, not clones"
        checks = ("check_dont_overwrite_parameters", "check_estimators_overwrite_params")
        own = dict.fromkeys(checks, reason)
        return {**getattr(self._final_estimator, "_failed_checks", {}), **own}

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, **params: Any) -> Self:
        _check_rows(X=X, y=y, **params)
        return super().fit(X, y, **params)

    @available_if(_last_step_has("score"))
    def score(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: Any = None, **params: Any
    ) -> float:
        _check_rows(X=X, y=y, sample_weight=sample_weight, **params)
        return super().score(X, y, sample_weight, **params)

    fit.__doc__, score.__doc__ = Pipeline.fit.__doc__, Pipeline.score.__doc__

    @available_if(_last_step_has("partial_fit"))
    def partial_fit(self, X: ArrayLike, y: ArrayLike, **params: Any) -> Self:
        """Update the transformers and the last step.

        {samples_of_first_step}
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Target of the last step.
        **params : dict
            Arguments of the last step, such as `classes` and `sample_weight`.

        {returns_pipeline}

        Raises
        ------
        NotFittedError
            If a transformer without `partial_fit` has state and is not fitted.
        """
        _check_rows(X=X, y=y, **params)
        with self._unchanged_transformers_on_error():
            self._final_estimator.partial_fit(self._transformed(X, y, learn=True), y, **params)
        return self

    @available_if(_last_step_has("progressive_fit"))
    def progressive_fit(self, X: ArrayLike, y: ArrayLike, **params: Any) -> np.ndarray:
        """Update the transformers, then let the last step score each sample and learn from it.

        Parameters
        ----------
        X, y, **params : objects
            Arguments of `progressive_fit` of the last step, such as `classes` and `method`.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or another result of the last step
            Scores of each sample before the last step has learned it.

        Raises
        ------
        NotFittedError
            As in `partial_fit`.
        """
        _check_rows(X=X, y=y, **params)
        with self._unchanged_transformers_on_error():
            transformed = self._transformed(X, y, learn=True)
            return self._final_estimator.progressive_fit(transformed, y, **params)

    @available_if(_last_step_has("explore"))
    def explore(self, X: ArrayLike, **params: Any) -> Exploration:
        """Transform samples, and draw what to show for each of them.

        {samples_of_first_step}
        **params : dict
            Arguments of the last step, such as `classes`.

        Returns
        -------
        Exploration
            What was drawn, with its propensities.
        """
        return self._final_estimator.explore(self._transformed(X), **params)

    @available_if(_last_step_has("propensities"))
    def propensities(self, X: ArrayLike, **params: Any) -> np.ndarray:
        """Transform samples, and return the probabilities of what `explore` shows.

        {samples_of_first_step}
        {params_and_returns}
        ndarray of shape (n_samples, n_labels) or (n_samples, n_labels, n_labels)
            Probabilities of labels, or of pairs of labels.
        """
        return self._final_estimator.propensities(self._transformed(X), **params)

    @available_if(_last_step_has("partial_fit_feedback"))
    def partial_fit_feedback(
        self, X: ArrayLike, exploration: Exploration, rewards: ArrayLike, **params: Any
    ) -> Self:
        """Transform samples, and let the last step learn from feedback.

        {samples_of_first_step}
        exploration : Exploration
            What was shown.
        rewards : array-like of shape (n_samples,) or (n_samples, k)
            Rewards of what was shown.
        **params : dict
            Arguments of the last step, such as `classes` and `sample_weight`.

        {returns_pipeline}
        """
        _check_rows(X=X, rewards=rewards, **params)
        transformed = self._transformed(X)
        self._final_estimator.partial_fit_feedback(transformed, exploration, rewards, **params)
        return self

    @available_if(_last_step_has("predict_topk"))
    def predict_topk(self, X: ArrayLike, k: int, **params: Any) -> np.ndarray:
        """Transform samples, and predict the `k` best labels of each of them.

        {samples_of_first_step}
        k : int
            Number of labels to return.
        {params_and_returns}
        ndarray of shape (n_samples, k)
            Entries of `classes_`, from best to worst.
        """
        return self._final_estimator.predict_topk(self._transformed(X), k, **params)

    @available_if(_last_step_has("predict_ranks"))
    def predict_ranks(self, X: ArrayLike, **params: Any) -> np.ndarray:
        """Transform samples, and predict the position of each label.

        {samples_of_first_step}
        {params_and_returns}
        ndarray of int of shape (n_samples, n_labels)
            Positions of the labels; 1 is the best position.
        """
        return self._final_estimator.predict_ranks(self._transformed(X), **params)

    @available_if(_last_step_has("drop_classes"))
    def drop_classes(self, classes: ArrayLike) -> Self:
        """Let the last step forget labels.

        Parameters
        ----------
        classes : array-like of shape (n_dropped,)
            Labels to drop.

        {returns_pipeline}
        """
        self._final_estimator.drop_classes(classes)
        return self

    @contextmanager
    def _unchanged_transformers_on_error(self):
        # After Ctrl-C, the last step keeps what it has learned from the new features.
        learning = [each for _, each in self.steps[:-1] if hasattr(each, "partial_fit")]
        before = [deepcopy(vars(each)) for each in learning]
        try:
            yield
        except Exception:
            for transformer, state in zip(learning, before):
                transformer.__dict__ = state
            raise

    def _transformed(self, X, y=None, *, learn=False):
        """Return the input of the last step. With `learn`, update the transformers before."""
        for name, transformer in self.steps[:-1]:
            if transformer is None or transformer == "passthrough":
                continue
            if learn and hasattr(transformer, "partial_fit"):
                transformer.partial_fit(X, y)
            elif learn:
                _check_transforms(transformer, name)
            X = transformer.transform(X)
        return X


def _check_transforms(transformer, name):
    """Raise if the transformer cannot transform before it is fitted to all samples of a call."""
    try:
        check_is_fitted(transformer)
    except NotFittedError as error:
        raise NotFittedError(
            f"The step {name!r}, {transformer!r}, has no partial_fit and is not fitted: call fit "
            "of the pipeline with a first part of the samples, or use a transformer without state, "
            "such as HashingVectorizer"
        ) from error
