"""Rank labels row by row: a first look, on data that come with scikit-learn.

The rows are scanned digits, the labels seven things that may be said of a digit. Each model scores
the labels of a row before it is shown which of them are true, then learns from the row. The table
shows the mean rank loss: the share of label pairs (true, untrue) in the wrong order. Chance is 0.5.

Run:  python examples/quickstart.py [--plot FILE]
"""

import argparse
import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.multioutput import MultiOutputClassifier

from sklrank.model_selection import ProgressiveValidationDisplay, progressive_val_score
from sklrank.online_boosting import AdaOLMR, OnlineBMR, recommended_learners

SAID_OF_DIGITS = {
    "even": {0, 2, 4, 6, 8},
    "prime": {2, 3, 5, 7},
    "above four": {5, 6, 7, 8, 9},
    "a square": {0, 1, 4, 9},
    "has a loop": {0, 6, 8, 9},
    "drawn straight": {1, 4, 7},
    "looks the same upside down": {0, 1, 8},
}

MODELS = {
    "scikit-learn: SGD for each label": MultiOutputClassifier(
        SGDClassifier(loss="log_loss", random_state=0)
    ),
    "OnlineBMR, 100 trees": OnlineBMR(edge=0.05, random_state=0),
    "AdaOLMR, 100 trees": AdaOLMR(random_state=0),
    "AdaOLMR, recommended learners": AdaOLMR(
        recommended_learners(), n_estimators=22, max_features=None, random_state=0
    ),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE", help="draw the mean loss so far")
    arguments = parser.parse_args()

    X, digits = load_digits(return_X_y=True)
    Y = np.column_stack([np.isin(digits, list(said)) for said in SAID_OF_DIGITS.values()])
    Y = Y.astype(int)
    print(f"{len(X)} rows, {X.shape[1]} features, {Y.shape[1]} labels\n")
    print(f"{'model':<34}{'mean rank loss':>16}{'last 500 rows':>16}{'CPU seconds':>14}")
    losses = {}
    for name, model in MODELS.items():
        multi_output = isinstance(model, MultiOutputClassifier)
        start = time.process_time()
        losses[name] = loss = progressive_val_score(
            model,
            X / 16 if multi_output else X,  # SGD wants scaled features, the boosters do without
            Y,
            classes=[[0, 1]] * Y.shape[1] if multi_output else None,
        )
        seconds = time.process_time() - start
        print(f"{name:<34}{loss.mean():>16.4f}{loss[-500:].mean():>16.4f}{seconds:>14.2f}")

    # Train on all but the last rows, and say what the model makes of those.
    model = MODELS["AdaOLMR, recommended learners"].fit(X[:-3], Y[:-3])
    names = np.array(list(SAID_OF_DIGITS))
    print()
    for digit, top in zip(digits[-3:], names[model.predict_topk(X[-3:], k=3)]):
        print(f"said of an image of {digit}: {', '.join(top)}")

    if arguments.plot:
        display = ProgressiveValidationDisplay(losses=losses, scoring_name="rank loss")
        display.plot()
        display.ax_.set_ylim(0, 0.3)
        display.ax_.set_title("Ranking what may be said of a digit")
        display.figure_.savefig(arguments.plot, dpi=120, bbox_inches="tight")
        print(f"\nThe mean loss so far is drawn in {arguments.plot}")


if __name__ == "__main__":
    main()
