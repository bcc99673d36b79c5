MOST_STATES: float

class Assigner:
    def __init__(self, most_items: int, most_states: float = ...) -> None: ...
