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
        places = np.concatenate([np.r_[: self.before], places, np.r_[n - self.after : n]])
        copy = array.take(np.maximum(places, 0), axis)
        np.moveaxis(copy, axis, 0)[places < 0] = np.moveaxis(np.broadcast_to(new, shape), axis, 0)
        return copy

    def __repr__(self):
        return "labels"


LABELS = LabelAxis()


class Relabeling(dict):
    """Memo of a deep copy whose labels are those of the original `labels`, or new ones (-1)."""

    def __init__(self, labels):
        self.labels = labels
