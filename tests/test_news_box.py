"""The service of `examples/news_box.py`, whose processes may be killed at any time."""

import pickle

import news_box
import numpy as np
import pytest

DAYS, N_VISITORS = 2, 60


def rows_of(folder):
    """Return the rows of the log, without the order in which clicks were written."""
    database = news_box.connect(folder)
    shown = database.execute("SELECT * FROM shown ORDER BY day, server, visitor").fetchall()
    clicks = "SELECT day, server, visitor, click FROM clicks ORDER BY day, server, visitor"
    return shown, database.execute(clicks).fetchall()


@pytest.mark.slow
def test_killed_processes_lose_nothing(tmp_path, fingerprint):
    folders = [tmp_path / "whole", tmp_path / "killed"]
    for folder, kill in zip(folders, (False, True)):
        folder.mkdir()
        assert (news_box.run(folder, DAYS, N_VISITORS, kill) > 0) == kill
    whole, killed = map(rows_of, folders)
    assert whole == killed
    assert len(whole[0]) == len(whole[1]) == news_box.N_LAUNCH + DAYS * 3 * N_VISITORS
    mornings = [news_box.load(folder / f"morning-{DAYS + 1}.pkl") for folder in folders]
    assert fingerprint(mornings[0]["model"]) == fingerprint(mornings[1]["model"])
    assert mornings[0]["policy"] == mornings[1]["policy"]
    assert mornings[0]["report"]["difference"] < 0.1  # of click rates
    # The learner has the model of one pass over the clicks in their order, bit for bit.
    database = news_box.connect(folders[1])
    model = news_box.load(folders[1] / "morning-1.pkl")["model"]
    for day in range(1, DAYS + 1):
        query = news_box.REWARDED + " WHERE day = ? ORDER BY id"
        news_box.learn(model, database.execute(query, (day,)).fetchall())
        model = news_box.with_articles(model, day + 1)
    state = news_box.load(folders[1] / "learner.pkl")
    assert fingerprint(state["model"]) == fingerprint(model)


def test_saved_files_are_complete_or_old(tmp_path, monkeypatch):
    file = tmp_path / "model.pkl"
    news_box.save([1], file)

    def killed(thing, file):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(pickle, "dump", killed)
    with pytest.raises(KeyboardInterrupt):
        news_box.save([2], file)
    assert news_box.load(file) == [1]


def test_clicks_arrive_once_and_in_order():
    arrivals = news_box.Arrivals(1, 2)
    arrived = []
    for n in range(50):
        arrived += arrivals.until(n)
        arrivals.add(n)
    arrived += arrivals.until(np.inf)
    assert sorted(arrived) == list(range(50))
    times = [n + news_box.draw_visitor(1, 2, n)[2] for n in arrived]
    assert times == sorted(times)
