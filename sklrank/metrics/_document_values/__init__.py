"""Values of ranked documents by query: gains, discounts, places, and the metrics made of them.

The names below are what other rooms may take.
"""

from sklrank.metrics._document_values.values import (
    NoRelevantDocumentError,
    average_precision_of_queries,
    factors_of,
    metric_options,
    ndcg_of_queries,
)
