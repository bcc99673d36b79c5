# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Names and versions of the compilers that built the package, printed by `show_versions`."""

cdef extern from *:
    """
    #define SKLRANK_STRING(x) #x
    #define SKLRANK_VALUE(x) SKLRANK_STRING(x)
    #if defined(__clang__)
    #define SKLRANK_COMPILER "Clang " __clang_version__
    #elif defined(__GNUC__)
    #define SKLRANK_COMPILER "GCC " __VERSION__
    #elif defined(_MSC_VER)
    #define SKLRANK_COMPILER "MSVC " SKLRANK_VALUE(_MSC_FULL_VER)
    #else
    #define SKLRANK_COMPILER "unknown"
    #endif
    """
    const char* SKLRANK_COMPILER
    const int CYTHON_HEX_VERSION

COMPILER = SKLRANK_COMPILER.decode().strip()
CYTHON = ".".join([str(CYTHON_HEX_VERSION >> bits & 255) for bits in (24, 16, 8)])
