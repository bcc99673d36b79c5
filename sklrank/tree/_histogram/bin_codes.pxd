"""Codes of the bins of features, and sets of them."""


cdef enum:
    # Number of features in a block of codes.
    WIDTH = 8
    MAX_BINS = 256
    # Number of words of a set of codes. Bit b of word w is that of the code 32 w + b.
    WORDS = MAX_BINS // 32


cdef inline bint contains(const unsigned int* words, int code) noexcept nogil:
    return words[code >> 5] >> (code & 31) & 1


cdef int check_codes(codes, n_bins) except -1
