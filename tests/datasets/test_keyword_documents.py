"""make_keyword_documents has the properties that its docstring states."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklrank.datasets import make_keyword_documents


def keywords(X, y, n_keywords=120, n_classes=9):
    """Return the keywords of each class: those of the first words that its documents have."""
    heads = X[:, :n_keywords]
    return np.array([np.asarray(heads[y == k].sum(axis=0)) > 0 for k in range(n_classes)])


@pytest.mark.parametrize("sizes", [(400, 120), (300, 50), (60, 40)])
def test_documents_have_keywords_and_other_words(sizes):
    n_features, n_keywords = sizes
    X, y = make_keyword_documents(9000, n_features, n_keywords=n_keywords, random_state=0)
    assert X.shape == (9000, n_features) and X.format == "csr" and X.dtype == np.float64
    assert set(X.data.tolist()) == {1.0}
    own = keywords(X, y, n_keywords)
    assert np.all((20 <= own.sum(axis=1)) & (own.sum(axis=1) <= 40))
    assert_array_equal(np.asarray(X[:, :n_keywords].sum(axis=1)).ravel(), own.sum(axis=1)[y] - 5)
    assert_array_equal(np.asarray(X[:, n_keywords:].sum(axis=1)).ravel(), 20)
    shares = np.asarray(X[:, n_keywords:].mean(axis=0)).ravel()
    assert np.ptp(shares) < 0.04
    assert np.ptp(np.bincount(y)) < 300
    for k in range(9):
        lacked = 1 - X[y == k][:, :n_keywords].toarray().mean(axis=0)[own[k]]
        assert lacked == pytest.approx(5 / own[k].sum(), abs=0.06)


def test_formula_of_the_docstring_has_no_errors():
    X, y = make_keyword_documents(3000, random_state=1)
    v = keywords(X, y).astype(float)
    scores = 2 * X[:, :120] @ v.T - v.sum(axis=1)
    assert_array_equal(scores.argmax(axis=1), y)


def test_noise_replaces_labels():
    """The new label is wrong in 8 of 9 cases; nothing else changes."""
    X, y = make_keyword_documents(20_000, random_state=0)
    noisy_X, noisy_y = make_keyword_documents(20_000, label_noise=0.3, random_state=0)
    assert (X != noisy_X).nnz == 0
    assert np.mean(y != noisy_y) == pytest.approx(0.3 * 8 / 9, abs=0.01)


@pytest.mark.parametrize(
    "params",
    [
        {"n_samples": 0},
        {"n_classes": 1},
        {"n_keywords": 39},
        {"n_features": 139},
        {"label_noise": 1.1},
        {"label_noise": np.nan},
    ],
)
def test_bad_parameters_are_named(params):
    with pytest.raises(ValueError, match=next(iter(params))):
        make_keyword_documents(**params)
