"""Plots of estimated values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.utils import Bunch

from sklrank.off_policy import OffPolicyDisplay, confidence_sequence

pyplot = pytest.importorskip("matplotlib.pyplot")
pyplot.switch_backend("agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def test_estimates_are_drawn_with_their_intervals():
    estimates = {
        "old": Bunch(value=0.2, low=0.1, high=0.3),
        "new": Bunch(value=0.5, low=0.4, high=0.45),  # an interval need not contain the estimate
    }
    display = OffPolicyDisplay.from_estimates(estimates, reference=0.25)
    lines = [line.get_xydata().tolist() for line in display.ax_.get_lines()]
    assert [[0.2, 0]] in lines and [[0.1, 0], [0.3, 0]] in lines
    assert [[0.5, 1]] in lines and [[0.4, 1], [0.45, 1]] in lines
    assert [[0.25, 0], [0.25, 1]] in lines
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["old", "new"]
    assert display.figure_ is display.ax_.figure


def test_sequences_are_drawn_over_time():
    rewards, weights = np.array([1.0, 0, 1, 1]), np.array([1.0, 2, 0.5, 1])
    found = confidence_sequence(rewards, weights)
    ax = pyplot.subplots()[1]
    display = OffPolicyDisplay.from_estimates({"new": found}, reference=0.5, ax=ax)
    assert display.ax_ is ax
    line, reference = ax.get_lines()
    assert reference.get_ydata() == [0.5, 0.5]
    assert_allclose(line.get_ydata(), [1, 1 / 2, 1.5 / 3, 2.5 / 4])
    assert line.get_label() == "new" and len(ax.collections) == 1
    vertices = ax.collections[0].get_paths()[0].vertices
    assert_allclose([vertices[:, 1].min(), vertices[:, 1].max()], [found.low[0], found.high[0]])


def test_estimates_have_names():
    for bad in ({}, [Bunch(value=0.2, low=0.1, high=0.3)]):
        with pytest.raises(ValueError, match="estimates must be a dict"):
            OffPolicyDisplay(bad)
