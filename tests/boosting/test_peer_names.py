"""Errors of arguments that have other names in LightGBM and XGBoost."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone

from sklrank.boosting import AdaRank, HistGradientBoostingRanker, NDCGBoost, RankBoost
from sklrank.boosting._base import REPLACEMENTS

OF_FIT = {"group", "eval_set", "eval_group", "eval_qid", "eval_metric", "callbacks", "init_score"}


@pytest.mark.parametrize("name", sorted(REPLACEMENTS))
def test_names(name):
    message = rf"unexpected keyword argument '{name}': use {REPLACEMENTS[name][:12]}"
    if name != "verbose":
        with pytest.raises(TypeError, match=message):
            HistGradientBoostingRanker(**{name: 1})
    with pytest.raises(TypeError, match=message):
        HistGradientBoostingRanker().fit([[1], [2]], [0, 1], **{name: 1})
    words = REPLACEMENTS[name].replace(",", "").replace(";", "").split()
    arguments = inspect.signature(HistGradientBoostingRanker).parameters.keys()
    of_fit = inspect.signature(HistGradientBoostingRanker.fit).parameters.keys()
    known = {word.split("=")[0] for word in words} & (arguments | of_fit)
    assert known or name in {"boosting_type", "callbacks", "importance_type"}


def test_other_names_have_the_error_of_python():
    with pytest.raises(TypeError, match="'leaves'$"):
        HistGradientBoostingRanker(leaves=3)
    with pytest.raises(TypeError, match="'groups'$"):
        HistGradientBoostingRanker().fit([[1], [2]], [0, 1], groups=[2])


@pytest.mark.parametrize("ranker", [AdaRank(), NDCGBoost(), RankBoost()])
def test_other_rankers(ranker):
    with pytest.raises(TypeError, match="'group': use qid"):
        ranker.fit([[1], [2]], [0, 1], group=[2])


def test_parameters_are_those_of_the_signature():
    ranker = clone(HistGradientBoostingRanker(max_iter=3))
    assert "n_estimators" not in ranker.get_params()
    assert ranker.get_params()["max_iter"] == 3
    X = np.arange(4.0)[:, np.newaxis]
    assert ranker.fit(X, [0, 1, 0, 1], qid=[1, 1, 2, 2]).n_iter_ <= 3
