from typing import Any

class Rows:
    n_rows: int
    n_features: int
    def __init__(self, X: Any, constant: float) -> None: ...
