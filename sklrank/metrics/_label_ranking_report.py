"""Text report of predicted rankings of labels, as a whole and by label."""

from __future__ import annotations

from reprlib import repr as shortened
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklrank._rankings import check_two_rankings, close_ranks
from sklrank._validation import column_names, labels_of_columns
from sklrank.metrics._averaging import weighted_mean
from sklrank.metrics._label_ranking import kendall_tau_score

__all__ = ["label_ranking_report"]


def label_ranking_report(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    digits: int = 3,
    output_dict: bool = False,
) -> str | dict[str, Any]:
    """Build a text report of the main measures of predicted rankings.

    Positions are ranks among the labels that are ranked in both rankings of a sample: one plus the
    number of labels before. The measures of all labels are means over the samples that rank some
    label in both rankings:

    - "tau": Kendall's tau, see :func:`kendall_tau_score`;
    - "top-1": share of samples whose best predicted label is a best true label;
    - "top-3 overlap": share of the labels at the first three predicted positions whose true
      position is also among the first three.

    The measures of each label are means over the samples that rank it in both rankings:

    - "true" and "predicted": mean positions;
    - "error": mean absolute difference between the two positions;
    - "tau": number of concordant pairs of this label and another one minus the number of discordant
      pairs, divided by the number of pairs;
    - "samples": number of samples.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_labels)
        True positions of the labels. Labels with smaller positions are better, labels with equal
        positions are tied, and NaN marks a label that is not ranked. Only the order matters.
    y_pred : array-like of shape (n_samples, n_labels)
        Predicted positions of the labels, in the same form.
    labels : array-like of shape (n_labels,), default=None
        Names of the labels. If None, they are the column names of `y_true` if it is a data frame
        with column names, and otherwise the column indices.
    digits : int, default=3
        Number of digits after the decimal point.
    output_dict : bool, default=False
        Whether to return a dict instead of a text.

    Returns
    -------
    report : str or dict
        The report. The keys of the dict are the names of the measures, and "labels", whose value is
        a dict from each label to a dict of its measures. Measures without samples are NaN.

    Raises
    ------
    ValueError
        If the arrays are not 2-d or have different shapes, or if `labels` are not distinct names,
        one for each column.

    Examples
    --------
    >>> from sklrank.metrics import label_ranking_report
    >>> y_true = [[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 3, 2]]
    >>> y_pred = [[1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 3]]
    >>> print(label_ranking_report(y_true, y_pred, labels=["tea", "coffee", "milk"], digits=2))
    samples        4
    tau            0.50
    top-1          0.75
    top-3 overlap  1.00
    <BLANKLINE>
            true  predicted  error   tau  samples
    tea     1.25       1.00   0.25  0.75        4
    coffee  2.00       2.25   0.75  0.25        4
    milk    2.75       2.75   0.50  0.50        4
    """
    true, pred = check_two_rankings(y_true, y_pred)
    n_labels = true.shape[1]
    if labels is None:
        labels = labels_of_columns(column_names(y_true), n_labels)
    names = np.asarray(labels)
    if names.shape != (n_labels,) or len(set(names.tolist())) < n_labels:
        raise ValueError(
            f"labels must name the {n_labels} columns of y_true, each by a name of its own, got "
            f"{shortened(names.tolist())}"
        )
    ranked = ~(np.isnan(true) | np.isnan(pred))
    true, pred = (close_ranks(np.where(ranked, positions, np.nan)) for positions in (true, pred))
    report = {"samples": len(true), **_measures(true, pred, ranked)}
    report["labels"] = {
        name: _measures_of_label(true, pred, ranked, label)
        for label, name in enumerate(names.tolist())
    }
    return report if output_dict else _as_text(report, digits)


def _measures(true, pred, ranked):
    some = ranked.any(axis=1)
    if not some.any():
        return dict.fromkeys(("tau", "top-1", "top-3 overlap"), np.nan)
    true, pred = true[some], pred[some]
    first = np.sum((true == 1) & (pred == 1), axis=1) / np.sum(pred == 1, axis=1)
    among_three = np.sum((true <= 3) & (pred <= 3), axis=1) / np.sum(pred <= 3, axis=1)
    return {
        "tau": kendall_tau_score(true, pred),
        "top-1": weighted_mean(first),
        "top-3 overlap": weighted_mean(among_three),
    }


def _measures_of_label(true, pred, ranked, label):
    rows = ranked[:, label]
    if not rows.any():
        values = dict.fromkeys(("true", "predicted", "error", "tau"), np.nan)
        return {**values, "samples": 0}
    true, pred = true[rows], pred[rows]
    others = ranked[rows] & (np.arange(ranked.shape[1]) != label)
    signs = np.sign(true - true[:, [label]]) * np.sign(pred - pred[:, [label]])
    return {
        "true": weighted_mean(true[:, label]),
        "predicted": weighted_mean(pred[:, label]),
        "error": weighted_mean(np.abs(true[:, label] - pred[:, label])),
        "tau": float(signs[others].mean()) if others.any() else np.nan,
        "samples": int(rows.sum()),
    }


def _as_text(report, digits):
    lines = [
        f"{name:<13}  {value if name == 'samples' else f'{value:.{digits}f}'}"
        for name, value in report.items()
        if name != "labels"
    ]
    columns = ("true", "predicted", "error", "tau", "samples")
    rows = [
        [str(label)]
        + [
            str(values[name]) if name == "samples" else f"{values[name]:.{digits}f}"
            for name in columns
        ]
        for label, values in report["labels"].items()
    ]
    table = [["", *columns], *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    for row in table:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    lines.insert(len(lines) - len(table), "")
    return "\n".join(lines)
