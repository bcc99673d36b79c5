"""Trees grown leaf by leaf from histograms of binned features.

The names below are what other rooms may take.
"""

from sklrank.tree._histogram.bin_codes import BLOCK_WIDTH
from sklrank.tree._histogram.binning import FeatureBlocks, distinct_values, draw_samples
from sklrank.tree._histogram.trees import HistogramTreeRegressor, encode_categories
