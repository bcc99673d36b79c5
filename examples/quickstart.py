"""Rank the labels of a stream of samples: a first look, on data that come with scikit-learn.

The samples are images of digits; the labels are seven properties that a digit may have. Each model
scores the labels of a sample, then sees which of them are relevant and learns from the sample. The
table shows the mean rank loss, the fraction of label pairs (relevant, irrelevant) in the wrong
order. Random scores have a loss of 0.5.

Run:  python examples/quickstart.py [--plot FILE]
"""

import argparse
import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.multioutput import MultiOutputClassifier

from sklrank.model_selection import ProgressiveValidationDisplay, progressive_val_score
from sklrank.online_boosting import AdaOLMR, OnlineBMR

PROPERTIES = {
    "even": {0, 2, 4, 6, 8},
    "prime": {2, 3, 5, 7},
    "above four": {5, 6, 7, 8, 9},
    "a square": {0, 1, 4, 9},
    "has a loop": {0, 6, 8, 9},
    "drawn straight": {1, 4, 7},
    "looks the same upside down": {0, 1, 8},
}

MODELS = {
    "scikit-learn: SGD per label": MultiOutputClassifier(
        SGDClassifier(loss="log_loss", random_state=0)
    ),
    "OnlineBMR, 100 trees": OnlineBMR("trees", edge=0.05, random_state=0),
    "AdaOLMR, 100 trees": AdaOLMR("trees", random_state=0),
    "AdaOLMR": AdaOLMR(random_state=0),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE", help="draw the mean loss by sample")
    arguments = parser.parse_args()

    X, digits = load_digits(return_X_y=True)
    Y = np.column_stack([np.isin(digits, list(having)) for having in PROPERTIES.values()])
    Y = Y.astype(int)
    print(f"{len(X)} samples, {X.shape[1]} features, {Y.shape[1]} labels\n")
    print(f"{'model':<34}{'mean rank loss':>16}{'last 500':>16}{'CPU seconds':>14}")
    losses = {}
    for name, model in MODELS.items():
        multi_output = isinstance(model, MultiOutputClassifier)
        start = time.process_time()
        losses[name] = loss = progressive_val_score(
            model,
            X / 16 if multi_output else X,  # SGD needs scaled features
            Y,
            classes=[[0, 1]] * Y.shape[1] if multi_output else None,
        )
        seconds = time.process_time() - start
        print(f"{name:<34}{loss.mean():>16.4f}{loss[-500:].mean():>16.4f}{seconds:>14.2f}")

    # Fit on all but the last samples, and show the best three labels of these.
    model = MODELS["AdaOLMR"].fit(X[:-3], Y[:-3])
    names = np.array(list(PROPERTIES))
    print()
    for digit, top in zip(digits[-3:], names[model.predict_topk(X[-3:], k=3)]):
        print(f"best labels of an image of {digit}: {', '.join(top)}")

    if arguments.plot:
        display = ProgressiveValidationDisplay(losses=losses, scoring_name="rank loss")
        display.plot()
        display.ax_.set_ylim(0, 0.3)
        display.ax_.set_title("Ranking the properties of a digit")
        display.figure_.savefig(arguments.plot, dpi=120, bbox_inches="tight")
        print(f"\nThe mean loss is drawn in {arguments.plot}")


if __name__ == "__main__":
    main()
