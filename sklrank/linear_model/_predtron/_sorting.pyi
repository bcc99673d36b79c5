import numpy as np
from numpy.typing import NDArray

def make_items(n: int) -> NDArray[np.void]: ...
