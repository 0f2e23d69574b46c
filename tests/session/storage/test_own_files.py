"""Files of our own under names that anybody can foresee: no link is followed, nothing else is emptied."""

import pytest

from wikitopics.crawler.errors import CrawlerError
from wikitopics.crawler.http.limits import limits_for
from wikitopics.crawler.http.pace import Clock, SharedPace
from wikitopics.session.control.launch import start_trainer
from wikitopics.session.errors import SessionError
from wikitopics.session.paths import log_file
from wikitopics.session.version import __version__


@pytest.fixture
def precious(tmp_path):
    """A file of the user's that must stay as it is."""
    file = tmp_path / "precious"
    file.write_text("years of work\n")
    yield file
    assert file.read_text() == "years of work\n"
    assert file.stat().st_mode & 0o777 != 0o600


def test_the_log_of_the_screens_trainer(tmp_path, precious):
    path = tmp_path / "s.db"
    log_file(path).symlink_to(precious)
    with pytest.raises(SessionError, match="symbolic link"):
        start_trainer(path, ["--version"])


def test_a_log_is_emptied_for_a_new_trainer_only_where_nobody_writes_to_it(tmp_path):
    path = tmp_path / "s.db"
    log_file(path).write_text("of an earlier run\n")
    first = start_trainer(path, ["demo", "--headless", "--session", str(path)])
    try:
        second = start_trainer(path, ["--version"])
        assert second.wait() == 0
        start_trainer(path, ["--nonsense"]).wait()
        told = log_file(path).read_text()
        assert "of an earlier run" not in told
        assert f"wikitopics {__version__}\n" in told
        assert "--nonsense" in told
    finally:
        first.terminate()
        first.wait()


def test_the_log_of_train(cli, corpus, precious, tmp_path, one_line):
    log = tmp_path / "night.log"
    log.symlink_to(precious)
    one_line(cli("train", *corpus.options(), "--log", log), 1, "symbolic link")


async def test_the_shared_budget(tmp_path, precious):
    (tmp_path / "wikimedia.lock").symlink_to(precious)
    pace = SharedPace(limits_for("en.wikipedia.org", None), Clock(), tmp_path)
    with pytest.raises(CrawlerError, match="symbolic link"):
        async with pace.turn(lambda *_: None):
            pass
