"""A short run of the fuzz script, which CONTRIBUTING.md describes."""

import inspect
import os

import fuzz
import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

import sklrank

SEED = int(os.environ.get("SKLRANK_FUZZ_SEED", 0))


def test_all_estimators_are_fuzzed():
    public = {
        thing
        for subpackage in sklrank.__all__[1:]
        for thing in vars(getattr(sklrank, subpackage)).values()
        if inspect.isclass(thing) and issubclass(thing, BaseEstimator)
    }
    fuzzed = {source.partition("(")[0] for source in fuzz.CONFIGURATIONS}
    # Calls of a pipeline are calls of its steps.
    owners = {owner.__name__ for owner in public if not issubclass(owner, Pipeline)}
    assert owners <= fuzzed


@pytest.mark.parametrize("source", fuzz.CONFIGURATIONS)
def test_random_calls(source):
    failures = fuzz.fuzz(source, 10, SEED)
    assert not failures, "\n\n".join(failures.values())


@pytest.mark.slow
@pytest.mark.parametrize("source", fuzz.CONFIGURATIONS)
def test_more_random_calls(source):
    failures = fuzz.fuzz(source, 60, SEED + 1)
    assert not failures, "\n\n".join(failures.values())
