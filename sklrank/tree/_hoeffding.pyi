from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sklrank._online_learner import OnlineLearner

CRITERIA: dict[str, int]
LEAF_PREDICTIONS: dict[str, int]
WEIGHT_COUNTS: dict[str, bool]
PARAMETERS: tuple[str, ...]
MAX_SPLIT_POINTS: int
NODE_DTYPE: np.dtype[np.void]

@final
class HoeffdingTree(OnlineLearner):
    params: dict[str, Any]
    n_nodes: int
    n_leaves: int
    n_rows: int
    def __init__(
        self, n_features: int, n_classes: int, columns: NDArray[np.intp], params: dict[str, Any]
    ) -> None: ...
    @property
    def node_table(self) -> NDArray[np.void]: ...
    def leaf_counts(self, leaf: int) -> NDArray[np.float64]: ...
    @property
    def nbytes(self) -> int: ...
