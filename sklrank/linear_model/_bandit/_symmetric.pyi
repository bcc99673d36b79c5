# Offers C functions only, see _symmetric.pxd.
