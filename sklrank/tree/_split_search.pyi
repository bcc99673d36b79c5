# Offers C functions only, see _split_search.pxd.
