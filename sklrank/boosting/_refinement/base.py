"""Base class of the refiners: scores of the base ranker, and NDCG of the judged documents."""

import warnings
from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import as_numbers, check_qid, check_relevance, check_scored
from sklrank._estimators import HasMethods, Interval, _safe_indexing, shares_text
from sklrank._rankers import DocumentRankerMixin

# Texts that the docstrings of the refiners share.
of_refiners = shares_text(
    base_ranker="""
Parameters
----------
base_ranker : int, str, fitted estimator or None, default=None
    Ranker whose scores are refined: the index or the name of a feature of `X`, or a fitted
    estimator with `decision_function` or `predict`, in a
    :class:`~sklearn.frozen.FrozenEstimator` if the refiner is cloned, as by a search. If None,
    and `fit` gets no `base_scores`, these are 0, with a warning.
""",
    judgements="""
Parameters
----------
X : {array-like, sparse matrix} of shape (n_samples, n_features)
    Documents, both judged and not judged. :class:`RankingRefiner` accepts a sparse matrix if
    the weak learner accepts it.
y : array-like of shape (n_samples,)
    Judgements: the graded relevance of each document, or NaN if it is not judged. Only the
    order of the grades is used; -1 is a valid grade.
{qid}
{base_scores}
""",
    base_scores="""
base_scores : array-like of shape (n_samples,), default=None
    Scores of the base ranker. If given, they are used instead of `base_ranker`.
""",
    of_score="""
{rows}
y : array-like of shape (n_samples,)
    Judgements: the graded relevance of each document, or NaN if it is not judged. Documents
    that are not judged are ignored.
{score_qid}
""",
    ndcg="""
Returns
-------
float
    Mean NDCG, from 0 to 1. The gain is exponential; if there are grades that are negative or
    above 31, the gain of a document is the number of distinct lower grades in `y`.

Raises
------
ValueError
    If `qid` is None although it was given in `fit`, or if no judged document has a gain.
""",
)


class RefinerMixin(DocumentRankerMixin):
    """Base class of document rankers that refine the scores of a base ranker."""

    __metadata_request__fit = {"qid": True, "base_scores": True}

    _parameter_constraints = {
        "base_ranker": [
            Interval(Integral, 0, None, closed="left"),
            str,
            HasMethods("decision_function"),
            HasMethods("predict"),
            None,
        ]
    }

    def _check_base(self, base_scores):
        """Warn in `fit` if there is no ranking to refine."""
        self._lacks_base = base_scores is None and self.base_ranker is None
        if self._lacks_base:
            warnings.warn(
                "base_ranker=None and base_scores=None: there is no ranking to refine, and all "
                "base scores are 0; name a feature of X or a fitted estimator as base_ranker, or "
                "pass the scores of the samples as base_scores",
                stacklevel=3,
            )

    def _base_scores(self, X_given, X, base_scores, ranker):
        """Return the base scores, which are those of the base ranker if `base_scores` is None."""
        name = "base_scores"
        if base_scores is None and ranker is None and self._lacks_base:
            return np.zeros(X.shape[0])
        if base_scores is None:
            name = "the scores of base_ranker"
            base_scores = self._scores_of_base_ranker(X_given, X, ranker)
        scores = check_array(as_numbers(base_scores, name), ensure_2d=False, input_name=name)
        if scores.shape != (X.shape[0],):
            raise ValueError(
                f"{name} must be one score for each of the {X.shape[0]} samples of X, got an array "
                f"of shape {scores.shape}"
            )
        return scores

    def _scores_of_base_ranker(self, X_given, X, ranker):
        if ranker is None:
            raise ValueError(
                "base_scores=None, but base_scores were given to fit, and base_ranker is None: "
                "pass the base scores of the samples"
            )
        if not isinstance(ranker, (Integral, str)):
            if hasattr(ranker, "fit"):
                check_is_fitted(ranker)
            score = getattr(ranker, "decision_function", None) or ranker.predict
            return score(X_given)
        names = list(getattr(self, "feature_names_in_", []))
        if isinstance(ranker, str):
            if ranker not in names:
                raise ValueError(
                    f"base_ranker={ranker!r} is not a feature of X, which has "
                    f"{', '.join(names) or 'no names'}: pass a data frame, or an index"
                )
            ranker = names.index(ranker)
        if ranker >= X.shape[1]:
            raise ValueError(
                f"base_ranker={ranker} is not a feature of X, which has n_features={X.shape[1]}: "
                f"the indices are 0 to {X.shape[1] - 1}"
            )
        return X[:, [ranker]].toarray().ravel() if sparse.issparse(X) else X[:, ranker]

    def _score_of_judged(self, X, y, qid, sample_weight, **arguments):
        """Return the mean NDCG of the judged documents over the queries."""
        check_scored(self, X, y, qid=qid, sample_weight=sample_weight, **arguments)
        scores = self._scores_by_query(X, qid, **arguments)
        grades = check_relevance(y, len(scores), judgements=True)
        check_qid(qid, len(scores))
        check_consistent_length(scores, sample_weight)
        judged = np.flatnonzero(~np.isnan(grades))
        qid, weights = (
            values if values is None else _safe_indexing(values, judged)
            for values in (qid, sample_weight)
        )
        return self._mean_ndcg(grades[judged], scores[judged], qid, weights)
