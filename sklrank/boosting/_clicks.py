r"""Relevance of documents from clicks on ranked lists, by regression EM (Wang et al. 2018).

A user *examines* some positions of a list. A document d, relevant with the probability
:math:`r_d`, is clicked there if it is relevant, and by mistake with the probability
:math:`\epsilon_p` otherwise, at position p. Of two models of examination, that of the larger
likelihood is used:

- :class:`PositionModel`: position p is examined with the probability :math:`\theta_p`,
  independently of all else. With the mistakes, this is the model of trust bias of Agarwal et al.
  (2019). The clicks determine r only up to an affine function, so the largest propensity is 1, and
  the smallest :math:`\epsilon_p` is 0.
- :class:`CascadeModel`: the user goes from the top to the bottom, from a position without a click
  to the next one with a fixed probability, and from a click on document d with the probability
  :math:`\min(1, f (1 - r_d) / r_d)`. This is the dynamic Bayesian network of Chapelle and Zhang
  (2009) in which the user leaves after a relevant click and goes on after a mistake: if mistakes
  have the probability :math:`\epsilon` at all positions and count as relevance, a click is a
  mistake with the probability :math:`(1 - r_d) / r_d \cdot \epsilon / (1 - \epsilon)`.

Boosted trees regress r on the features of the documents. In each round, the E-step computes the
probability of examination w and that of a relevant click l, given the clicks of the session; the
M-step updates the model of the user, and a tree increases the expected log-likelihood
:math:`\sum l \log r + (w - l) \log(1 - r)`. The relevance that rankers learn from is the estimate
of each document, shrunk towards the regression: :math:`(\sum l + m r) / (\sum w + m)`.

The propensities that are reported are not those of EM, whose trees have learned the clicks: a
document that is not clicked where few look has low relevance, so that positions look alike. Those
of :class:`SmoothModel` regress the relevance of documents that are held out, and the likelihood is
maximized once more, with the logits of relevance up to a linear function.

Rows with the same features are the same document, and sessions that show the same documents are
one query, whose weight is their number.
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from sklrank._boosters import Objective
from sklrank._checks import Queries, as_numbers
from sklrank._estimators import minimize_smooth
from sklrank.boosting._base import DocumentTarget
from sklrank.boosting._hist_gradient_boosting.race import TreeLearner, make_trees

# Rounds of the regression and their learning rate. The estimates of propensities and the NDCG of
# the rankers change little from 20 to 60 rounds, on simulated clicks on two synthetic data sets
# and on MQ2008.
N_ROUNDS, LEARNING_RATE = 60, 0.3
# Updates of the model of the user in a round: with 3 instead of 10, a fifth less of the gap between
# clicks and relevance is closed in one of these sets, as EM has not converged.
N_UPDATES = 10
# Smallest ratio of the second derivative to that of the E-step, which bounds it, for faster steps.
# The scores of documents that are rarely examined would hardly change otherwise.
MIN_INFORMATION = 0.1
# Weight m of the regression, in examinations. On the same data, 1 is worse than 10 with 30 sessions
# of each query, and no better with 100.
PRIOR = 10.0
# Folds of documents, and rounds of the regression, for the propensities. With 60 rounds or 3 folds,
# the logits of held-out documents are less precise, on the same simulated clicks.
N_FOLDS, N_FOLD_ROUNDS = 5, 20
# Standard deviation of the logarithms of propensities around a power of the position: that of the
# estimates of single positions, from some hundred sessions of ten documents, is larger.
DEVIATION = 0.1
# Mean and standard deviation of the power: users who examine positions as their inverse are common,
# and some hundred clicks say little more. With some thousand clicks, the prior has no effect.
# Chosen on three generators; on digits, breast cancer and MQ2008, errors decrease, too.
POWER, POWER_DEVIATION = 1.0, 0.5
# Iterations of L-BFGS in a round, which starts near the maximum.
N_STEPS = 8
# Probabilities are kept at this distance from 0 and 1, where their logarithms are finite.
TINY = 1e-6


class Sessions(NamedTuple):
    """Distinct sessions; the arrays have the shape `(n_sessions, n_positions)`."""

    documents: np.ndarray
    """Index of the document at each position, -1 if it is not known."""
    clicks: np.ndarray
    """True where the document was clicked."""
    counts: np.ndarray
    """Number of times that each session was seen, `(n_sessions, 1)`."""

    @property
    def shown(self):
        """True where a document is known."""
        return self.documents >= 0


class PositionModel:
    """Each position is examined with its own propensity; there are mistakes."""

    name = "position"

    def __init__(self, propensities, mistakes):
        self.propensities, self.mistakes = propensities, mistakes

    @classmethod
    def start(cls, n_positions):
        """Return the model from which EM starts; a propensity of 1 would remain 1."""
        return cls(np.full(n_positions, 0.5), np.full(n_positions, 0.1))

    def expect(self, sessions, relevance):
        """Return the posterior probabilities of examination and of relevant clicks."""
        clicks, shown = sessions.clicks, sessions.shown
        attractive = self.mistakes + (1 - self.mistakes) * relevance
        clicked = np.clip(self.propensities * attractive, TINY, 1 - TINY)
        likelihood = np.log(np.where(clicks, clicked, 1 - clicked))
        self.log_likelihood = np.sum(likelihood * shown * sessions.counts)
        examined = np.where(clicks, 1.0, (self.propensities - clicked) / (1 - clicked)).clip(0, 1)
        return examined * shown, clicks * relevance / attractive

    def maximize(self, sessions, relevance, examined, relevant):
        """Update the probabilities."""
        counts, shown = sessions.counts, sessions.shown
        means = np.sum(counts * examined, axis=0) / np.maximum(np.sum(counts * shown, axis=0), 1)
        self.propensities = means / (means.max() or 1.0)
        by_mistake = np.sum(counts * (sessions.clicks - relevant), axis=0)
        irrelevant = np.sum(counts * (examined - relevant), axis=0)
        mistakes = by_mistake / np.maximum(irrelevant, TINY)
        seen = shown.any(axis=0)
        smallest = min(mistakes[seen].min(), 1 - TINY)
        self.mistakes = np.where(seen, (mistakes - smallest) / (1 - smallest), 0.0)


class CascadeModel:
    """Positions are examined from the first to the last, until the user leaves."""

    name = "cascade"

    def __init__(self, continuation, odds_factor):
        self.continuation, self.odds_factor = continuation, odds_factor

    @classmethod
    def start(cls, n_positions):
        """Return the model from which EM starts."""
        return cls(0.5, 0.5)

    def expect(self, sessions, relevance):
        """Return the posterior probabilities of examination and of relevant clicks."""
        clicks, shown = sessions.clicks, sessions.shown
        n_positions = clicks.shape[1]
        place = np.arange(n_positions)
        last = np.where(clicks, place, -1).max(axis=1)
        relevance = np.where(shown, np.clip(relevance, TINY, 1 - TINY), TINY)
        after_click = np.clip(self.odds_factor * (1 / relevance - 1), TINY, 1 - TINY)
        # Probability to reach a position after the last click without further clicks, and to end
        # there; the last position is the end.
        stops, reached = np.zeros(clicks.shape), np.zeros(len(clicks))
        for p in place:
            starts = last == p - 1
            reached[starts] = after_click[starts, p - 1] if p else 1.0
            ends = reached * (1 - relevance[:, p])
            stops[:, p] = ends * (1.0 if p == n_positions - 1 else 1 - self.continuation)
            reached = ends * self.continuation
        at_click = np.where(last < 0, 0.0, 1 - after_click[np.arange(len(last)), last])
        total = np.where(last == n_positions - 1, 1.0, at_click + stops.sum(axis=1))
        before = place <= last[:, np.newaxis]
        later = np.cumsum(stops[:, ::-1], axis=1)[:, ::-1] / total[:, np.newaxis]
        steps = np.where(clicks, after_click, self.continuation)
        likelihood = np.log(np.where(clicks, relevance, 1 - relevance))
        likelihood[:, 1:] += np.log(steps[:, :-1])
        likelihood = np.sum(likelihood * before, axis=1) + np.log(total)
        self.log_likelihood = likelihood @ sessions.counts[:, 0]
        return np.where(before, 1.0, later), clicks.astype(np.float64)

    def maximize(self, sessions, relevance, examined, relevant):
        """Update the probabilities."""
        next_one = sessions.counts * examined[:, 1:]
        this_one = sessions.counts * examined[:, :-1]
        clicks = sessions.clicks[:, :-1]
        self.continuation = ratio(next_one[~clicks].sum(), this_one[~clicks].sum())
        odds = 1 / relevance[:, :-1] - 1
        # Where the probability to go on is 1, it does not depend on the factor.
        free = clicks & (self.odds_factor * odds < 1)
        self.odds_factor = ratio(next_one[free].sum(), (odds * this_one)[free].sum())


class SmoothModel(PositionModel):
    r"""Propensities near a power of the position, and mistakes that decrease as its inverse.

    The propensity of position p is :math:`p^{-\eta} e^{\delta_p}` with normal deviations
    :math:`\delta_p` and a normal power :math:`\eta`, and mistakes have the probability
    :math:`\epsilon (1/p - 1/n) / (1 - 1/n)`.
    """

    @classmethod
    def start(cls, n_positions):
        """Return the model from which the fit starts, without mistakes."""
        model = cls(np.full(n_positions, 0.5), np.zeros(n_positions))
        # Deviations, the power, mistakes, and the linear function of the logits of relevance.
        model.parameters = np.append(np.zeros(n_positions), [0.5, 0.0, 0.0, 1.0])
        return model

    def maximize(self, sessions, relevance, examined, relevant):
        """Update the propensities."""
        fixed = [(0.0, 0.0), (0.0, 0.0), (1.0, 1.0)]
        self.fit(sessions, logit(np.clip(relevance, TINY, 1 - TINY)), fixed, N_STEPS)

    def fit(self, sessions, logits, bounds, n_steps):
        """Maximize the likelihood; `bounds` are those of the last three parameters."""
        n = sessions.clicks.shape[1]
        place = np.arange(1.0, n + 1)
        logs, shape = np.log(place), (n / place - 1.0) / max(n - 1.0, 1.0)
        clicked, shown = sessions.clicks, sessions.shown * sessions.counts

        def loss(parameters):
            deviations, (power, mistake, offset, slope) = np.split(parameters, [n])
            theta, mistakes = np.exp(deviations - power * logs), mistake * shape
            relevance = expit(offset + slope * logits)
            p = np.clip(theta * (mistakes + (1 - mistakes) * relevance), TINY, 1 - TINY)
            value = -np.sum(shown * np.log(np.where(clicked, p, 1 - p)))
            by_p = shown * np.where(clicked, -1 / p, 1 / (1 - p))
            by_theta = np.sum(by_p * p, axis=0)
            by_logit = by_p * theta * (1 - mistakes) * relevance * (1 - relevance)
            by_mistake = np.sum(by_p * theta * (1 - relevance) * shape)
            by_power = (power - POWER) / POWER_DEVIATION**2 - by_theta @ logs
            rest = by_power, by_mistake, by_logit.sum(), np.sum(by_logit * logits)
            value += np.sum(deviations**2) / (2 * DEVIATION**2)
            value += (power - POWER) ** 2 / (2 * POWER_DEVIATION**2)
            return value, np.append(by_theta + deviations / DEVIATION**2, rest)

        # No propensity is above 1, as if the first position were examined always.
        bounds = [(-3.0, 0.0), *[(-3.0, 3.0)] * (n - 1), (0.0, 3.0), *bounds]
        found = minimize_smooth(loss, self.parameters, bounds, maxiter=n_steps)
        self.parameters = found.x
        self.propensities = np.exp(found.x[:n] - found.x[n] * logs).clip(max=1.0)
        self.mistakes = found.x[n + 1] * shape


def ratio(part, whole):
    """Return the ratio of two sums, kept away from 0 and 1."""
    return np.clip(part / whole, TINY, 1 - TINY) if whole > 0 else 0.5


class ClickObjective(Objective):
    """Expected log-likelihood of the clicks; the scores are the logits of the relevance."""

    def __init__(self, sessions, model, n_documents, n_updates=None):
        self.sessions, self.model, self._n_documents = sessions, model, n_documents
        self._n_updates = N_UPDATES if n_updates is None else n_updates

    def set_scores(self, scores):
        relevance = self.relevance = expit(scores).clip(TINY, 1 - TINY)
        shown = relevance[self.sessions.documents]
        for _ in range(self._n_updates):
            self.model.maximize(self.sessions, shown, *self.model.expect(self.sessions, shown))
        self.examined, relevant = self.model.expect(self.sessions, shown)
        self.n_examined, self.n_relevant = map(self._sums, (self.examined, relevant))
        self.value = -self.model.log_likelihood
        self._set_gradient(self.n_relevant - self.n_examined * relevance)
        # Second derivatives of the log-likelihood, by the information that is missing (Louis 1982).
        complete = self.n_examined * relevance * (1 - relevance)
        unsure = np.where(self.sessions.clicks, relevant, self.examined)
        missing = unsure * (1 - unsure) * np.where(self.sessions.clicks, 1.0, shown**2)
        least = np.maximum(MIN_INFORMATION * complete, TINY)
        self.hessians = np.maximum(complete - self._sums(missing), least)

    def _sums(self, values):
        """Return the sum of each document over the sessions."""
        shown = self.sessions.shown
        weights = (values * self.sessions.counts)[shown]
        return np.bincount(self.sessions.documents[shown], weights, self._n_documents)

    def propensities(self):
        """Return the mean probability of examination of each position, 1 at the maximum."""
        shown = self.sessions.shown * self.sessions.counts
        means = np.sum(self.examined * shown, axis=0) / np.maximum(shown.sum(axis=0), 1)
        return np.where(shown.any(axis=0), means / means.max(), np.nan)


def fit_click_model(kind, X, bins, tree, sessions, seed, n_rounds=N_ROUNDS, n_updates=None):
    """Return the objective of a model of users, at the scores after the last round."""
    objective = ClickObjective(sessions, kind.start(sessions.clicks.shape[1]), len(X), n_updates)
    learner, random = TreeLearner(tree, bins), np.random.RandomState(seed)
    shown = sessions.shown * sessions.counts
    rate = np.sum(sessions.clicks * sessions.counts) / shown.sum()
    scores = np.full(len(X), logit(np.clip(rate, TINY, 0.5)))
    objective.set_scores(scores)
    for _ in range(n_rounds):
        grown = learner.grow(objective, random)
        if grown is None:
            break
        scores += LEARNING_RATE * grown[1]
        objective.set_scores(scores)
    return objective


def held_out_propensities(X, bins, tree, sessions, seed):
    """Return the propensities of positions, from the relevance of documents that are held out."""
    fold_of = np.random.RandomState(seed).permutation(len(X)) % min(N_FOLDS, len(X))
    logits = np.zeros(len(X))
    for fold in range(N_FOLDS):
        known = sessions.shown & (fold_of[sessions.documents] != fold)
        if not (known & sessions.clicks).any():
            continue
        documents = np.where(known, sessions.documents, -1)
        part = Sessions(documents, known & sessions.clicks, sessions.counts)
        fit = fit_click_model(SmoothModel, X, bins, tree, part, seed, N_FOLD_ROUNDS, n_updates=1)
        logits[fold_of == fold] = logit(fit.relevance[fold_of == fold])
    model = SmoothModel.start(sessions.clicks.shape[1])
    bounds = [(0.0, 1 - TINY), (-8.0, 8.0), (0.05, 5.0)]
    model.fit(sessions, logits[sessions.documents], bounds, 300)
    seen = sessions.shown.any(axis=0)
    return np.where(seen, model.propensities / model.propensities[seen].max(), np.nan)


class ClickEstimate(NamedTuple):
    """The relevance that clicks show, which a ranker learns."""

    samples: np.ndarray
    """Index of the sample of each document of each query."""
    target: DocumentTarget
    """Estimated relevance of the documents; the weight of a query is its number of sessions."""
    model: str
    """Name of the model of the user."""
    propensities: np.ndarray
    """Probability of examination of each position, relative to the largest."""


def estimate_relevance(ranker, X, target, position, weights):
    """Return the :class:`ClickEstimate`, from trees with the parameters and the seed of a ranker.

    `X` are the documents shown at each `position`. The target has clicks as relevance, and sessions
    as queries. `weights` were passed by the user.
    """
    clicks, sessions_of = target.y, target.queries
    if any(each is not None for each in weights):
        raise ValueError(
            "sample_weight and query_weight must be None if position is passed: the weight of a "
            "query is the number of its sessions"
        )
    position = check_position(position, sessions_of)
    if not np.isin(clicks, (0, 1)).all():
        raise ValueError(
            "y must be clicks, 0 or 1, if position is passed; leave position out to learn from "
            "relevance"
        )
    if not clicks.any():
        raise ValueError(
            "y has no click, so that there is nothing to learn: check y, and position, which is "
            "for clicks only"
        )
    first, places = X[:1000], position[:1000, np.newaxis]
    copies = np.flatnonzero((first - first[0] == places - places[0]).all(axis=0))
    if np.ptp(places) > 0 and len(copies):
        warnings.warn(
            f"the feature {copies[0]} of X is the position, to which its effect would be "
            "attributed: leave it out of X",
            stacklevel=4,
        )
    samples, documents = distinct_rows(X)
    shape = sessions_of.n_queries, position.max() + 1
    shown, clicked = np.full(shape, -1), np.zeros(shape, dtype=bool)
    shown[sessions_of.codes, position] = documents
    clicked[sessions_of.codes, position] = clicks
    found, counts = np.unique(np.hstack([shown, clicked]), axis=0, return_counts=True)
    shown, clicked = np.hsplit(found, 2)
    sessions = Sessions(shown, clicked.astype(bool), counts[:, np.newaxis])
    lists, list_of = np.unique(np.sort(shown, axis=1), axis=0, return_inverse=True)
    list_of = list_of.ravel()

    X, seed, trees = X[samples], ranker._split_seed, make_trees(ranker, len(samples))
    tree = trees[len(trees) // 2]
    bins = tree._bin(X, np.random.RandomState(seed))
    fits = [
        fit_click_model(kind, X, bins, tree, sessions, seed)
        for kind in (PositionModel, CascadeModel)
    ]
    best = min(fits, key=lambda fit: fit.value)
    if best.model.name == "position":
        propensities = held_out_propensities(X, bins, tree, sessions, seed)
    else:
        propensities = best.propensities()
    queries, in_list = np.nonzero(lists >= 0)
    documents = lists[queries, in_list]
    relevance = (best.n_relevant + PRIOR * best.relevance) / (best.n_examined + PRIOR)
    target = DocumentTarget.of(
        relevance[documents],
        Queries.from_qid(queries, len(queries)),
        query_weights=np.bincount(list_of, counts).astype(np.float64),
    )
    return ClickEstimate(samples[documents], target, best.model.name, propensities)


def distinct_rows(X):
    """Return the index of a sample of each distinct row of `X`, and the row of each sample."""
    # Rows are compared as bytes: the added zero turns -0 into 0, and all NaNs get the same bits.
    X = np.ascontiguousarray(X + 0)
    X[np.isnan(X)] = np.nan
    as_bytes = X.view(np.dtype((np.void, X.dtype.itemsize * X.shape[1]))).ravel()
    _, samples, rows = np.unique(as_bytes, return_index=True, return_inverse=True)
    return samples, rows.ravel()


def check_position(position, sessions):
    """Return the positions, counted from 0, of the documents of sessions."""
    n_samples = len(sessions.codes)
    numbers = as_numbers(position, "position", "positions of documents, integers from 1")
    if numbers.shape != (n_samples,):
        raise ValueError(
            f"position must be of shape ({n_samples},), got {numbers.shape}: pass the position of "
            "each document in the list shown"
        )
    bad = ~((numbers >= 1) & (numbers <= n_samples) & (numbers == np.floor(numbers)))
    if bad.any():
        raise ValueError(
            f"position must hold integers from 1 to n_samples={n_samples}, got "
            f"{numbers[bad][0]:g}: 1 is the first document of a list"
        )
    numbers = numbers.astype(np.intp) - 1
    _, first, counts = np.unique(
        np.stack([sessions.codes, numbers]), axis=1, return_index=True, return_counts=True
    )
    if (counts > 1).any():
        sample = first[counts.argmax()]
        raise ValueError(
            f"position {numbers[sample] + 1} occurs {counts.max()} times in the session "
            f"{sessions.names[sessions.codes[sample]]}: qid must name the session, in which each "
            "position has one document"
        )
    return numbers
