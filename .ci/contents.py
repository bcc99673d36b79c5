"""Check that an sdist and a wheel contain the needed files and no unwanted ones."""

import re
import sys
import tarfile
import zipfile

NEEDED = {
    "sdist": [
        r"pyproject.toml", r"setup.py", r"setup.cfg", r"README.md", r"LICENSE", r"CHANGELOG.md",
        r"CITATION.cff", r"CODE_OF_CONDUCT.md", r"SECURITY.md",
        r"sklrank/online_boosting/_rounds.pyx", r"sklrank/online_boosting/_costs.pxd",
        r"sklrank/py.typed", r"tests/conftest.py", r"examples/quickstart.py",
        r"benchmarks/hoeffding.py", r"docs/conf.py", r"docs/_templates/autosummary/class.rst",
    ],
    "wheel": [
        r"sklrank/py.typed", r"sklrank/online_boosting/_rounds\..*\.(so|pyd)",
        r"sklrank/_cyutility\..*\.(so|pyd)", r"sklrank/_online/learner.pxd",
        r".*/licenses/LICENSE",
    ],
}  # fmt: skip
UNWANTED = {
    "sdist": r".*\.(c|so|pyd|npz|png)$|docs/(auto_examples|generated)/.*|.*__pycache__.*",
    "wheel": r".*\.(c|pyx|npz|png)$|(tests|examples|benchmarks|docs)/.*|.*__pycache__.*",
}


def main():
    for path in sys.argv[1:]:
        if path.endswith(".whl"):
            kind, names = "wheel", zipfile.ZipFile(path).namelist()
        else:
            kind, names = "sdist", [n.partition("/")[2] for n in tarfile.open(path).getnames()]
        missing = [p for p in NEEDED[kind] if not any(re.fullmatch(p, name) for name in names)]
        unwanted = [name for name in names if re.fullmatch(UNWANTED[kind], name)]
        if missing or unwanted:
            sys.exit(f"{path}: missing {missing}, unwanted {unwanted}")
        print(f"{kind}: {len(names)} files, all needed ones and no unwanted one")


if __name__ == "__main__":
    main()
