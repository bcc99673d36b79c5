"""The build: compiled modules, one for each `.pyx` file.

The metadata and the settings of the tools are in pyproject.toml.
"""

import os
import shutil
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Flags of GCC and Clang. Microsoft's compiler gets none: setuptools passes /O2, and its option
# for sums in any order, /fp:fast, would also drop the checks for NaN.
FLAGS = ["-O3", "-g0"]

# Modules without loops over samples or labels: they check states, wait for other threads, or call
# Python. With -O1 they run as fast, and compile in half of the time.
COLD = {
    "sklrank._compiled.model_lock",
    "sklrank._compiled.state",
    "sklrank._compiled.thread_team",
    "sklrank.feedback._protocol.schedules",
    "sklrank.online_boosting._adapter",
}

# Nothing reads errno or the flags of floating point: loops with roots are vectorized without them,
# and no result changes.
ROOTS = ["-fno-math-errno", "-fno-trapping-math"]
# Sums are added up in any order, so that they are vectorized.
SUMS = ["-fno-trapping-math", "-fno-signed-zeros", "-fassociative-math"]

SPECIAL_FLAGS = {
    "sklrank._compiled.rows": SUMS,
    "sklrank.boosting._ndcg_pairs": SUMS,
    "sklrank.linear_model._bandit._linucb_model": SUMS,
    "sklrank.linear_model._symmetric": SUMS,
    "sklrank.linear_model._regression._feature_map": ROOTS,
    "sklrank.linear_model._regression._logistic": ROOTS,
    "sklrank.linear_model._regression._ridge": SUMS,
    "sklrank.tree._labels.tree": ROOTS,
}

# The code that all compiled modules share; Cython writes it (see setup.cfg).
SHARED = "sklrank._cyutility"

# Most compilers that run at the same time, without --parallel: each of them needs up to 150 MB.
MAX_COMPILERS = 8

# Compiler directives of all modules. (The directives that change the meaning of code are in the
# first line of each file.) No module has state that several threads write without a lock. Only
# classes that define how their state is saved and checked can be pickled.
DIRECTIVES = {"freethreading_compatible": True, "auto_pickle": False}


def extensions():
    """One extension for each `.pyx` file, and the shared one."""
    modules = {
        ".".join(path.with_suffix("").parts): path.as_posix()
        for path in sorted(Path("sklrank").rglob("*.pyx"))
    }
    unknown = {*SPECIAL_FLAGS, *COLD} - modules.keys()
    if unknown:
        raise ValueError(f"There are flags for modules without a .pyx file: {sorted(unknown)}")
    modules[SHARED] = "sklrank/_cyutility.c"
    return [
        Extension(name, [source], extra_compile_args=flags_of(name))
        for name, source in modules.items()
    ]


def flags_of(name):
    # Of several options -O, the last one counts.
    return [*FLAGS, *(["-O1"] if name in COLD else []), *SPECIAL_FLAGS.get(name, [])]


class BuildExtensions(build_ext):
    """Builds the compiled modules, several at the same time, with flags that the compiler knows."""

    # Editable installs look up the options of setup.cfg by this name, or by that of the class.
    command_name = "build_ext"

    def finalize_options(self):
        super().finalize_options()
        if self.parallel is None:
            self.parallel = min(os.cpu_count() or 1, MAX_COMPILERS)

    def build_extensions(self):
        self.check_compiler()
        for extension in self.extensions:
            if self.compiler.compiler_type == "msvc":
                extension.extra_compile_args = []
            else:
                extension.libraries = ["m"]
        self.translate()
        super().build_extensions()

    def check_compiler(self):
        """Stop before the modules are translated if there is no compiler, and say what to do."""
        compiler = getattr(self.compiler, "compiler_so", None)
        if compiler and not shutil.which(compiler[0]):
            raise SystemExit(
                f"sklrank is compiled from source, and there is no C compiler {compiler[0]!r}: "
                "install one (Debian and Ubuntu: apt install gcc; Fedora: dnf install gcc; macOS: "
                "xcode-select --install; Windows: Build Tools for Visual Studio), set CC to "
                "another one, or install a wheel, which needs none."
            )

    def translate(self):
        """Replace the sources of the modules by C code, in several processes.

        pip installs Cython anew for each build. Its files are then newer than the C code, so that
        all modules are translated again. C code that remains the same is not compiled again.
        """
        before = {path: (path.stat(), path.read_bytes()) for path in Path("sklrank").rglob("*.c")}
        translated = cythonize(
            self.extensions,
            nthreads=self.parallel,
            force=self.force,
            quiet=not self.verbose,
            compiler_directives=DIRECTIVES,
            build_dir=self.build_temp if self.cython_c_in_temp else None,
            emit_linenums=bool(self.cython_line_directives),
            gdb_debug=bool(self.cython_gdb),
            use_listing_file=bool(self.cython_create_listing),
            shared_utility_qualified_name=self.shared_utility_qualified_name,
        )
        for path, (status, code) in before.items():
            if path.read_bytes() == code:
                os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        sources = {extension.name: extension.sources for extension in translated}
        for extension in self.extensions:
            extension.sources = sources[extension.name]
        self.shared_utility_qualified_name = None  # it is not translated again


# The processes that translate modules may import this file.
if __name__ == "__main__":
    setup(ext_modules=extensions(), cmdclass={"build_ext": BuildExtensions})
