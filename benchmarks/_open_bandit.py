"""The logs of the Open Bandit data in the wheel of version 0.4.1 of the Open Bandit Pipeline.

Saito, Aihara, Matsutani and Narita, "Open Bandit Dataset and Pipeline", NeurIPS 2021. The wheel has
six logs of 10,000 rows: campaigns "all", "men" and "women" under uniformly random choice and under
Bernoulli Thompson sampling. Its rows are read from the wheel and never copied.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd

from sklrank.feedback import Exploration

WHEEL = "obp-0.4.1-py3-none-any.whl"
N_POSITIONS = 3


def find_wheel():
    """Return the path of the wheel: that of the variable OBP_WHEEL, or a download."""
    if "OBP_WHEEL" in os.environ:
        return Path(os.environ["OBP_WHEEL"])
    folder = Path(tempfile.gettempdir()) / "sklrank-open-bandit"
    if not (folder / WHEEL).exists():
        command = [sys.executable, "-m", "pip", "download", "obp==0.4.1", "--no-deps", "--quiet"]
        subprocess.run([*command, "--dest", str(folder)], check=True)
    return folder / WHEEL


def read_log(wheel, policy, campaign):
    """Return the record of the items shown, the clicks, and the positions, counted from 0."""
    columns = ["item_id", "position", "click", "propensity_score"]
    with (
        ZipFile(wheel) as files,
        files.open(f"obp/dataset/obd/{policy}/{campaign}/{campaign}.csv") as file,
    ):
        log = pd.read_csv(file, usecols=columns)
    record = Exploration(log["item_id"].to_numpy(), log["propensity_score"].to_numpy())
    return record, log["click"].to_numpy(), np.unique(log["position"], return_inverse=True)[1]


def thompson_sampling(wheel, campaign, n_draws=100_000, random_state=12345):
    """Return the probability of each item at each position, from draws of the posterior."""
    with ZipFile(wheel) as files:
        text = files.read("obp/policy/conf/prior_bts.yaml").decode()
    of_campaign = re.split(r"^(\w+):\n", text, flags=re.MULTILINE)
    text = of_campaign[of_campaign.index(campaign) + 1]
    alpha, beta = (
        np.array(re.findall(r"- ([\d.]+)", part), dtype=float) for part in text.split("beta:")
    )
    draws = np.random.RandomState(random_state).beta(alpha, beta, size=(n_draws, len(alpha)))
    best = np.argsort(draws, axis=1)[:, ::-1][:, :N_POSITIONS]
    counts = [np.bincount(best[:, j], minlength=len(alpha)) for j in range(N_POSITIONS)]
    return np.array(counts) / n_draws
