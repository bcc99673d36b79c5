"""Axes of arrays whose entries are labels, and copies of models that have other labels."""

import numpy as np


class LabelAxis:
    """Size of an axis of labels, with `before` and `after` other entries around them."""

    def __init__(self, before=0, after=0):
        self.before, self.after = before, after

    def relabeled(self, array, axis, labels, new):
        """Return a copy with the old labels `labels` along the axis, where -1 are new ones."""
        n_entries = array.shape[axis]
        one = (*array.shape[:axis], 1, *array.shape[axis + 1 :])
        padded = np.concatenate([array, np.broadcast_to(new, one).astype(array.dtype)], axis)
        others = np.arange(n_entries)
        places = np.concatenate(
            [
                others[: self.before],
                np.where(labels < 0, n_entries, labels + self.before),
                others[n_entries - self.after :],
            ]
        )
        return padded.take(places, axis)


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
