"""Seeds of estimators and of the estimators nested in them."""

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from sklrank._estimators.random import seed_parameters, set_random_states


def test_seeds_of_nested_estimators():
    pipeline = make_pipeline(StandardScaler(), QuantileTransformer(), SGDClassifier())
    names = ["quantiletransformer__random_state", "sgdclassifier__random_state"]
    assert seed_parameters(pipeline) == names
    set_random_states(pipeline, np.random.RandomState(0))
    random = np.random.RandomState(0)
    for name in names:
        assert pipeline.get_params()[name] == random.randint(np.iinfo(np.int32).max)


def test_estimators_without_seeds():
    assert seed_parameters(GaussianNB()) == []
    random = np.random.RandomState(0)
    set_random_states(GaussianNB(), random)
    assert random.randint(9) == np.random.RandomState(0).randint(9)
