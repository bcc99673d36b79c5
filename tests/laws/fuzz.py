"""Random sequences of calls of all estimators, with valid and with hostile parameters and data.

A case is a list of statements, of which the first creates a model. `draw_case` draws one from the
grammar below, and `first_failure` runs it and checks these laws after each statement:

- Only ValueError and TypeError are raised (NotFittedError is a ValueError), and AttributeError for
  a method that the parameters hide. Objects of the grammar raise `Hostile`, which may pass through.
- sklrank causes no RuntimeWarning, FutureWarning or DeprecationWarning.
- A call that raises, or that does not learn, leaves the model as it was, with the RandomState
  instances that it holds. A call that is interrupted, or whose callbacks are hostile, leaves a
  model that can be pickled.
- Predictions and scores are finite and have the documented shape.
- The arguments do not change.
- A model with a tampered attribute neither crashes nor hangs, and neither does a forked process.

`python fuzz.py --calls 500000` in this folder runs cases in a process of its own for each
configuration, which may crash or hang, and prints those that fail as programs.
"""

# ruff: noqa: F401, F403, NPY002 (the statements use all names, and NumPy's own generator)

import argparse
import copy
import faulthandler
import inspect
import os
import pickle
import random
import signal
import sys
import tempfile
import threading
import warnings
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from numbers import Integral
from pathlib import Path
from zlib import crc32

import joblib
import numpy as np
import pandas as pd
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import sklrank
from sklrank._estimators.sklearn import Interval, StrOptions
from sklrank.boosting import *
from sklrank.feedback import Exploration
from sklrank.label_ranking import *
from sklrank.linear_model import *
from sklrank.off_policy import OffPolicyClassifier
from sklrank.online_boosting import *
from sklrank.semi_supervised import *
from sklrank.tree import *
from sklrank.tree._histogram import HistogramTreeRegressor

SECONDS = 10  # until a case counts as hanging
PACKAGE = str(Path(sklrank.__file__).parent)

# -- The grammar. Its words are Python expressions.

# The configurations, with the kind of their target. Their models are small.
CLASSES, LABELS, RANKINGS, GRADES, NUMBERS = "y", "Y", "R", "g", "t"
CONFIGURATIONS = {
    "HoeffdingTreeClassifier(grace_period=2, delta=0.5)": CLASSES,
    "HoeffdingTreeClassifier(leaf_prediction='mc', grace_period=1, tau=1)": CLASSES,
    "HoeffdingTreeClassifier(grace_period=2, delta=0.5, drift_threshold=0.5)": CLASSES,
    "ProbabilisticLabelTree(max_children=2)": LABELS,
    "ProbabilisticLabelTree(max_iter=2)": LABELS,
    "OnlineLogisticRegression()": CLASSES,
    "OnlineLogisticRegression(multi_class='ovr')": CLASSES,
    "OnlineRidgeClassifier()": CLASSES,
    "OnlineRidgeClassifier(kernel='rbf', n_components=4)": CLASSES,
    "BanditronClassifier()": CLASSES,
    "BanditronClassifier(mirror_map='entropy', exploration='ag3')": CLASSES,
    "BanditronClassifier(mirror_map='schatten')": CLASSES,
    "BanditronClassifier(mirror_map=np.positive, randomization=np.hypot)": CLASSES,
    "LinUCBClassifier()": CLASSES,
    "LinUCBClassifier(covariance='diagonal', clip=None)": CLASSES,
    "SemiBanditRanker(k=2)": LABELS,
    "PredtronClassifier()": CLASSES,
    "PredtronClassifier(mirror_map='p-norm', average=True)": CLASSES,
    "PredtronClassifier(loss='hamming', mirror_map='schatten')": LABELS,
    "PredtronClassifier(kernel='rbf')": CLASSES,
    "PredtronClassifier(reject_cost=0.5, average=True)": CLASSES,
    "PredtronLabelRanker()": LABELS,
    "PredtronLabelRanker(kernel='rbf', average=True)": LABELS,
    "PredtronLabelRanker(loss='precision', k=1, mirror_map='group-norm')": LABELS,
    "PredtronQueryRanker()": GRADES,
    "PredtronQueryRanker(kernel='poly', average=True)": GRADES,
    "OnlineBMR('trees', n_estimators=3)": LABELS,
    "OnlineBMR([OnlineLogisticRegression()], loss='rank')": LABELS,
    "AdaOLMR(n_estimators=3)": LABELS,
    "AdaOLMR(GaussianNB(), n_estimators=2)": LABELS,
    "AdaOLMR('trees', n_estimators=3, n_jobs=2)": LABELS,
    "TopKBBM('trees', n_estimators=3, k=2)": LABELS,
    "TopKAdaptive(n_estimators=3, k=2)": LABELS,
    "TopKAdaptive('trees', n_estimators=2, k=2, randomization='single-swap')": LABELS,
    "LevelSplitsRegressor()": NUMBERS,
    "LevelSplitsClassifier(honest='estimation')": CLASSES,
    "HonestTreeClassifier()": CLASSES,
    "OffPolicyClassifier(DecisionTreeClassifier(max_depth=2))": CLASSES,
    "HonestForestClassifier(n_estimators=2)": CLASSES,
    "HistogramTreeClassifier(min_samples_leaf=1)": CLASSES,
    "HistogramTreeRegressor()": NUMBERS,
    "HonestTreeRegressor()": NUMBERS,
    "HonestForestRegressor(n_estimators=2)": NUMBERS,
    "LabelwiseRanker(Ridge())": RANKINGS,
    "LabelwiseRanker(DecisionTreeRegressor(), incomplete='relative')": RANKINGS,
    "PairwiseRanker(GaussianNB())": RANKINGS,
    "PairwiseRanker(DecisionTreeClassifier(), voting='soft')": RANKINGS,
    "StackedRanker([('one', LabelwiseRanker(Ridge())), ('two', PairwiseRanker(GaussianNB()))])": (
        RANKINGS
    ),
    "PlackettLuceRanker(tol=0.5)": RANKINGS,
    "PlackettLuceRanker(kernel='rbf', alpha=1.0, n_components=4, ties='breslow')": RANKINGS,
    "CalibratedLabelRanker(LabelwiseRanker(Ridge()), cv=2)": RANKINGS,
    "ConformalTopLabels(LabelwiseRanker(Ridge()))": RANKINGS,
    "ConformalRanks(PlackettLuceRanker(alpha=1.0))": RANKINGS,
    "PooledLabelSpreading(2)": CLASSES,
    "MCSSBClassifier(n_estimators=2)": CLASSES,
    "MCSSBClassifier(DecisionTreeClassifier(max_depth=1), 2, similarity='rbf')": CLASSES,
    "AssembleClassifier(n_estimators=2)": CLASSES,
    "AssembleClassifier(HistogramTreeClassifier(min_samples_leaf=1), 2)": CLASSES,
    "AssembleClassifier(GaussianNB(), n_estimators=2)": CLASSES,
    "NDCGBoost(n_estimators=2)": GRADES,
    "NDCGBoost(LogisticRegression(), 2)": GRADES,
    "HistGradientBoostingRanker(max_iter=2)": GRADES,
    "HistGradientBoostingRanker('expected-ndcg', max_iter=2, max_leaf_nodes=3)": GRADES,
    "RankBoost(n_estimators=2)": GRADES,
    "RankBoost(HistogramTreeClassifier(max_leaf_nodes=3), 2)": GRADES,
    "AdaRank(n_estimators=2)": GRADES,
    "AdaRank(HistogramTreeClassifier(max_leaf_nodes=2), 2, metric='map')": GRADES,
    "RankingRefiner(0, n_estimators=2)": GRADES,
    "ResidualRefiner(0)": GRADES,
    "ConformalDocumentList(RankBoost(n_estimators=2), alpha=0.8)": GRADES,
    "RankingRefiner(0, LogisticRegression(), 2, combination='sum')": GRADES,
}

# Their results are those of scikit-learn's estimators, which overflow for some samples.
WRAPPERS = {
    "CalibratedLabelRanker",
    "ConformalDocumentList",
    "ConformalRanks",
    "ConformalTopLabels",
    "LabelwiseRanker",
    "PairwiseRanker",
    "StackedRanker",
}

SLICES = ["", "[:6]", "[6:]", "[::2]", "[:1]", "[::-1]"]

# Samples and targets; the slice replaces {}.
SAMPLES = [
    "X{}",
    "X{}.tolist()",
    "np.asfortranarray(X{})",
    "frozen(X{})",
    "shifted(X{})",
    "X{}.astype(np.float32)",
    "X{}.astype('>f8')",
    "np.round(3 * X{}).astype(int)",
    "(X{} > 0)",
    "np.abs(X{})",
    "0 * X{}",
    "1e-310 * X{}",
    "1e20 * X{}",
    "X{}.astype(object)",
    "pd.DataFrame(X{})",
    "pd.DataFrame(X{}, columns=list('abc'))",
    "sparse.csr_array(X{})",
    "sparse.csr_matrix(np.maximum(X{}, 0))",
    "wide(sparse.csr_array(X{}))",
    "unsorted(sparse.csr_array(X{}))",
    "sparse.csr_array(X{}).astype(np.float32)",
    *(f"sparse.{kind}_array(X{{}})" for kind in ("csc", "coo", "lil", "dok", "dia", "bsr")),
]
ODD_SAMPLES = [
    "np.copysign(1e308, X{})",
    "np.copysign(1e155, X{})",
    "np.where(X{} > 1, np.nan, X{})",
    "np.where(X{} > 1, np.inf, X{})",
    "sparse.csr_array(np.where(X{} > 1, np.nan, X{}))",
    "sparse.csr_array(np.copysign(1e308, X{}))",
    "X[:0]",
    "X{}[:, :0]",
    "X{}[:, :2]",
    "np.hstack([X{}, X{}])",
    "sparse.csr_array((12, 3))",
    "sparse.csr_array((0, 3))",
    "X[0]",
    "X[np.newaxis]",
    "1.5",
    "None",
    "'text'",
    "[]",
    "[[]]",
    "[[1, 2], [3]]",
    "X{}.astype(str)",
    "X{} * 1j",
    "np.full(X{}.shape, 'a', dtype=object)",
    "np.full(X{}.shape, None)",
    "np.zeros(X{}.shape, dtype='M8[s]')",
    "pd.DataFrame(X{}).astype('string')",
    "X{} @ X{}.T",
    *(
        f"damaged(sparse.{kind}_array(X{{}}), {name!r}, {entry})"
        for kind, name in (("csr", "indptr"), ("csr", "indices"), ("csc", "indptr"), ("coo", "row"))
        for entry in ("-1", "10**8")
    ),
    "sparse.csr_array((3, 2**40))",
    "np.ma.MaskedArray(X{}, X{} > 1)",
]
TARGETS = {
    CLASSES: [
        "y{}",
        "y{}",
        "y{}.tolist()",
        "y{}.astype(float)",
        "y{} > 0",
        "names[y{}]",
        "names[y{}].astype(object)",
        "pd.Series(y{})",
        "pd.Series(names[y{}]).astype('category')",
        "y{} - 1",
        "y{}.astype(np.int8)",
        "shifted(y{})",
        "0 * y{}",
    ],
    LABELS: [
        "Y{}",
        "Y{}",
        "Y{}.tolist()",
        "Y{}.astype(bool)",
        "Y{}.astype(float)",
        "sparse.csr_array(Y{})",
        "np.asfortranarray(Y{})",
        "shifted(Y{})",
        "pd.DataFrame(Y{}, columns=list('abcd'))",
        "y{}",
        "names[y{}]",
        "0 * Y{}",
        "0 * Y{} + 1",
        "Y{}[:, :1]",
        "Y{}[:, :2]",
    ],
    RANKINGS: [
        "R{}",
        "R{}",
        "R{}.astype(float)",
        "np.where(R{} == 4, np.nan, R{})",
        "np.minimum(R{}, 2)",
        "R{}.tolist()",
        "pd.DataFrame(R{}, columns=list('abcd'))",
        "R{}[:, :1]",
        "R{}[:, :2]",
        "0 * R{}",
        "np.full(R{}.shape, np.nan)",
    ],
    GRADES: [
        "g{}",
        "g{}",
        "g{}.astype(float)",
        "g{}.tolist()",
        "g{} > 1",
        "0 * g{}",
        "np.where(g{} == 1, np.nan, g{})",
        "pd.Series(g{})",
        "g{}[:, np.newaxis]",
    ],
    NUMBERS: ["t{}", "t{}", "t{}.tolist()", "T{}", "y{}", "0 * t{}", "1e-310 * t{}", "1e150 * t{}"],
}
ODD_TARGETS = [
    "None",
    "X{}",
    "y[:0]",
    "y[:5]",
    "'text'",
    "1",
    "[]",
    "Y{}[:, :0]",
    "Y{} + 1",
    "Y{} - 1",
    "np.full(len(X{}), np.nan)",
    "np.full(len(X{}), np.inf)",
    "np.copysign(1e308, t{})",
    "np.copysign(1e308, X{})",
    "np.where(X{} > 1, np.nan, X{})",
    "g{} + 2000",
    "np.array([None] * len(X{}))",
    "[[1], [1, 2]] * (len(X{}) // 2)",
    "[(0, 1)] * len(X{})",
    "[{'a': 1}] * len(X{})",
    "y{} * 1j",
    "np.zeros(len(X{}), dtype='M8[s]')",
    "Y{}[np.newaxis]",
    "sparse.csr_array(X{})",
    "np.ma.MaskedArray(y{}, y{} == 0)",
    "np.ma.MaskedArray(names[y{}], y{} == 0)",
    "np.ma.MaskedArray(R{}, R{} == 4)",
    "pd.Series(y{}, dtype='Int64')",
    "pd.Series(names[y{}], dtype='string')",
    "damaged(sparse.csr_array(Y{}), 'indptr', 10**8)",
    "damaged(sparse.csc_array(Y{}), 'indices', 10**8)",
    *(form for forms in TARGETS.values() for form in forms),
]
ARGUMENTS = {
    "sample_weight": ["w{}", "None", "0 * w{}", "1e-310 * w{}", "1e150 * w{}"],
    "classes": [
        "range(4)",
        "range(3)",
        "range(-1, 5)",
        "names",
        "[0, 1]",
        "None",
        "np.arange(4.0)",
    ],
    "random_state": ["3", "[3, 4]", "np.random.RandomState(3)", "None"],
    "qid": ["q{}", "q{}", "None", "names[q{}]", "q{}.tolist()", "pd.Series(q{})"],
    "k": ["1", "2", "3"],
    "rewards": [
        "(Y{}[:, :2])",
        "np.ma.MaskedArray(Y{}[:, :2], X{}[:, :2] > 0)",
        "(y{} > 0)",
        "np.ones(len(X{}))",
        "Y{}[:, :2] > 0",
    ],
    "exploration": ["shown", "shown", "shown[::2]", "single_action(len(X{}))"],
    "similarities": ["None", "np.exp(X{} @ X{}.T)", "np.eye(len(X{}))"],
    "base_scores": ["None", "t{}"],
    "pairs": ["None", "[(0, 1, 1.0)]", "np.ones((len(X{}), len(X{})))"],
    "feature_names": ["list('abc')", "None"],
    "max_depth": ["1", "None"],
    "decimals": ["0", "3"],
}
ODD_ARGUMENTS = [
    "None",
    "-w{}",
    "w[:3]",
    "np.full(len(X{}), np.nan)",
    "np.copysign(1e308, t{})",
    "names",
    "[]",
    "0",
    "-1",
    "10**30",
    "1.5",
    "True",
    "np.nan",
    "'text'",
    "object()",
    "[[1, 2], [3]]",
    "np.ma.MaskedArray(w{}, w{} > 0.5)",
    "range(100)",
    "[1, 1, 2]",
    "['a', 1]",
    "X{}",
    "Exploration([], [])",
    "single_action(3)",
]

# Settings of scikit-learn.
CONFIGURATION = sklearn.get_config()

# What hostile callbacks and weak learners do.
DEEDS = ["raise", "interrupt", "nan", "shape", "clear the model", "learn", "recurse"]
HOSTILE = [f"Nasty({deed!r})" for deed in DEEDS]

ESTIMATORS = [
    "GaussianNB()",
    "MultinomialNB()",
    "DecisionTreeClassifier(max_depth=1)",
    "DecisionTreeRegressor(max_depth=1)",
    "KNeighborsClassifier(1, algorithm='brute')",
    "LogisticRegression()",
    "Ridge()",
    "HistogramTreeClassifier(max_leaf_nodes=3)",
    "HistogramTreeRegressor(max_leaf_nodes=3)",
    "HoeffdingTreeClassifier()",
    "OnlineRidgeClassifier()",
    "[GaussianNB(), HoeffdingTreeClassifier()]",
    "[]",
    "'trees'",
    *(f"NastyClassifier({deed!r})" for deed in DEEDS),
]
# Values of the parameters whose constraints do not tell them.
PARAMETERS = {
    "estimator": ESTIMATORS,
    "estimators": [
        "[('one', LabelwiseRanker(Ridge()))]",
        "[HoeffdingTreeClassifier(), OnlineRidgeClassifier()]",
        *("[]", "[('one', 1)]", "[1]"),
    ],
    "ranker": ["LabelwiseRanker(Ridge())", "PairwiseRanker(GaussianNB())", "Ridge()", "1"],
    "base_ranker": ["0", "2", "3", "'a'", "Ridge()", "NDCGBoost(n_estimators=1)"],
    "cv": ["2", "3", "1", "100", "'nope'"],
    "random_state": ["0", "np.random.RandomState(1)", "None", "-1", "np.random.default_rng(1)"],
    "loss": ["1 - np.eye(3)", "np.ones((3, 3))", "[[0, 1], [2, 0]]", "np.arange(3)", *HOSTILE],
    "reject_cost": ["0.1", "[0.1, 0.2, 0.3]", "0"],
    "propensity_clip": ["0", "0.5", "0.6", "(0, 1)"],
    "kernel": ["np.dot", "np.add", "exp_kernel", *HOSTILE],
    "mirror_map": ["np.positive", "np.size", *HOSTILE],
    "randomization": ["np.hypot", "np.size", "np.subtract", *HOSTILE],
    "representation": ["np.negative", "np.sqrt", *HOSTILE],
    "gain": ["np.sqrt", "np.negative", *HOSTILE],
    "similarity": ["exp_kernel", *HOSTILE],
    "exploration": ["0", "0.5", "1", *HOSTILE],
    "n_jobs": ["None", "1", "2", "-1", "0", "1.5"],
}
WRONG = ["None", "-1", "0", "True", "'nope'", "np.nan", "np.inf", "0.5", "[1]", "np.zeros(2)"]
# Parameters of which large values take hours or gigabytes.
SIZES = {"n_estimators", "max_iter", "n_components", "n_jobs"}

# -- The helpers of the grammar.


def data():
    """Return the arrays of the grammar by name."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(12, 3))
    order = np.argsort(X @ rng.normal(size=(3, 4)) + 0.1 * rng.normal(size=(12, 4)), axis=1)
    R = np.argsort(order, axis=1) + 1
    return {
        "X": X,
        "R": R,
        "y": np.tile([0, 1, 2, 1], 3),
        "Y": (R <= 1 + np.arange(12)[:, np.newaxis] % 3).astype(int),
        "g": np.tile([0, 2, 1], 4),
        "q": np.repeat([3, 1, 2], 4),
        "t": X[:, 0] + 0.1 * rng.normal(size=12),
        "T": X[:, :2].copy(),
        "w": rng.uniform(size=12),
        "names": np.array(["red", "green", "blue", "white"]),
    }


def frozen(array):
    """Return a read-only copy."""
    array = array.copy()
    array.flags.writeable = False
    return array


def shifted(array):
    """Return a copy whose entries do not lie at multiples of their size."""
    return np.frombuffer(b"head" + array.tobytes(), array.dtype, offset=4).reshape(array.shape)


def wide(matrix):
    """Return a CSR array with 64-bit indices."""
    matrix.indices, matrix.indptr = matrix.indices.astype("i8"), matrix.indptr.astype("i8")
    return matrix


def unsorted(matrix):
    """Return a CSR array whose rows have their entries in descending order of the columns."""
    ends = zip(matrix.indptr[:-1], matrix.indptr[1:])
    order = np.concatenate([np.arange(start, end)[::-1] for start, end in ends])
    entries = matrix.data[order], matrix.indices[order], matrix.indptr
    return sparse.csr_array(entries, shape=matrix.shape)


def single_action(n_samples):
    """Return a record of one action for each sample."""
    return Exploration(np.arange(n_samples) % 2, np.full(n_samples, 0.5))


def exp_kernel(A, B):
    """Return the similarities of two samples, or of the rows of two arrays."""
    return np.exp(np.dot(A, np.transpose(B)))


def damaged(matrix, name, entry):
    """Return a sparse array one of whose indices is replaced."""
    getattr(matrix, name)[-1:] = entry
    return matrix


def copies(model):
    """Return a copy of a copy of a copy, and so on."""
    for copied in 10 * [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model)), copy.copy]:
        model = copied(model)
    return model


def learned(model, rows):
    """Return the model after it has learned some rows, if it can do so by their labels."""
    names = data()
    with suppress(Exception):  # Of any kind, if its callbacks are hostile.
        y = names["Y" if model._has_label_columns else "y"]
        model.partial_fit(names["X"][rows], y[rows])
    return model


def merged(model):
    """Return the model, merged with copies that have other histories and attributes."""
    base, others = copy.deepcopy(model), [learned(copy.deepcopy(model), [0, i]) for i in (1, 2)]
    others[0].note = "of the user"
    for method, *classes in (("drop_classes", [0]), ("drop_classes", "green"), ("explore", [0, 9])):
        with suppress(ValueError, TypeError, AttributeError):
            getattr(others[1], method)(*classes)
    return model.merge(others, base=base) if hasattr(model, "merge") else model


def forked(model):
    """Return the model, after a process that was forked while a thread learned has predicted."""
    learner, X = copy.deepcopy(model), data()["X"]
    thread = threading.Thread(target=learned, args=(learner, np.arange(12).repeat(20)))
    thread.start()
    if not (child := os.fork()):
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(SECONDS // 2)  # The watchdog of the parent does not wait for longer.
            learned(learner, [0, 1]).predict(X)
        finally:
            os._exit(0)
    thread.join()
    status = os.waitpid(child, 0)[1]
    assert status == 0, f"the process that was forked ended with {status}"
    return model


def tampered(model, seed):
    """Return the model with another plain attribute, as a damaged file may have it."""
    places = [
        (vars(owner), name)
        for owner in [model, *(vars(model).get("estimators_") or ())]
        if type(owner).__module__.startswith("sklrank") and hasattr(owner, "__dict__")
        for name, value in vars(owner).items()
        if isinstance(value, (np.ndarray, int)) and name not in model.get_params(deep=False)
    ]
    rng = random.Random(seed)
    if places:
        owner, name = rng.choice(places)
        value = np.array(owner[name])
        entry = rng.choice([0, -1, 10**8, 2**31 - 1])
        others = [value[None], value.ravel()[:-1], None]
        if value.dtype.kind in "iuf":
            value.reshape(-1)[:1] = np.array(entry).astype(value.dtype)
            others += [value, value.astype(complex)]
        changed = rng.choice(others)
        owner[name], owner["_tampered"] = changed, "Nasty"  # No law but that nothing crashes.
    return model


class Hostile(Exception):
    """Raised by objects of the grammar."""


CURRENT = {}  # the names of the statement that runs, such as the model


def do(deed, result):
    """Do what the callback of a user should not do, or return a wrong result."""
    model = CURRENT.get("model")
    if deed == "raise":
        raise Hostile
    if deed == "interrupt":
        raise KeyboardInterrupt
    if deed == "nan":
        return result * np.nan
    if deed == "shape":
        return np.zeros(7)
    if deed == "clear the model" and model is not None:
        CURRENT["cleared"] = True
        vars(model).clear()
    if deed == "learn" and hasattr(model, "partial_fit"):
        model.partial_fit(CURRENT["X"], CURRENT["y"])
    if deed == "recurse" and hasattr(model, "predict"):
        model.predict(CURRENT["X"][:1])
    return result


class Nasty:
    """A function of any arguments, with the methods of mirror maps and of losses."""

    def __init__(self, deed):
        self.deed = deed

    def __call__(self, first, *_, **__):
        return do(self.deed, np.asarray(first, dtype=np.float64))

    weights = gains = discounts = __call__


class NastyClassifier(GaussianNB):
    """A weak learner that does its deed when it learns."""

    def __init__(self, deed="raise"):
        super().__init__()
        self.deed = deed

    def fit(self, X, y, sample_weight=None):
        do(self.deed, np.zeros(1))
        return super().fit(X, y, sample_weight)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        do(self.deed, np.zeros(1))
        return super().partial_fit(X, y, classes, sample_weight)


@dataclass(frozen=True)
class Statement:
    """The statement `target = function(arguments)`; an argument is a keyword, or "", and text."""

    target: str
    function: str
    arguments: tuple = ()

    def __str__(self):
        words = [f"{name}={text}" if name else text for name, text in self.arguments]
        return f"{self.target} = {self.function}({', '.join(words)})"

    @property
    def method(self):
        """Name of the method of the model that the statement calls, or ''."""
        return self.function.partition("model.")[2]


# -- Drawing cases.

LEARN = ["fit", "partial_fit", "progressive_fit", "partial_fit_feedback"]
# Their results and their models are checked.
READ = [
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "predict_ranks",
    "predict_topk",
    "staged_predict",
    "transform",
    "apply",
    "score",
    "coverage",
    "get_params",
    "get_depth",
    "get_n_leaves",
    "__sklearn_tags__",
]


def draw_case(source, kind, rng):
    """Return the statements of a random case of a configuration."""
    created = parse(source)
    owner = globals()[created.function]
    if rng.random() < 0.5:
        created = draw_parameters(created, owner, rng)
    case = [created, *(draw_statement(owner, kind, rng) for _ in range(rng.randint(3, 8)))]
    # Most sequences learn before they predict.
    if rng.random() < 0.7:
        case.insert(1, draw_call(rng.choice(learning(owner)), owner, kind, rng, p_odd=0.1))
    return case


def parse(source):
    """Return the statement that creates the model of a configuration, with its text as argument."""
    name, _, rest = source.partition("(")
    return Statement("model", name, (("", rest[:-1]),) if rest != ")" else ())


def draw_parameters(created, owner, rng):
    """Add one or two random parameters to those of the configuration."""
    model = eval(str(created).removeprefix("model = "))
    defaults = {name: each.default for name, each in inspect.signature(owner).parameters.items()}
    free = [name for name, default in sorted(defaults.items()) if getattr(model, name) is default]
    for name in rng.sample(free, min(rng.randint(1, 2), len(free))):
        value = draw_value(name, owner, rng)
        created = replace(created, arguments=(*created.arguments, (name, value)))
    return created


def draw_value(name, owner, rng):
    """Draw a parameter from its constraints: valid values, bounds, values beyond, other types."""
    values = list(PARAMETERS.get(name, []))
    for rule in owner._parameter_constraints.get(name, []):
        if isinstance(rule, StrOptions):
            values += map(repr, sorted(rule.options))
        elif isinstance(rule, Interval):
            values += of_interval(rule, name)
        elif isinstance(rule, str) and rule == "boolean":
            values += ["True", "False", "1", "np.True_"]
    if not values or rng.random() < 0.15:
        values = WRONG
    return rng.choice(values)


def of_interval(rule, name):
    if rule.type is Integral:
        values = [rule.left if rule.left is not None else -3]
        values += [values[0] - 1, values[0] + 1, values[0] + 2, float(values[0] + 1)]
        if rule.right is not None:
            values += [rule.right, rule.right + 1]
        elif name not in SIZES:
            values += [10**6, 10**30]
        return map(repr, values)
    left = -1.0 if rule.left is None or rule.left == -np.inf else float(rule.left)
    right = left + 2.0 if rule.right is None or rule.right == np.inf else float(rule.right)
    values = [left, right, (left + right) / 2, left + 1e-12, left - 0.5, right + 0.5, 1e-300]
    if rule.right is None or rule.right == np.inf:
        values += [1e6, 1e300]
    return [*map(repr, values), "np.float32(0.5)", "np.inf", "np.nan"]


def learning(owner):
    return [name for name in LEARN if hasattr(owner, name)]


def draw_statement(owner, kind, rng):
    """Return a random call: learning, reading, exploring, or a copy of the model."""
    chance = rng.random()
    if chance < 0.3:
        return draw_call(rng.choice(learning(owner)), owner, kind, rng)
    if chance < 0.4 and hasattr(owner, "explore"):
        return replace(draw_call("explore", owner, kind, rng), target="shown")
    if chance < 0.42 and hasattr(owner, "drop_classes"):
        dropped = rng.choice(["[0]", "[3, 2]", "names[1:2]", "[7]", "None"])
        return Statement("result", "model.drop_classes", (("", dropped),))
    if chance < 0.45:
        return Statement("model", "pickle.loads", (("", "pickle.dumps(model)"),))
    if chance < 0.5:
        copied = ["clone", "copy.deepcopy", "copies", "merged", "tampered"]
        copied = rng.choice([*copied, "forked"] if hasattr(os, "fork") else copied)
        seed = [("", str(rng.randrange(1000)))] if copied == "tampered" else []
        return Statement("model", copied, (("", "model"), *seed))
    if chance < 0.51:
        return Statement("model.history", "list", (("", "'user'"),))
    if chance < 0.55:
        return Statement("result", rng.choice(["repr", "dir"]), (("", "model"),))
    if chance < 0.65:
        name = rng.choice(sorted(owner._parameter_constraints))
        return Statement("result", "model.set_params", ((name, draw_value(name, owner, rng)),))
    methods = [name for name in READ if hasattr(owner, name)]
    return draw_call(rng.choice(methods), owner, kind, rng)


def draw_call(method, owner, kind, rng, p_odd=0.3):
    """Return a call of a method, whose samples, targets and weights mostly belong together."""
    part = rng.choice(SLICES)
    arguments = []
    for name, parameter in inspect.signature(getattr(owner, method)).parameters.items():
        if name == "self" or parameter.kind is parameter.VAR_KEYWORD:
            continue
        is_required = parameter.default is parameter.empty
        if not is_required and rng.random() < 0.6:
            continue
        odd = rng.random() < p_odd / 2
        if name == "X":
            forms = ODD_SAMPLES if odd else SAMPLES
        elif name == "y":
            forms = ODD_TARGETS if odd else TARGETS[kind]
        elif name in ARGUMENTS:
            forms = ODD_ARGUMENTS if odd else ARGUMENTS[name]
        else:
            forms = ODD_ARGUMENTS
        other_part = rng.choice(SLICES) if rng.random() < p_odd / 10 else part
        keyword = "" if name in ("X", "y") else name
        arguments.append((keyword, rng.choice(forms).replace("{}", other_part)))
    return Statement("result", f"model.{method}", tuple(arguments))


# -- Running cases.


@dataclass(frozen=True)
class Failure:
    """The law that a case breaks: its name, and what happened."""

    law: str
    detail: str


@contextmanager
def interrupted(seconds):
    """Raise KeyboardInterrupt after so many seconds, or never if it is None.

    The list that the context manager returns is not empty after the interrupt.
    """
    armed, interrupts = True, []

    def interrupt(*_):
        # Python may run the handler after the body.
        if armed:
            interrupts.append(seconds)
            raise KeyboardInterrupt

    if seconds is not None:
        signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield interrupts
    finally:
        armed = False
        if seconds is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)


def first_failure(case, rng=None):
    """Run a case. Return the first failure and the number of statements run, or None and it.

    If `rng` is given, a tenth of the calls are interrupted at a random time.
    """
    names = {**globals(), **data(), "shown": None}
    before = data()
    for i, statement in enumerate(case):
        seconds = None if rng is None or rng.random() > 0.1 else 10 ** rng.uniform(-5, -1.5)
        failure = check_statement(statement, names, seconds)
        if failure is None and any(
            not np.array_equal(value, names[name]) for name, value in before.items()
        ):
            failure = Failure("arguments change", "")
        if failure is not None:
            return failure, i + 1
        if "model" not in names or "cleared" in CURRENT:
            break
    return None, len(case)


def check_statement(statement, names, seconds=None):
    """Execute a statement. Return the Failure if it breaks a law, else None."""
    model = names.get("model")
    state = None if model is None else state_of(model)
    caused = []
    CURRENT.clear()
    CURRENT.update(names)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = lambda *args, **_: caused.append(blame(*args))
            with interrupted(seconds) as interrupts:
                exec(compile(str(statement), f"<{statement}>", "exec"), names)
                if statement.method == "staged_predict":
                    names["result"] = list(names["result"])
    except (KeyboardInterrupt, Hostile):
        # scikit-learn's context manager of the configuration can be interrupted as it is entered.
        sklearn.set_config(**CONFIGURATION)
        if model is not None:
            state_of(model)
        return None
    except Exception as error:
        # joblib's loop replaces an interrupt by an error of its own if it is verbose.
        if "cleared" in CURRENT or (interrupts and "/joblib/" in last_file(error)):
            return None
        if is_hostile(model, statement):
            return None
        if not may_raise(error, statement, model):
            return Failure(type(error).__name__, str(error))
        if model is None:
            return None
        # A weak learner has refused a sample, and the booster refuses to learn from now on.
        counter = getattr(model, "_counter", None)
        if counter is not None and counter.is_in_round:
            return None
        learned = not same_state(state, state_of(model))
        return Failure("a refused call changes the model", str(error)) if learned else None
    if is_hostile(model, statement):
        return None
    if any(caused):
        return Failure("warning", next(filter(None, caused)))
    if statement.method in READ:
        if not same_state(state, state_of(model)):
            return Failure("a prediction changes the model", "")
        complaint = complaint_about(names["result"], statement, names)
        if complaint:
            return Failure("result", complaint)
    return None


def last_file(error):
    """Return the name of the file in which an error was raised."""
    traceback = error.__traceback__
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback.tb_frame.f_code.co_filename


def is_hostile(model, statement):
    """Return whether the model or the statement calls functions that break the laws themselves."""
    return "Nasty" in str(statement) or "Nasty" in repr(getattr(model, "__dict__", ""))


def may_raise(error, statement, model):
    if isinstance(error, AttributeError) and not isinstance(error, ValueError):
        return bool(statement.method) and not hasattr(model, statement.method)
    if isinstance(error, MemoryError):
        # Estimators of scikit-learn copy sparse samples of 2**40 columns.
        return not last_file(error).startswith(PACKAGE)
    if isinstance(error, ZeroDivisionError):
        # Of the scores of scikit-learn 1.7 if all weights are 0.
        return statement.method == "score"
    return isinstance(error, ValueError | TypeError)


def blame(message, category, filename, line, *_):
    """Return a description of a warning that sklrank causes, or None."""
    if not issubclass(category, RuntimeWarning | FutureWarning | DeprecationWarning):
        return None
    frame = sys._getframe(2)
    while frame is not None and "/numpy/" in frame.f_code.co_filename:
        frame = frame.f_back
    if frame is None or not frame.f_code.co_filename.startswith(PACKAGE):
        return None
    place = f"{frame.f_code.co_filename.removeprefix(PACKAGE)}:{frame.f_lineno}"
    return f"{category.__name__}: {message} ({place})"


def state_of(model):
    # NumPy's own generator, which `random_state=None` stands for, is no part of the model.
    np.random.seed(0)
    return pickle.dumps(model)


def same_state(pickled, other):
    # Pickles of equal models may differ, since they also record which objects are identical.
    if pickled == other:
        return True
    return joblib.hash(pickle.loads(pickled)) == joblib.hash(pickle.loads(other))


def complaint_about(result, statement, names):
    """Return what is wrong with the result of a method that reads the model, or None."""
    method, model = statement.method, names["model"]
    if not statement.arguments or method == "get_params":
        return None
    X = eval(statement.arguments[0][1], names)
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    if method == "score" and "sklearn." in type(model).score.__module__:
        return None
    weights = eval(dict(statement.arguments).get("sample_weight", "None"), names)
    if is_classifier(model) and weights is not None and not np.isfinite(np.sum(weights)):
        return None  # scikit-learn's accuracy divides by their sum.
    if method in ("score", "coverage"):
        is_number = isinstance(result, float) and np.isfinite(result)
        return None if is_number else f"{method} returns {result!r}"
    for each in result if method == "staged_predict" else [result]:
        each = each.toarray() if sparse.issparse(each) else np.asarray(each)
        may_overflow = method == "predict_log_proba" or type(model).__name__ in WRAPPERS
        if each.dtype.kind in "fc" and not may_overflow and not np.isfinite(each).all():
            return f"{method} returns NaN or infinity"
        if each.shape[:1] != (n_samples,):
            return f"{method} returns the shape {each.shape} for {n_samples} samples"
    n_labels = len(getattr(model, "classes_", ()))
    if method in ("predict_proba", "predict_log_proba"):
        probabilities = result if method == "predict_proba" else np.exp(result)
        labels = eval(dict(statement.arguments).get("labels", "None"), names)
        n_columns = n_labels if labels is None else len(labels)
        if probabilities.shape != (n_samples, n_columns):
            return f"{method} returns the shape {probabilities.shape}"
        if probabilities.min() < 0 or probabilities.max() > 1 + 1e-9:
            return f"{method} returns no probabilities"
        # Labels of an indicator matrix are relevant independently of each other.
        independent = labels is not None or (
            method == "predict_proba" and getattr(model, "_has_label_columns", False)
        )
        if not independent and not np.allclose(probabilities.sum(axis=1), 1):
            return f"{method} returns no distributions"
    if method == "decision_function" and is_classifier(model):
        one_column = n_labels == 2 and result.ndim == 1
        if result.shape != (n_samples, n_labels) and not one_column:
            return f"{method} returns the shape {result.shape}"
    if method == "predict_ranks":
        if (np.sort(result, axis=1) != 1 + np.arange(n_labels)).any():
            return "predict_ranks returns no permutations"
    return None


def program(case, failure):
    """Return a case as a program, which runs in this folder."""
    lines = [f"# {failure.law}: {failure.detail}", "from fuzz import *"]
    return "\n".join([*lines, "globals().update(data(), shown=None)", *map(str, case)])


def fuzz(source, n_calls, seed, *, interrupt=False, trace=None):
    """Run cases of a configuration until `n_calls` statements have run; return the failures.

    The failures are programs by their law and their detail. The current case is written to the file
    `trace`.
    """
    failures = {}
    rng = random.Random(crc32(f"{seed} {source}".encode()))
    with joblib.parallel_config("threading"), redirect_stdout(None):
        while n_calls > 0:
            case = draw_case(source, CONFIGURATIONS[source], rng)
            if trace is not None:
                Path(trace).write_text(program(case, Failure("crash or hang", "")))
                faulthandler.dump_traceback_later(SECONDS, exit=True)
            failure, n_run = first_failure(case, rng if interrupt else None)
            n_calls -= n_run
            if failure is not None:
                key = failure.law, failure.detail[-60:]
                failures.setdefault(key, program(case[:n_run], failure))
    return failures


def fuzz_in_process(source, n_calls, seed, trace):
    """Print the failures of a configuration, also if its process crashes or hangs."""
    faulthandler.enable()
    failures = fuzz(source, n_calls, seed, interrupt=True, trace=trace)
    faulthandler.cancel_dump_traceback_later()
    print(*failures.values(), sep="\n\n", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--calls", type=int, default=10_000, help="over all configurations")
    parser.add_argument("--only", default="", help="beginning of the configurations")
    options = parser.parse_args()
    sources = [source for source in CONFIGURATIONS if source.startswith(options.only)]
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "case.py"
        for source in sources:
            arguments = source, options.calls // len(sources), options.seed, trace
            process = get_context("fork").Process(target=fuzz_in_process, args=arguments)
            process.start()
            process.join()
            print(source, "ended with", process.exitcode, flush=True)
            if process.exitcode:
                print(trace.read_text(), flush=True)


if __name__ == "__main__":
    main()
