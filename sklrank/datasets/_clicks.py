"""Simulated clicks on ranked documents."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch

from sklrank._checks import Queries, check_finite, check_random_state, check_relevance, check_scalar
from sklrank._estimators import _num_samples, _safe_indexing

MODELS = ("position", "trust", "cascade")


def make_clicks(
    X: ArrayLike,
    y: ArrayLike,
    qid: ArrayLike | None,
    scores: ArrayLike,
    *,
    model: str = "position",
    n_sessions: int = 10,
    k: int | None = 10,
    decay: float = 1.0,
    noise: float = 0.1,
    trust: float = 0.65,
    continuation: float = 0.9,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    r"""Simulate the clicks of users on documents of known relevance.

    A ranker in production shows the `k` documents of each query with the highest scores. In each
    session, a user sees the list of one query. A document of grade y is *relevant* to the user with
    the probability :math:`r = (2^y - 1) / (2^{y_{max}} - 1)`, where :math:`y_{max}` is the highest
    grade of all. The user examines the documents at some positions p = 1, ..., k, and clicks on
    those that are relevant, and on others by mistake with the probability :math:`\epsilon_p`. The
    models of the user differ in the rest:

    - "position", the position-based model [1]_: each position is examined with the probability
      :math:`p^{-decay}`, independently of the others, and :math:`\epsilon_p` is `noise`.
    - "trust", the position-based model with trust bias [2]_: users trust the ranker and click more
      often by mistake at the top. Positions are examined as before, and
      :math:`\epsilon_p = noise + (trust - noise) / p`.
    - "cascade", the dynamic Bayesian network [3]_: the user examines the documents from the top,
      and :math:`\epsilon_p` is `noise`. After a click on a relevant document, the user leaves. In
      all other cases, the user goes on to the next position with the probability `continuation`.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Documents.
    y : array-like of shape (n_samples,)
        Relevance grade of each document, 0 or more.
    qid : array-like of shape (n_samples,) or None
        Query id of each document. If None, all documents belong to one query.
    scores : array-like of shape (n_samples,)
        Score of each document by the ranker in production. Equal scores keep their order.
    model : {"position", "trust", "cascade"}, default="position"
        Model of the user.
    n_sessions : int, default=10
        Number of sessions of each query.
    k : int or None, default=10
        Number of documents that are shown. If None, all documents of the query are shown.
    decay : float, default=1.0
        Exponent of the examination, at least 0 (all positions are examined); not of "cascade".
    noise : float, default=0.1
        Probability, from 0 to 1, of a click by mistake.
    trust : float, default=0.65
        Probability, from 0 to 1, of a click by mistake at the first position; used by "trust".
    continuation : float, default=0.9
        Probability, from 0 to 1, that a user goes on; used by "cascade".
    random_state : int, RandomState instance or None, default=None
        Controls the random draws. Pass an int for reproducible output.

    Returns
    -------
    Bunch
        The documents shown, those of a session adjacent, in the order of their positions.

        X : {ndarray, sparse matrix, data frame} of shape (n_shown, n_features)
            Documents shown.
        y : ndarray of shape (n_shown,), int64
            1 if the document was clicked, else 0.
        qid : ndarray of shape (n_shown,), int64
            Index of the session.
        position : ndarray of shape (n_shown,), int64
            Position of the document in the list; 1 is the first.
        rows : ndarray of shape (n_shown,), int64
            Index of the document among the samples.

    See Also
    --------
    sklrank.boosting.HistGradientBoostingRanker : Learns from clicks and their positions.

    References
    ----------
    .. [1] M. Richardson, E. Dominowska and R. Ragno, "Predicting clicks: estimating the
       click-through rate for new ads", WWW 2007.
    .. [2] Agarwal et al., "Addressing trust bias for unbiased learning-to-rank", WWW 2019.
    .. [3] O. Chapelle and Y. Zhang, "A dynamic Bayesian network click model for web search
       ranking", WWW 2009.

    Examples
    --------
    Users who make no mistakes, and leave after the first relevant document.

    >>> from sklrank.datasets import make_clicks
    >>> X, y, qid, scores = [[0], [1], [2], [3]], [0, 1, 0, 1], [7, 7, 7, 7], [4, 3, 2, 1]
    >>> log = make_clicks(
    ...     X, y, qid, scores, model="cascade", n_sessions=2, noise=0, continuation=1
    ... )
    >>> log.y
    array([0, 1, 0, 0, 0, 1, 0, 0])
    >>> log.position
    array([1, 2, 3, 4, 1, 2, 3, 4])
    """
    if model not in MODELS:
        raise ValueError(f"model must be one of {MODELS}, got {model!r}.")
    check_scalar(n_sessions, "n_sessions", Integral, min_val=1)
    if k is not None:
        check_scalar(k, "k", Integral, min_val=1)
    check_scalar(decay, "decay", Real, min_val=0)
    for name, value in {"noise": noise, "trust": trust, "continuation": continuation}.items():
        check_scalar(value, name, Real, min_val=0, max_val=1)
    n_samples = _num_samples(X)
    y = check_relevance(y, n_samples)
    scores = check_finite(scores, "scores", "scores", "replace missing scores")
    if scores.shape != y.shape:
        raise ValueError(f"scores must be of shape {y.shape}, one for each row of X")
    queries = Queries.from_qid(qid, n_samples)

    random = check_random_state(random_state)
    ranked = np.lexsort((-scores, queries.codes))
    sizes = queries.sizes if k is None else np.minimum(queries.sizes, k)
    # The lists of all sessions, one after another: each list of a query `n_sessions` times.
    lengths = np.repeat(sizes, n_sessions)
    session = np.repeat(np.arange(len(lengths)), lengths)
    first = np.cumsum(lengths) - lengths
    position = 1 + np.arange(len(session)) - first[session]
    rows = ranked[np.repeat(queries.starts[:-1], n_sessions)[session] + position - 1]

    # Relative to the highest gain, which could overflow; all documents of grade 0 are irrelevant.
    highest = y.max()
    relevance = np.exp2(y - highest) - np.exp2(-highest)
    relevant = random.random_sample(len(rows)) * -np.expm1(-highest * np.log(2)) < relevance[rows]
    mistake = noise + (trust - noise) / position if model == "trust" else noise
    attracted = relevant | (random.random_sample(len(rows)) < mistake)
    draws = random.random_sample(len(rows))
    if model == "cascade":
        goes_on = (draws < continuation) & ~relevant
        # All positions up to the first one at which the user leaves are examined.
        left = np.cumsum(~goes_on) - ~goes_on
        examined = left == left[first][session]
    else:
        examined = draws < np.power(position, -float(decay))
    return Bunch(
        X=_safe_indexing(X if hasattr(X, "shape") else np.asarray(X), rows),
        y=(attracted & examined).astype(np.int64),
        qid=session,
        position=position,
        rows=rows,
    )
