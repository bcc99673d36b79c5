"""The Plackett-Luce model: the ranker, its likelihood, and inference about its estimates."""
