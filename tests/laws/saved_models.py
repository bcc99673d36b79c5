"""Models saved by released versions, which later versions must load (see RELEASING.md).

    python tests/laws/saved_models.py VERSION

stores a fitted model of each kind, with its samples and predictions, in `saved_models`.
"""

import sys
from pathlib import Path

import joblib
from fitted_models import fit, predictions

FOLDER = Path(__file__).parent / "saved_models"


def save(estimators, path):
    """Store a fitted model of each estimator, by its `repr`."""
    path.parent.mkdir(exist_ok=True)
    fitted = {repr(estimator): fit(estimator) for estimator in estimators}
    records = {
        name: {"model": model, "X": X, "predictions": predictions(model, X)}
        for name, (model, (X, *_)) in fitted.items()
    }
    joblib.dump(records, path, compress=("xz", 9))


if __name__ == "__main__":
    from test_common import KINDS

    save(KINDS.values(), FOLDER / f"{sys.argv[1]}.joblib")
