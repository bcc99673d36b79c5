"""Names of parameters of LightGBM and XGBoost, and what replaces them here."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

# Names, and what replaces them.
TABLE = {
    "boosting_type": "no such argument: the trees are those of gradient boosting",
    "bagging_fraction subsample subsample_freq": "max_features; trees use all documents",
    "callbacks": "verbose, or set_callbacks with scikit-learn 1.9",
    "categorical_feature feature_types": "categorical_features, or columns of type category",
    "class_weight": "sample_weight or query_weight of fit",
    "colsample_bytree feature_fraction": "max_features",
    "device device_type": "n_jobs; there is no GPU support",
    "early_stopping_round early_stopping_rounds": "early_stopping=True and n_iter_no_change",
    "eta": "learning_rate",
    "eval_at": "k of the constructor",
    "eval_group eval_qid": "qid_val of fit",
    "eval_names": "X_val of fit, a single set without a name",
    "eval_metric metric": "scoring of the constructor",
    "eval_sample_weight": "X_val of fit, without weights",
    "eval_set eval_X eval_y": "X_val, y_val and qid_val of fit",
    "feature_name": "a data frame X, whose columns have names",
    "group": "qid, the query of each document: qid=np.repeat(np.arange(len(group)), group)",
    "importance_type": "feature_importances_, which are decreases of the loss",
    "init_model xgb_model": "warm_start=True",
    "init_score": "init of the constructor, an estimator of the initial scores",
    "label_gain": "gain, a function of the grades",
    "lambda_l1 reg_alpha": "l2_regularization; there is no L1 penalty",
    "lambda_l2 reg_lambda": "l2_regularization",
    "lambdarank_truncation_level": "k",
    "max_bin": "max_bins",
    "min_child_samples min_data_in_leaf": "min_samples_leaf",
    "min_child_weight min_split_gain": "min_samples_leaf or max_leaf_nodes",
    "monotone_constraints": "monotonic_cst",
    "n_estimators num_boost_round num_iterations": "max_iter",
    "num_leaves max_leaves": "max_leaf_nodes",
    "objective": "loss",
    "seed": "random_state",
    "verbose verbosity": "verbose of the constructor",
}
REPLACEMENTS = {name: text for names, text in TABLE.items() for name in names.split()}


def explains_peer_names(method: Method) -> Method:
    """Decorate a method: its TypeError for such a name, if it has no such argument, helps."""
    names = REPLACEMENTS.keys() - signature(method).parameters.keys()

    # `inspect.signature`, by which scikit-learn finds the parameters, returns that of the method.
    @wraps(method)
    def call(self, *args, **kwargs):
        for name in kwargs:
            if name in names:
                raise TypeError(
                    f"{type(self).__name__}.{method.__name__}() got an unexpected keyword argument "
                    f"{name!r}: use {REPLACEMENTS[name]}"
                )
        return method(self, *args, **kwargs)

    return call
