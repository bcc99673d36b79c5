"""Axes of arrays whose entries are labels, and copies of models that have other labels."""

import numpy as np


class LabelAxis:
    """Size of an axis of labels, with `before` and `after` other entries around them."""

    def __init__(self, before=0, after=0):
        self.before, self.after = before, after

    def relabeled(self, array, axis, labels, new):
        """Return a copy with the old labels `labels` along the axis, where -1 are new ones.

        Labels that are only added, behind the last one of the first axis, are written into memory
        that the array has left for them: to copy the others would make n additions take n^2 time.
        """
        n, shape = array.shape[axis], list(array.shape)
        shape[axis] = 1
        places = np.where(labels < 0, -1, labels + self.before)
        places = np.concatenate([np.r_[: self.before], places, np.r_[n - self.after : n]])
        if axis == 0 and np.array_equal(places, np.r_[:n, np.full(max(len(places) - n, 0), -1)]):
            return extended(array, len(places), new)
        copy = array.take(np.maximum(places, 0), axis)
        np.moveaxis(copy, axis, 0)[places < 0] = np.moveaxis(np.broadcast_to(new, shape), axis, 0)
        return copy

    def __repr__(self):
        return "labels"


class Room(np.ndarray):
    """Memory of an array whose first axis may become longer."""


def extended(array, n_rows, new):
    """Return an array that has new rows behind those of another one, whose memory it shares.

    The other array belongs to a model that the result's model replaces.
    """
    n, room = len(array), array
    while not (room is None or isinstance(room, Room)):
        # The attributes of compiled objects are views of arrays.
        room = room.obj if isinstance(room, memoryview) else getattr(room, "base", None)
    if room is None or len(room) < n_rows or room.shape[1:] != array.shape[1:]:
        room = Room((n_rows + n_rows // 2, *array.shape[1:]), array.dtype)
        room[:n] = array
    room[n:n_rows] = new
    return room.view(np.ndarray)[:n_rows]


LABELS = LabelAxis()


class Relabeling(dict):
    """Memo of a deep copy whose labels are those of the original `labels`, or new ones (-1)."""

    def __init__(self, labels):
        self.labels = labels
