import numpy as np
from numpy.typing import NDArray

class OnlineLearner:
    n_features: int
    n_classes: int
    def predict_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def play_rows(
        self,
        X: NDArray[np.float64],
        indptr: NDArray[np.intp],
        labels: NDArray[np.intp],
        weights: NDArray[np.float64],
        votes: NDArray[np.float64] | None = None,
    ) -> None: ...

def check_lists(
    indptr: NDArray[np.intp], labels: NDArray[np.intp], n_samples: int, n_classes: int
) -> None: ...
