"""Sample weights of estimators of users, of their pipelines and of searches."""

from sklearn import config_context
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter


def fit_weighted(estimator, X, y, sample_weight):
    """Fit an estimator to samples, which may have weights, and return it."""
    if sample_weight is None:
        return estimator.fit(X, y)
    # Steps of pipelines would have to request the weights, if routing were enabled.
    with config_context(enable_metadata_routing=False):
        return estimator.fit(X, y, **weights_of_steps(estimator, sample_weight))


def weights_of_steps(estimator, sample_weight):
    """Return the arguments by which `fit`, also of a pipeline or a search, gets the weights."""
    if has_fit_parameter(estimator, "sample_weight"):
        return {"sample_weight": sample_weight}
    if isinstance(estimator, BaseSearchCV):
        return weights_of_steps(estimator.estimator, sample_weight)
    if not isinstance(estimator, Pipeline):
        raise ValueError(
            f"sample_weight cannot be used, as the fit method of {estimator!r} has no such "
            "argument; use another estimator, or repeat the samples"
        )
    *transformers, (last, ranker) = estimator.steps
    accepting = [name for name, step in transformers if has_fit_parameter(step, "sample_weight")]
    arguments = {f"{name}__sample_weight": sample_weight for name in accepting}
    of_last = weights_of_steps(ranker, sample_weight)
    return arguments | {f"{last}__{name}": weights for name, weights in of_last.items()}
