"""A synthetic recommender: what other users liked, and what a user rated so far."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import norm
from sklearn.utils import check_random_state, check_scalar

__all__ = ["make_recommender"]

# Share of each rating, the lowest first: few items are very bad or very good.
SHARES = (0.1, 0.25, 0.3, 0.25, 0.1)
# Deviation of two ratings of a person from each other, as Personality Diagnosis has it.
RATING_DEVIATION = 1.0


def make_recommender(
    n_users: int = 20,
    n_items: int = 200,
    n_features: int = 5,
    *,
    n_rated: int = 10,
    n_others: int = 20,
    density: float = 0.1,
    agreement: float = 0.2,
    hidden: float = 0.2,
    noise: float = 0.3,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    r"""Generate users, items, few ratings, and the scores of a collaborative filter.

    The task of ranking refinement: each user rated some items at random, and the ratings of other
    users suggest an order of all items. A user likes items the more the nearer they are to an
    ideal of his own. The utility of item i for user u,

    .. math:: \sqrt{1 - h} \, v(\lVert x_i - p_u \rVert^2)
              + \sqrt{h} \, v(\lVert z_i - q_u \rVert^2),

    has a part that the features :math:`x_i` tell and one, of the share h = `hidden`, by aspects
    :math:`z_i` that no feature shows; the ideals :math:`p_u, q_u` are partly the same for all, and
    v makes the negative distances of each user standard. The user cuts the utility, with noise,
    into the ratings 0 to 4. The base ranker is Personality Diagnosis [1]_: the user is believed to
    be one of the others in disguise, the likelier the nearer their ratings of the same items are,
    and an item's score is its expected rating. It knows the hidden aspects, but not the user well.

    Parameters
    ----------
    n_users : int, default=20
        Users for whom items are to be ranked: the queries.
    n_items : int, default=200
        Number of items.
    n_features : int, default=5
        Features of an item.
    n_rated : int, default=10
        How many items each user rated, up to `n_items`.
    n_others : int, default=20
        Number of other users, by whose ratings the base ranker scores.
    density : float, default=0.1
        Share of items that each of the others rated, above 0 and up to 1.
    agreement : float, default=0.2
        How much of the ideals is the same for all users, from 0 to 1.
    hidden : float, default=0.2
        Share of the utility that no feature shows, from 0 to 1.
    noise : float, default=0.3
        Standard deviation of a rating's noise, where that of a user's utilities is about 1.
    random_state : int, RandomState instance or None, default=None
        Pass an int for reproducible output.

    Returns
    -------
    X : ndarray of shape (n_users * n_items, n_features), float64
        Features of the item of each row; the rows of a user stand together.
    y : ndarray of shape (n_users * n_items,), float64
        The user's rating of the item, 0 to 4; NaN where there is none.
    relevance : ndarray of shape (n_users * n_items,), float64
        The rating that the user would give without noise, for all rows.
    qid : ndarray of shape (n_users * n_items,), intp
        The user of each row.
    base_scores : ndarray of shape (n_users * n_items,), float64
        Scores of the base ranker.

    Raises
    ------
    TypeError or ValueError
        If a parameter has the wrong type or is out of its range.

    See Also
    --------
    sklrank.boosting.RankingRefiner : Learns from base scores and ratings together.

    References
    ----------
    .. [1] D. M. Pennock, E. Horvitz, S. Lawrence and C. L. Giles, "Collaborative filtering by
       personality diagnosis: a hybrid memory- and model-based approach", UAI 2000.

    Examples
    --------
    >>> from sklrank.datasets import make_recommender
    >>> from sklrank.metrics import ndcg_score
    >>> X, y, relevance, qid, base_scores = make_recommender(random_state=0)
    >>> X.shape
    (4000, 5)
    >>> print(f"NDCG@10: {ndcg_score(relevance, base_scores, qid=qid, k=10):.1f}")
    NDCG@10: 0.5
    """
    for name, value in (("n_users", n_users), ("n_features", n_features), ("n_others", n_others)):
        check_scalar(value, name, Integral, min_val=1)
    check_scalar(n_items, "n_items", Integral, min_val=2)
    check_scalar(n_rated, "n_rated", Integral, min_val=1, max_val=n_items)
    check_scalar(density, "density", Real, min_val=0, max_val=1, include_boundaries="right")
    check_scalar(agreement, "agreement", Real, min_val=0, max_val=1)
    check_scalar(hidden, "hidden", Real, min_val=0, max_val=1)
    check_scalar(noise, "noise", Real, min_val=0)
    # check_scalar lets NaN pass, whatever the range.
    if not np.isfinite([density, agreement, hidden, noise]).all():
        raise ValueError(
            "density, agreement, hidden and noise must be finite numbers; got "
            f"{density}, {agreement}, {hidden} and {noise}"
        )

    random = check_random_state(random_state)
    items = random.normal(size=(n_items, n_features))
    aspects = random.normal(size=(n_items, n_features))
    n_all = n_users + n_others
    told = nearness(items, ideals(random, n_all, n_features, agreement))
    untold = nearness(aspects, ideals(random, n_all, n_features, agreement))
    utilities = np.sqrt(1 - hidden) * told + np.sqrt(hidden) * untold
    wanted = cut(utilities[:n_users])
    ratings = cut(utilities + noise * random.normal(size=utilities.shape))
    ratings[:n_users][places(random, (n_users, n_items)) >= n_rated] = np.nan
    n_rated_by_others = max(1, round(density * n_items))
    ratings[n_users:][places(random, (n_others, n_items)) >= n_rated_by_others] = np.nan
    return (
        np.tile(items, (n_users, 1)),
        ratings[:n_users].ravel(),
        wanted.ravel(),
        np.repeat(np.arange(n_users), n_items),
        personality_diagnosis(ratings[:n_users], ratings[n_users:]).ravel(),
    )


def ideals(random, n_users, n_aspects, agreement):
    """What users like best, `(n_users, n_aspects)`."""
    common, own = random.normal(size=n_aspects), random.normal(size=(n_users, n_aspects))
    return np.sqrt(agreement) * common + np.sqrt(1 - agreement) * own


def nearness(items, ideals):
    """How near items are to ideals, `(n_users, n_items)`; standard in each row."""
    near = -cdist(ideals, items, "sqeuclidean")
    near -= near.mean(axis=1, keepdims=True)
    return near / near.std(axis=1, keepdims=True)


def cut(utilities):
    """Ratings 0 to 4 of standard normal utilities."""
    return np.digitize(utilities, norm.ppf(np.cumsum(SHARES)[:-1])).astype(np.float64)


def places(random, shape):
    """Every row the numbers 0, 1, ... in an order of its own."""
    return random.random_sample(shape).argsort(axis=1)


def personality_diagnosis(ratings, of_others):
    """Expected ratings of all items by users who rated few of them.

    Parameters
    ----------
    ratings : ndarray of shape (n_users, n_items)
        NaN where an item is not rated.
    of_others : ndarray of shape (n_others, n_items)
        The same of other users.

    Returns
    -------
    ndarray of shape (n_users, n_items)
        Where no other user rated an item, the mean rating.
    """
    rated, known = ~np.isnan(ratings), ~np.isnan(of_others)
    own, theirs = np.where(rated, ratings, 0.0), np.where(known, of_others, 0.0)
    # (a - b)^2 = a^2 - 2 a b + b^2, summed over the items that both rated; exact, as ratings are
    # whole numbers.
    squares = own**2 @ known.T - 2 * own @ theirs.T + rated @ theirs.T**2
    distances = squares / (2 * RATING_DEVIATION**2)
    belief = np.exp(distances.min(axis=1, keepdims=True) - distances)
    mean = of_others[known].mean()
    deviations = np.where(known, of_others - mean, 0.0)
    # Whoever has not rated an item expects the mean, with little belief.
    return mean + belief @ deviations / (belief @ known + 1e-9)
