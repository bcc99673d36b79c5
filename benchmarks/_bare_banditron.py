"""Banditron (Kakade et al. 2008) as a bare loop without checks, in NumPy and in C.

Each function makes one pass over samples `X` and class indices `y`, and returns the share of rounds
in which the class shown was wrong.
"""

import ctypes
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.ctypeslib import ndpointer

__all__ = ["compiled", "play_plain", "play_tuned"]

EXPLORATION = 0.1
SOURCE = r"""
#include <stdint.h>

static double draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (*state >> 11) * 0x1p-53;
}

long play(const double *X, const long *y, long n_rows, long n_features, long n_classes,
          double exploration, double *weights)
{
    uint64_t state = 88172645463325252u;
    long wrong = 0;
    for (long i = 0; i < n_rows; i++) {
        const double *x = X + i * n_features;
        double largest = 0.0;
        long best = 0;
        for (long k = 0; k < n_classes; k++) {
            const double *w = weights + k * n_features;
            double score = 0.0;
            for (long j = 0; j < n_features; j++)
                score += w[j] * x[j];
            if (k == 0 || score > largest) {
                largest = score;
                best = k;
            }
        }
        long shown = best;
        if (draw(&state) < exploration)
            shown = (long)(draw(&state) * n_classes);
        for (long j = 0; j < n_features; j++)
            weights[best * n_features + j] -= x[j];
        if (shown == y[i]) {
            double p = exploration / n_classes + (shown == best ? 1.0 - exploration : 0.0);
            for (long j = 0; j < n_features; j++)
                weights[shown * n_features + j] += x[j] / p;
        } else {
            wrong++;
        }
    }
    return wrong;
}
"""


def play_plain(X, y, n_classes):
    """Play rounds in straightforward NumPy."""
    random, weights = np.random.default_rng(0), np.zeros((n_classes, X.shape[1]))
    wrong = 0
    for x, label in zip(X, y):
        best = np.argmax(weights @ x)
        shown = random.integers(n_classes) if random.random() < EXPLORATION else best
        weights[best] -= x
        if shown == label:
            p = EXPLORATION / n_classes + (1 - EXPLORATION) * (shown == best)
            weights[shown] += x / p
        else:
            wrong += 1
    return wrong / len(X)


def play_tuned(X, y, n_classes):
    """Play rounds in NumPy with all draws and conversions to Python numbers before the loop."""
    random, weights = np.random.default_rng(0), np.zeros((n_classes, X.shape[1]))
    wrong, draws = 0, random.random(len(X))
    classes = random.integers(n_classes, size=len(X))
    for x, label, draw, drawn in zip(X, y.tolist(), draws.tolist(), classes.tolist()):
        best = int((weights @ x).argmax())
        shown = drawn if draw < EXPLORATION else best
        weights[best] -= x
        if shown == label:
            p = EXPLORATION / n_classes + (1 - EXPLORATION) * (shown == best)
            weights[shown] += x / p
        else:
            wrong += 1
    return wrong / len(X)


def compiled(flags):
    """Return the function in C, or None without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    with TemporaryDirectory() as folder:
        source, library = Path(folder) / "banditron.c", Path(folder) / "banditron.so"
        source.write_text(SOURCE)
        subprocess.run([compiler, *flags, "-shared", "-fPIC", source, "-o", library], check=True)
        loop = ctypes.CDLL(str(library)).play
    array, integer = ndpointer(np.float64, flags="C"), ctypes.c_long
    loop.argtypes = [array, ndpointer(integer), *3 * [integer], ctypes.c_double, array]
    loop.restype = integer

    def play(X, y, n_classes):
        weights = np.zeros((n_classes, X.shape[1]))
        return loop(X, y, *X.shape, n_classes, EXPLORATION, weights) / len(X)

    return play
