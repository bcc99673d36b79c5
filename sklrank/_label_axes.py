"""Axes of arrays whose entries are labels, and copies of models that have other labels."""

import numpy as np


class LabelAxis:
    """Size of an axis of labels, with `before` and `after` other entries around them."""

    def __init__(self, before=0, after=0):
        self.before, self.after = before, after

    def relabeled(self, array, axis, labels, new):
        """Return a copy with the old labels `labels` along the axis, where -1 are new ones."""
        n, shape = array.shape[axis], list(array.shape)
        shape[axis] = 1
        places = np.where(labels < 0, -1, labels + self.before)
        places = np.array([*range(self.before), *places, *range(n - self.after, n)])
        copy = array.take(np.maximum(places, 0), axis)
        np.moveaxis(copy, axis, 0)[places < 0] = np.moveaxis(np.broadcast_to(new, shape), axis, 0)
        return copy

    def __repr__(self):
        return "labels"


LABELS = LabelAxis()


class Relabeling(dict):
    """Memo of a deep copy that has other labels.

    Parameters
    ----------
    labels : ndarray of shape (n_labels,), dtype intp
        For each label of the copy, the label of the original, or -1 if it is new.
    """

    def __init__(self, labels):
        self.labels = labels
