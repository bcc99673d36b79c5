"""The compiled modules, one for each `.pyx` file; all other settings are in pyproject.toml."""

from pathlib import Path

from setuptools import Extension, setup

FLAGS = ["-O3", "-g0"]

# Nothing reads errno or the flags of floating point: loops with roots are vectorised without them,
# and no result changes.
ROOTS = ["-fno-math-errno", "-fno-trapping-math"]
# Sums are added up in any order, so that they are vectorised.
SUMS = ["-fno-trapping-math", "-fno-signed-zeros", "-fassociative-math"]

SPECIAL_FLAGS = {
    "sklrank.boosting._ndcg_pairs": SUMS,
    "sklrank.linear_model._bandit._linucb_model": SUMS,
    "sklrank.linear_model._bandit._symmetric": SUMS,
    "sklrank.linear_model._online._feature_map": ROOTS,
    "sklrank.linear_model._online._logistic": ROOTS,
    "sklrank.linear_model._online._ridge": SUMS,
    "sklrank.linear_model._rows": SUMS,
}

# The code that all compiled modules share; Cython writes it (see setup.cfg).
SHARED = "sklrank._cyutility"

# Compiler directives of all modules. (The directives that change the meaning of code are in the
# first line of each file.) No module has state that several threads write without a lock.
DIRECTIVES = {"freethreading_compatible": True}


def extensions():
    """One extension for each `.pyx` file, and the shared one."""
    modules = {
        ".".join(path.with_suffix("").parts): path.as_posix()
        for path in sorted(Path("sklrank").rglob("*.pyx"))
    }
    unknown = SPECIAL_FLAGS.keys() - modules.keys()
    if unknown:
        raise ValueError(f"SPECIAL_FLAGS names modules without a .pyx file: {sorted(unknown)}")
    modules[SHARED] = "sklrank/_cyutility.c"
    extensions = [
        Extension(name, [source], extra_compile_args=FLAGS + SPECIAL_FLAGS.get(name, []))
        for name, source in modules.items()
    ]
    for extension in extensions:
        extension.cython_directives = DIRECTIVES
    return extensions


setup(ext_modules=extensions())
