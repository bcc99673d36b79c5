"""Loader of logs of contextual bandits in the text format of Vowpal Wabbit."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable
from itertools import chain

import numpy as np
from sklearn.utils import Bunch

from sklrank.datasets._text_files import open_binary
from sklrank.feedback import Exploration

# An action with its cost and probability, or an action that was available.
_LABEL = re.compile(r"(\d+)(?::([^:\s]+):([^:\s]+))?")


def load_vowpal_wabbit(source: str | os.PathLike | Iterable[str], *, adf: bool = False) -> Bunch:
    """Load a log of a contextual bandit from a file of Vowpal Wabbit's ``--cb`` or ``--cb_adf``.

    A line has the action, its cost and the probability that it was chosen, then features:
    ``2:-1:0.8 | age:0.3 minutes:2.1``. A feature without a value is 1, and one that is omitted 0.
    The features of a namespace have its name as a prefix, ``user^age``, and its weight as a factor.
    Tags, and actions without a cost, which were available, are left out.

    Parameters
    ----------
    source : str, path-like or iterable of str
        Path of the file, which is plain or compressed with gzip or bzip2; or its lines.
    adf : bool, default=False
        Whether actions have features, as with ``--cb_adf``: an event is a line for each action,
        after a line of the features that they share, if any, and ends with an empty line.

    Returns
    -------
    log : :class:`~sklearn.utils.Bunch`
        Log with the following attributes:

        - ``features``: list of dict, those of each event, for
          :class:`~sklearn.feature_extraction.DictVectorizer`; with ``adf=True``, the shared ones.
        - ``exploration``: :class:`~sklrank.feedback.Exploration` of the actions, from 0, and their
          probabilities. Its `classes` are the numbers in the file, 1, 2, ...; with ``adf=True``,
          the actions are the places of the lines, and there are no `classes`.
        - ``costs``: ndarray of shape (n_events,). Their negatives are rewards, which some models
          need from 0 to 1: :func:`sklearn.preprocessing.minmax_scale` scales them.
        - ``action_features``: list of lists of dict, those of the actions of each event. Only with
          ``adf=True``.

    Raises
    ------
    ValueError
        If a line cannot be read, or an event has not one cost. The message states the line.

    Examples
    --------
    >>> from sklearn.feature_extraction import DictVectorizer
    >>> from sklrank.datasets import load_vowpal_wabbit
    >>> log = load_vowpal_wabbit(["2:-0.5:0.8 | age:0.3 new", "1:0:0.1 |user age:0.7"])
    >>> DictVectorizer(sparse=False).fit_transform(log.features)  # age, new, user^age
    array([[0.3, 1. , 0. ],
           [0. , 0. , 0.7]])
    >>> log.exploration.actions, log.exploration.propensities, log.costs
    (array([1, 0]), array([0.8, 0.1]), array([-0.5,  0. ]))
    """
    if isinstance(source, (str, os.PathLike)):
        with open_binary(os.fspath(source)) as stream:
            text = io.TextIOWrapper(stream, "utf-8-sig")
            events = _read_events(text, f"{source}, ", adf)
    else:
        events = _read_events(source, "", adf)
    features, of_actions, *columns = zip(*events) if events else [()] * 5
    actions, costs, propensities = map(np.array, columns)
    classes = None if adf else np.arange(1, actions.max(initial=0) + 2)
    log = Bunch(
        features=list(features),
        exploration=Exploration(actions.astype(np.intp), propensities, classes),
        costs=costs,
    )
    return Bunch(**log, action_features=list(of_actions)) if adf else log


def _read_events(lines: Iterable[str], path: str, adf: bool) -> list[tuple]:
    """Return features, those of the actions, the action, its cost and probability of each event."""
    events, event = [], []
    for number, line in enumerate(chain(lines, [""]), 1):
        try:
            if line.strip():
                event.append(_read_line(line))
            if event and not (adf and line.strip()):
                events.append(_join(event, adf))
                event = []
        except ValueError as error:
            raise ValueError(f"{path}line {number}: {error}") from error
    return events


def _join(event: list[tuple], adf: bool) -> tuple:
    """Return the entry of `_read_events` of the lines of an event."""
    shared = event[0][2] if event[0][0] == "shared" or not adf else {}
    lines = event[1:] if event[0][0] == "shared" else event
    costs = [(place, line[1]) for place, line in enumerate(lines) if line[1] is not None]
    if len(costs) != 1 or any(kind == "shared" for kind, *_ in lines if adf):
        raise ValueError(
            f"the event has {len(costs)} actions with a cost, not one: "
            "'action:cost:probability | features'"
        )
    place, (action, cost, probability) = costs[0]
    if action == 0 and not adf:
        raise ValueError("actions are numbers from 1, got 0: pass adf=True if they have features")
    return shared, [line[2] for line in lines], place if adf else action - 1, cost, probability


def _read_line(line: str) -> tuple[str, tuple[int, float, float] | None, dict[str, float]]:
    """Return "shared" or "", the action with its cost and probability or None, and the features."""
    head, *namespaces = line.split("|")
    if not namespaces:
        raise ValueError("there is no '|' before the features")
    tokens = head.split()
    kind = "shared" if tokens[:1] == ["shared"] else ""
    tokens = tokens[bool(kind) :]
    if tokens and not head[-1].isspace() and not _LABEL.fullmatch(tokens[-1]):
        tokens.pop()  # a tag
    matches = [(token, _LABEL.fullmatch(token)) for token in tokens if not token.startswith("'")]
    if bad := [token for token, match in matches if match is None]:
        raise ValueError(f"expected action:cost:probability, got {bad[0]!r}")
    labels = [
        (int(match[1]), _number(match[2]), _number(match[3])) for _, match in matches if match[2]
    ]
    if len(labels) > 1 or any(not 0.0 < probability <= 1.0 for *_, probability in labels):
        raise ValueError(f"expected a single cost, with a probability in (0, 1], got {head!r}")
    features: dict[str, float] = {}
    for namespace in namespaces:
        prefix, factor, names = "", 1.0, namespace.split()
        if names and not namespace[0].isspace():
            prefix, factor = _pair(names.pop(0))
            prefix += "^"
        for name, value in map(_pair, names):
            features[prefix + name] = features.get(prefix + name, 0.0) + factor * value
    return kind, labels[0] if labels else None, features


def _pair(text: str) -> tuple[str, float]:
    name, colon, value = text.rpartition(":")
    return (name, _number(value)) if colon else (text, 1.0)


def _number(text: str) -> float:
    number = float(text)
    if not np.isfinite(number) or "_" in text:
        raise ValueError(f"expected a finite number, got {text!r}")
    return number
