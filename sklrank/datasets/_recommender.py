"""Synthetic data of a recommender system: few ratings of users and a collaborative filter."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import norm

from sklrank._checks import check_random_state, check_scalar

# Share of the variance of the utility due to the latent variables: the base scores are informative,
# and the ratings of a user improve them.
HIDDEN = 0.2


def make_recommender(
    n_users: int = 20,
    n_items: int = 200,
    n_features: int = 5,
    *,
    n_rated: int = 10,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    r"""Generate users, items, few ratings, and the scores of a collaborative filter.

    These are data for ranking refinement. Each user rated some items, chosen at random, and a base
    ranker derives scores of all items from the ratings of other users. The utility of item i for
    user u is high if it is close to an ideal point of the user:

    .. math:: \sqrt{0.8} \, v(\lVert x_i - p_u \rVert^2)
              + \sqrt{0.2} \, v(\lVert z_i - q_u \rVert^2).

    Here :math:`x_i` are the features and :math:`z_i` latent variables. The ideal points :math:`p_u`
    and :math:`q_u` are sums of a component common to all users, with a fifth of the variance, and
    an individual one. The function v standardizes the negative squared distances of each user. The
    utility plus noise of standard deviation 0.3 is discretized to the ratings 0 to 4, which about
    10, 25, 30, 25 and 10 percent of the items have.

    The base ranker is Personality Diagnosis [1]_ with the ratings of 20 other users, who rated a
    tenth of the items each. It assumes that the user has the taste of one of them, with a
    probability that increases with the similarity of their ratings; the score of an item is its
    expected rating. So it has information on the latent variables, but little on the user.

    Parameters
    ----------
    n_users : int, default=20
        Number of users for whom items are ranked. Each of these users is a query.
    n_items : int, default=200
        Number of items.
    n_features : int, default=5
        Number of features of an item.
    n_rated : int, default=10
        Number of items that each of these users rated, from 1 to `n_items`.
    random_state : int, RandomState instance or None, default=None
        Controls the random draws. Pass an int for reproducible output.

    Returns
    -------
    X : ndarray of shape (n_users * n_items, n_features), float64
        Features of all items, repeated for each user.
    y : ndarray of shape (n_users * n_items,), float64
        Rating of the item by the user, from 0 to 4, or NaN if the user did not rate the item.
    relevance : ndarray of shape (n_users * n_items,), float64
        Ratings without noise, for all items.
    qid : ndarray of shape (n_users * n_items,), intp
        Index of the user of each sample.
    base_scores : ndarray of shape (n_users * n_items,), float64
        Scores of the base ranker.

    See Also
    --------
    sklrank.boosting.ResidualRefiner : Corrects base scores by ratings.

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
    check_scalar(n_users, "n_users", Integral, min_val=1)
    check_scalar(n_features, "n_features", Integral, min_val=1)
    check_scalar(n_items, "n_items", Integral, min_val=2)
    check_scalar(n_rated, "n_rated", Integral, min_val=1, max_val=n_items)

    random = check_random_state(random_state)
    items = random.normal(size=(n_items, n_features))
    latent = random.normal(size=(n_items, n_features))
    n_others = 20
    visible_part = draw_closeness(random, items, n_users + n_others)
    hidden_part = draw_closeness(random, latent, n_users + n_others)
    utilities = np.sqrt(1 - HIDDEN) * visible_part + np.sqrt(HIDDEN) * hidden_part
    relevance = to_ratings(utilities[:n_users])
    ratings = to_ratings(utilities + 0.3 * random.normal(size=utilities.shape))
    for users, n_kept in (
        (ratings[:n_users], n_rated),
        (ratings[n_users:], round(0.1 * n_items) or 1),
    ):
        users[random.random_sample(users.shape).argsort(axis=1) >= n_kept] = np.nan
    return (
        np.tile(items, (n_users, 1)),
        ratings[:n_users].ravel(),
        relevance.ravel(),
        np.repeat(np.arange(n_users), n_items),
        personality_diagnosis(ratings[:n_users], ratings[n_users:]).ravel(),
    )


def draw_closeness(random, items, n_users):
    """Draw ideal points of users, and return the utilities `(n_users, n_items)` of their items.

    These are the negative squared distances, standardized for each user.
    """
    common, own = random.normal(size=items.shape[1]), random.normal(size=(n_users, items.shape[1]))
    close = -cdist(np.sqrt(0.2) * common + np.sqrt(0.8) * own, items, "sqeuclidean")
    close -= close.mean(axis=1, keepdims=True)
    return close / close.std(axis=1, keepdims=True)


def to_ratings(utilities):
    """Discretize utilities, which are about standard normal, to the ratings 0 to 4."""
    return np.digitize(utilities, norm.ppf([0.1, 0.35, 0.65, 0.9])).astype(np.float64)


def personality_diagnosis(ratings, other_ratings):
    """Compute the scores of Personality Diagnosis: expected ratings of all items by each user.

    The ratings have a row for each user, and are NaN for items that are not rated. The expected
    ones of items that no other user rated are the mean of all ratings of the other users.
    """
    rated, known = ~np.isnan(ratings), ~np.isnan(other_ratings)
    own, theirs = np.where(rated, ratings, 0.0), np.where(known, other_ratings, 0.0)
    # The squared differences (a - b)^2 = a^2 - 2 a b + b^2 are summed over the items that both
    # users rated. The sums are exact because ratings are integers.
    distances = (own**2 @ known.T - 2 * own @ theirs.T + rated @ theirs.T**2) / 2
    probabilities = np.exp(distances.min(axis=1, keepdims=True) - distances)
    mean = other_ratings[known].mean()
    deviations = np.where(known, other_ratings - mean, 0.0)
    # The small constant is the weight of the mean rating; it also prevents division by zero.
    return mean + probabilities @ deviations / (probabilities @ known + 1e-9)
