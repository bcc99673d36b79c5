"""Models of released versions predict in this version as they did."""

import warnings

import joblib
import numpy as np
import pytest
from fitted_models import predictions
from saved_models import FOLDER, save
from sklearn.exceptions import InconsistentVersionWarning

from sklrank.linear_model import PredtronClassifier
from sklrank.online_boosting import AdaOLMR


def check_saved_models(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        records = joblib.load(path)
    for name, record in records.items():
        found = predictions(record["model"], record["X"])
        assert found.keys() == record["predictions"].keys()
        for method, expected in record["predictions"].items():
            np.testing.assert_allclose(found[method], expected, 1e-7, 1e-9, err_msg=name)
    return records


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.joblib")), ids=lambda path: path.stem)
def test_models_of_released_versions_predict_as_before(path):
    assert check_saved_models(path)


def test_saved_models_hold_what_the_check_compares(tmp_path):
    save([AdaOLMR(), PredtronClassifier()], tmp_path / "models" / "now.joblib")
    records = check_saved_models(tmp_path / "models" / "now.joblib")
    assert [type(record["model"]) for record in records.values()] == [AdaOLMR, PredtronClassifier]
    records["AdaOLMR()"]["predictions"]["decision_function"] += 1
    joblib.dump(records, tmp_path / "changed.joblib")
    with pytest.raises(AssertionError, match="AdaOLMR"):
        check_saved_models(tmp_path / "changed.joblib")
