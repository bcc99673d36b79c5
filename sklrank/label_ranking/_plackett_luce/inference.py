"""Inference for the Plackett-Luce model: covariances, tables of estimates, and tests.

All results come from three arrays: the parameters of `PenalizedLikelihood`, their covariance, and
the directions that map the parameters to log-worths of the options. The log-worth of an option is
its score for the mean respondent; only differences of log-worths are identified.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg import block_diag, helmert
from scipy.sparse.csgraph import connected_components
from scipy.stats import chi2, norm
from sklearn.utils import Bunch, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import (
    as_names,
    check_exact,
    check_level,
    check_random_state,
    is_integer,
    is_missing,
)
from sklrank._estimators import minimize_smooth

COVARIANCES = ("observed", "sandwich", "bootstrap")


def quasi_variances(covariance: ArrayLike) -> np.ndarray:
    r"""Return quasi-variances, from which the variance of any difference can be computed.

    They approximate the variances :math:`v_{ij}` of differences by :math:`q_i + q_j` [1]_, and
    minimize :math:`\sum_{i<j} (\log(q_i + q_j) - \log v_{ij})^2`. So readers of a table can compare
    any two options, whatever the reference option is.

    Parameters
    ----------
    covariance : array-like of shape (n_estimates, n_estimates)
        Covariance of the estimates.

    Returns
    -------
    ndarray of shape (n_estimates,)
        Quasi-variances, positive. Of two estimates, each is half the variance of the difference.

    References
    ----------
    .. [1] David Firth and Renée de Menezes, "Quasi-variances", Biometrika 91, 2004.

    Examples
    --------
    >>> from sklrank.label_ranking import quasi_variances
    >>> quasi_variances([[0, 0, 0], [0, 0.5, 0.2], [0, 0.2, 0.6]]).round(6)
    array([0.2, 0.3, 0.4])
    """
    covariance = np.asarray(covariance, dtype=np.float64)
    if covariance.ndim != 2 or covariance.shape[0] != covariance.shape[1]:
        raise ValueError(f"covariance must be a square matrix, got the shape {covariance.shape}")
    variances = np.diag(covariance)
    differences = variances[:, np.newaxis] + variances - 2.0 * covariance
    others = ~np.eye(len(covariance), dtype=bool)
    if not (differences[others] > 0.0).all():
        raise ValueError("covariance must give each difference of two estimates a variance above 0")
    logs = np.log(differences, out=np.zeros(differences.shape), where=others)

    def error(log_quasi):
        sums = np.logaddexp(log_quasi[:, np.newaxis], log_quasi)
        residuals = np.where(others, sums - logs, 0.0)
        shares = np.exp(log_quasi[:, np.newaxis] - sums)
        return np.sum(residuals**2) / 4.0, np.sum(residuals * shares, axis=1)

    start = np.full(len(covariance), np.log(differences.mean() or 1.0))
    return np.exp(minimize_smooth(error, start, ftol=1e-16, gtol=1e-10, maxiter=1000).x)


def likelihood_ratio_test(restricted: Any, full: Any) -> Bunch:
    """Test whether a Plackett-Luce model fits better than a restricted model.

    Parameters
    ----------
    restricted : PlackettLuceRanker or None
        A special case of `full`, fitted to the same rankings, such as a model without features. If
        None, all rankings are equally probable; `full` must then have no parameter of ties.
    full : PlackettLuceRanker
        Ranker that is fitted without a penalty.

    Returns
    -------
    Bunch
        With the entries `statistic`, `df` and `p_value`, of the chi-squared distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.label_ranking import PlackettLuceRanker, likelihood_ratio_test
    >>> Y = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [3, 1, 2], [1, 2, 3], [2, 3, 1]]
    >>> ranker = PlackettLuceRanker(alpha=0.0).fit(np.ones((6, 1)), Y)
    >>> likelihood_ratio_test(None, ranker).df
    2
    """
    for name, ranker in {"full": full, "restricted": restricted}.items():
        if not isinstance(ranker, PlackettLuceInference) and (ranker is not None or name == "full"):
            raise TypeError(f"{name} must be a PlackettLuceRanker, got {type(ranker).__name__}")
    problem = full._check_inference(penalty="raise")
    df = full._n_free()
    if restricted is None:
        if problem.orders:
            raise ValueError("restricted=None is not a special case of a model with ties: pass one")
        log_likelihood = problem.log_likelihood(np.zeros(problem.n_parameters))
    else:
        other = restricted._check_inference(penalty="raise")
        if not (
            _are_equal(other.positions, problem.positions)
            and np.array_equal(other.weights, problem.weights)
            and restricted._fitted_ties == full._fitted_ties
        ):
            raise ValueError(
                "restricted must be fitted to the same rankings, weights and ties as full: fit it "
                "again"
            )
        log_likelihood = restricted.log_likelihood_
        df -= restricted._n_free()
    if df <= 0:
        raise ValueError(
            f"full must have more parameters than restricted, got {df} more: swap them"
        )
    statistic = 2.0 * (full.log_likelihood_ - log_likelihood)
    # The maxima are found up to a tolerance, far below the deviation of the statistic, 1.4 or more.
    if statistic < -0.1:
        raise ValueError(
            f"restricted has a larger likelihood than full, by {-statistic / 2:.3g} in logarithms, "
            "and so is no special case of it: compare models whose features full has, too"
        )
    return _chi_squared(statistic, df)


def _are_equal(positions, others):
    """Return whether two CSR arrays store equal entries, zeros included, at equal places."""
    parts = ((each.indptr, each.indices, each.data) for each in (positions, others))
    return positions.shape == others.shape and all(map(np.array_equal, *parts))


def _chi_squared(statistic, df):
    # The maximum is found up to a tolerance, so that the statistic may be slightly negative.
    statistic = max(float(statistic), 0.0)
    return Bunch(statistic=statistic, df=int(df), p_value=float(chi2.sf(statistic, df)))


def table(columns, index):
    """Return a data frame if pandas is installed, else a Bunch of the columns and the index."""
    try:
        from pandas import DataFrame, MultiIndex
    except ImportError:
        return Bunch(index=np.asarray(index), **columns)
    pairs = isinstance(index[0], tuple)
    return DataFrame(columns, MultiIndex.from_tuples(index) if pairs else index)


class PlackettLuceInference:
    """Mixin of `PlackettLuceRanker` with standard errors, tests and criteria.

    The ranker defines `_problem`, the likelihood of the training samples in the mask `seen`, its
    `_parameters`, and the maps from the columns of the solution to the labels, `_directions`, and
    to the item features, `_item_directions`, or None.
    """

    def _label_directions(self):
        if self._directions is not None:
            return self._directions
        return np.eye(len(self.classes_)) - 1.0 / len(self.classes_)

    def __getstate__(self):
        # Files of models hold no answers of respondents, nor the memory they need.
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_problem"}

    def _check_inference(self, penalty="warn"):
        """Return the likelihood of the training samples; raise if the estimate is not finite."""
        check_is_fitted(self)
        problem = getattr(self, "_problem", None)
        if problem is None:
            raise ValueError(
                "the ranker holds no training samples, because kernel='rbf' or because it was "
                "pickled or copied: fit it with kernel='linear' in this process"
            )
        if self._item_directions is None:
            if text := undetermined_labels(problem, self.classes_):
                raise ValueError(text)
        if self.alpha_ > 0.0 and len(problem.axes.T) and penalty != "ignore":
            message = (
                f"the ridge penalty alpha_={self.alpha_:g} biases the estimates toward equal "
                "weights: for unbiased intervals and tests, fit with alpha=0"
            )
            if penalty == "raise":
                raise ValueError(message)
            warnings.warn(message, stacklevel=3)
        return problem

    def _basis(self):
        """Return orthonormal columns that span the identified parameters."""
        n_rows, n_columns = self._problem.shape
        columns = np.eye(n_columns)
        if self._item_directions is None:  # The scores of a sample have an arbitrary constant.
            columns = helmert(n_columns).T if n_columns > 1 else np.empty((1, 0))
        ties = np.eye(len(self._problem.orders))
        return block_diag(np.kron(np.eye(n_rows), columns), ties)

    def _n_free(self):
        return self._basis().shape[1]

    def _informations(self, problem):
        """Return the information without the penalty, with it, and the basis of both."""
        basis = self._basis()
        information, of_equal = (
            basis.T @ problem.information(parameters) @ basis
            for parameters in (self._parameters, np.zeros_like(self._parameters))
        )
        n_weights = (problem.shape[0] - 1) * problem.shape[1]
        penalty = np.where(np.arange(len(self._parameters)) < n_weights, self.alpha_, 0.0)
        penalized = information + (basis.T * penalty) @ basis
        # An estimate that is not finite has much less information than equal worths.
        largest = np.maximum(np.abs(np.diag(penalized)), np.abs(np.diag(of_equal)))
        scales = 1.0 / np.sqrt(largest.clip(np.finfo(float).tiny))
        smallest = np.linalg.eigvalsh(penalized * scales * scales[:, np.newaxis])[:1]
        # The differences of gradients with ties="davidson" have about seven exact digits.
        if (smallest < 1e-7).any():
            raise ValueError(
                "the rankings do not determine all parameters: leave out features, or fit with "
                "alpha above 0"
            )
        return information, penalized, basis

    def _covariance(self, covariance="observed", groups=None, n_bootstrap=200, random_state=None):
        """Return the covariance of the parameters."""
        problem = self._check_inference()
        if covariance not in COVARIANCES:
            raise ValueError(f"covariance must be one of {COVARIANCES}, got {covariance!r}")
        groups = np.arange(len(problem.seen)) if groups is None else as_names(groups)
        check_consistent_length(problem.seen, groups)
        if groups.ndim != 1 or is_missing(groups).any():
            raise ValueError(
                "groups must be a column with the name of the respondent of each row, without NaN "
                f"or None, got the shape {groups.shape}"
            )
        check_exact(groups, "groups")
        _, groups = np.unique(groups[problem.seen], return_inverse=True)
        if covariance == "bootstrap":
            return self._bootstrap(problem, groups, n_bootstrap, random_state)
        information, penalized, basis = self._informations(problem)
        if covariance == "sandwich":
            information = basis.T @ self._score_products(problem, groups) @ basis
        bread = np.linalg.inv(penalized)
        return basis @ bread @ information @ bread @ basis.T

    def _score_products(self, problem, groups):
        """Return the sum over the groups of the outer products of their gradients."""
        sums = 0.0
        for table, _, gradient, by_order in problem.gradients(self._parameters):
            of_columns = sparse.csr_array(table.by_label(gradient))
            if problem.design is not None:
                of_columns = of_columns @ problem.design
            features = problem.features[table.rows].T
            terms = [sparse.diags_array(of_axis) @ of_columns for of_axis in features]
            rows = sparse.hstack([*terms, by_order], format="csr")
            at = groups[table.rows], np.arange(len(by_order))
            shape = groups.max() + 1, len(by_order)
            sums = sums + sparse.csr_array((np.ones(len(by_order)), at), shape=shape) @ rows
        return (sums.T @ sums).toarray()

    def _bootstrap(self, problem, groups, n_bootstrap, random_state):
        check_number(n_bootstrap, "n_bootstrap", 2)
        random, n_groups = check_random_state(random_state), groups.max() + 1
        draws, n_infinite = [], 0
        for _ in range(n_bootstrap):
            drawn = np.bincount(random.randint(n_groups, size=n_groups), minlength=n_groups)
            part = problem.part(weights=problem.weights * drawn[groups])
            draws.append(part.solve(self.alpha_, self._parameters, tol=self.tol)[0])
            if self._item_directions is None:
                n_infinite += _compared_labels(problem, drawn[groups] > 0)[0] > 1
        if n_infinite:
            warnings.warn(
                f"{n_infinite} of n_bootstrap={n_bootstrap} draws have no finite estimate, as few "
                "respondents rank some labels before or after others: the errors are too large, "
                "and depend on tol; use covariance='sandwich' or 'observed'",
                stacklevel=5,
            )
        return np.cov(np.transpose(draws)).reshape(len(draws[0]), -1)

    def _term(self, feature):
        """Return the combination of the rows of the solution that belongs to a feature."""
        axes = self._problem.axes
        if feature is None:
            return np.append(np.zeros(axes.shape[1]), 1.0)
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_)).tolist()
        if feature not in names and not (is_integer(feature) and 0 <= feature < len(names)):
            raise ValueError(f"feature must be one of {names}, got {feature!r}")
        index = names.index(feature) if feature in names else feature
        of_feature = axes[index] / self.features_.scale_[index]
        if not of_feature.any():
            raise ValueError(f"feature={feature!r} is constant, so that it has no weights")
        return np.append(of_feature, 0.0)

    def _estimates(self, feature, of, **options):
        """Return estimates, and their covariance, for the rows of a table."""
        covariance = self._covariance(**options)
        solution, _ = self._problem.unpack(self._parameters)
        directions = self._label_directions()
        if of == "item_features":
            directions = self._item_directions / self.item_scaler_.scale_[:, np.newaxis]
        maps = np.kron(self._term(feature), directions)
        n_weights = solution.size
        return (
            maps @ solution.ravel(),
            maps @ covariance[:n_weights, :n_weights] @ maps.T,
            covariance[n_weights:, n_weights:],
        )

    def worth_covariance(
        self,
        covariance: Literal["observed", "sandwich", "bootstrap"] = "observed",
        *,
        groups: ArrayLike | None = None,
        n_bootstrap: int = 200,
        random_state: int | np.random.RandomState | None = None,
    ) -> np.ndarray:
        """Return the covariance of the log-worths, whose mean is 0.

        Parameters
        ----------
        covariance : {"observed", "sandwich", "bootstrap"}, default="observed"
            Covariance of the estimates: by the observed information, valid if the model is true and
            sample weights are numbers of respondents; by the sandwich, robust to a wrong model, to
            dependent rows of a group and to sampling weights; or of `n_bootstrap` fits to
            respondents that are drawn with replacement.
        groups : array-like of shape (n_samples,), default=None
            The respondent of each row, for "sandwich" and "bootstrap"; each row is one if None.
        n_bootstrap : int, default=200
            Number of fits of the bootstrap.
        random_state : int, RandomState instance or None, default=None
            Controls the random draws.

        Returns
        -------
        ndarray of shape (n_labels, n_labels)
            Covariance of the log-worths of the mean respondent.
        """
        options = {"groups": groups, "n_bootstrap": n_bootstrap, "random_state": random_state}
        return self._estimates(None, "labels", covariance=covariance, **options)[1]

    def summary(
        self,
        feature: str | int | None = None,
        *,
        of: Literal["labels", "item_features"] | None = None,
        reference: Any = None,
        confidence_level: float = 0.95,
        **options: Any,
    ) -> Any:
        """Return a table of the estimates with their standard errors and Wald tests.

        Parameters
        ----------
        feature : str or int, default=None
            Feature of the respondents: the estimates are the changes of the log-worths by one unit
            of it. If None, they are the log-worths of the mean respondent.
        of : {"labels", "item_features"}, default=None
            Rows of the table. Those of item features are the changes of the log-worth by one unit.
            If None, item features if the model has them.
        reference : label, default=None
            Label whose estimate is 0, with which each one is compared. If None, their mean is 0.
        confidence_level : float, default=0.95
            Level of the intervals.
        **options
            Parameters of :meth:`worth_covariance`.

        Returns
        -------
        DataFrame, or Bunch of arrays if pandas is not installed
            A row for each label or item feature and, with ``ties="davidson"``, for the logarithm of
            the prevalence of each number of tied labels. The columns are `estimate`, `std_error`,
            `z`, `p_value`, `lower`, `upper`, and `quasi_std_error` for labels.

        Raises
        ------
        ValueError
            If the maximum likelihood estimate is not finite, as some labels are never ranked before
            others, or if a parameter is malformed.

        Warns
        -----
        UserWarning
            If a ridge penalty biases the estimates, or draws of the bootstrap have none.
        """
        check_is_fitted(self)
        kinds = ("labels", "item_features")[: 1 if self._item_directions is None else 2]
        of = kinds[-1] if of is None else of
        if of not in kinds:
            raise ValueError(f"of must be one of {kinds} of this model, got {of!r}")
        check_level(confidence_level, "confidence_level")
        estimates, variances, of_ties = self._estimates(feature, of, **options)
        index = (self.classes_ if of == "labels" else self._item_names).tolist()
        columns = {}
        if of == "labels":
            columns["quasi_std_error"] = np.sqrt(quasi_variances(variances))
        if reference is not None:
            if of != "labels" or reference not in index:
                raise ValueError(f"reference must be one of the labels {index}, got {reference!r}")
            contrast = np.eye(len(index))
            contrast[:, index.index(reference)] -= 1.0
            estimates, variances = contrast @ estimates, contrast @ variances @ contrast.T
        errors = np.sqrt(np.diag(variances).clip(0.0))
        if feature is None and of_ties.size:
            orders, values = zip(*self.tie_prevalences_.items())
            index += [f"ties of {order}" for order in orders]
            estimates = np.append(estimates, np.log(values))
            errors = np.append(errors, np.sqrt(np.diag(of_ties)))
            for name in columns:
                columns[name] = np.append(columns[name], np.full(len(orders), np.nan))
        z = np.divide(estimates, errors, out=np.full(len(errors), np.nan), where=errors > 0.0)
        reach = norm.isf((1.0 - confidence_level) / 2.0) * errors
        columns = {
            "estimate": estimates,
            "std_error": errors,
            "z": z,
            "p_value": 2.0 * norm.sf(np.abs(z)),
            "lower": estimates - reach,
            "upper": estimates + reach,
            **columns,
        }
        return table(columns, index)

    def wald_test(self, labels: ArrayLike | None = None, **options: Any) -> Bunch:
        """Test whether labels have equal worths for the mean respondent.

        Parameters
        ----------
        labels : array-like of labels, default=None
            The labels, at least two. If None, all labels.
        **options
            Parameters of :meth:`worth_covariance`.

        Returns
        -------
        Bunch
            With the entries `statistic`, `df` and `p_value`, of the chi-squared distribution.
        """
        estimates, variances, _ = self._estimates(None, "labels", **options)
        names = self.classes_.tolist()
        labels = names if labels is None else np.ravel(labels).tolist()
        if len(set(labels)) < max(len(labels), 2) or not set(labels) <= set(names):
            raise ValueError(f"labels must be at least two different ones of {names}, got {labels}")
        places = [names.index(label) for label in labels]
        contrasts = np.eye(len(names))[places[1:]] - np.eye(len(names))[places[0]]
        differences = contrasts @ estimates
        covariances = contrasts @ variances @ contrasts.T
        statistic = differences @ np.linalg.pinv(covariances, hermitian=True) @ differences
        return _chi_squared(statistic, np.linalg.matrix_rank(covariances, hermitian=True))

    def goodness_of_fit(self) -> Bunch:
        """Test whether the first choice and the later choices follow the same worths.

        It is a likelihood-ratio test against separate parameters for the first choice.

        Returns
        -------
        Bunch
            With the entries `statistic`, `df` and `p_value`, of the chi-squared distribution.
        """
        problem = self._check_inference(penalty="raise")
        parts = [problem.part(choices=choices) for choices in ("first", "later")]
        if parts[1].log_likelihood(np.zeros(problem.n_parameters)) == 0.0:
            raise ValueError("no ranking has a second choice: the test needs longer rankings")
        log_likelihoods = [
            part.log_likelihood(part.solve(0.0, self._parameters, tol=self.tol)[0])
            for part in parts
        ]
        return _chi_squared(2.0 * (sum(log_likelihoods) - self.log_likelihood_), self._n_free())

    def _n_effective(self):
        problem = self._check_inference(penalty="ignore")
        information, penalized, _ = self._informations(problem)
        return np.trace(np.linalg.solve(penalized, information))

    def aic(self) -> float:
        """Return Akaike's information criterion of the training rankings; smaller is better.

        Returns
        -------
        float
            Minus twice the log-likelihood, plus twice the (effective) number of parameters.
        """
        return float(2.0 * (self._n_effective() - self.log_likelihood_))

    def bic(self) -> float:
        """Return the Bayesian information criterion of the training rankings; smaller is better.

        Returns
        -------
        float
            Minus twice the log-likelihood, plus the (effective) number of parameters times the
            logarithm of the sum of the sample weights.
        """
        n_parameters = self._n_effective()
        size = np.log(self._problem.weights.sum())
        return float(size * n_parameters - 2.0 * self.log_likelihood_)


def check_number(n, name, least):
    """Raise a ValueError unless n is an integer of `least` or more."""
    if not is_integer(n) or n < least:
        raise ValueError(f"{name} must be an integer of {least} or more, got {n!r}")


def undetermined_labels(problem, classes, alpha=0.0):
    """Return a text about labels whose maximum likelihood estimate is not finite, or None.

    They are never ranked before others, or after them, even in several steps; if `alpha` is
    positive, not compared with them at all.
    """
    n_parts, parts = _compared_labels(problem, connection="weak" if alpha > 0 else "strong")
    if n_parts == 1:
        return None
    names = np.asarray(classes)[parts != np.bincount(parts).argmax()].tolist()
    how = "" if alpha > 0 else "always, or never, ranked before the others, or "
    return (
        f"the maximum likelihood estimate is not finite: the labels {names[:6]}"
        f"{' and more' if len(names) > 6 else ''} are {how}not compared with the other labels. "
        "Leave them out"
    )


def _compared_labels(problem, rows=slice(None), connection="strong"):
    """Return the number of parts whose labels are ranked before each other, and those of labels.

    They are strongly connected components of a graph, in which an edge leads from a label to the
    group that it is tied with, and from the group to the labels of the next one in the ranking.
    """
    positions = problem.positions[rows]
    row = np.repeat(np.arange(positions.shape[0]), np.diff(positions.indptr))
    order = np.lexsort((positions.data, row))
    row, position, label = row[order], positions.data[order], positions.indices[order]
    starts = np.append(True, (np.diff(row) > 0) | (np.diff(position) > 0))[: len(row)]
    n_labels = positions.shape[1]
    group = n_labels - 1 + np.cumsum(starts)
    later = np.isin(group - 1, group) & (row == row[np.searchsorted(group, group - 1)])
    # Labels that are tied in the last group are compared with each other by other rules only.
    leads = np.isin(group, group[later] - 1) | (problem.ties != "exclude")
    sources, targets = [label[leads], group[later] - 1], [group[leads], label[later]]
    if problem.ties != "exclude":
        sources, targets = [*sources, group], [*targets, label]
    edges = np.concatenate(sources), np.concatenate(targets)
    n_nodes = n_labels + starts.sum()
    graph = sparse.csr_array((np.ones(len(edges[0])), edges), shape=(n_nodes, n_nodes))
    _, parts = connected_components(graph, connection=connection)
    names, parts = np.unique(parts[:n_labels], return_inverse=True)
    return len(names), parts
