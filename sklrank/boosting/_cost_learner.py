"""Weak learners that see what each class of each row costs, not only which one is the best.

A row whose second best class is almost as good as its best one, and a row whose second best is bad,
have the same label and weight. A regression of the gains of all classes tells them apart.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier

from sklrank._randomness import set_random_states
from sklrank.boosting._weak_learners import hypothesis_of

__all__ = ["CheapestClass", "CostLearner"]


class CheapestClass(ClassifierMixin, BaseEstimator):
    """The class whose gain a regressor predicts to be largest.

    Parameters
    ----------
    regressor : regressor
        Fitted to gains of shape (n_samples, n_classes).
    """

    def __init__(self, regressor):
        self.regressor = regressor

    def predict(self, X):
        return self.regressor.predict(X).argmax(axis=1)

    @property
    def feature_importances_(self):
        return self.regressor.feature_importances_


class CostLearner:
    """Any scikit-learn regressor of several outputs, on all rows, whatever they weigh.

    The mean of the gains in a leaf of a tree is largest for the class that is cheapest for its
    rows together.

    Parameters
    ----------
    estimator : regressor
        Cloned for each round.
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The training rows.
    n_classes : int
        Number of classes of the hypothesis.
    """

    n_tries = 1

    def __init__(self, estimator, X, *, n_classes):
        if is_classifier(estimator):
            raise ValueError(
                f"weighting='cost' needs a regressor that learns the gains of all classes; got "
                f"the classifier {estimator!r}. Use a regressor, or weighting='auto'"
            )
        self.estimator = estimator
        self.X = X
        self.n_classes = n_classes

    def learn(self, objective, random_state):
        """Train a clone on the costs of the objective."""
        regressor = clone(self.estimator)
        set_random_states(regressor, random_state)
        # Costs grow and shrink by powers of ten between the rounds; regressors that penalise, or
        # that stop at a tolerance, are not to notice.
        regressor.fit(self.X, objective.costs / -np.abs(objective.costs).max())
        model = CheapestClass(regressor)
        return model, hypothesis_of(model, self.X, self.n_classes)
