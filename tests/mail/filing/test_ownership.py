"""A model belongs to one Maildir: others are refused, and the Maildir may move."""

import shutil
from pathlib import Path

import pytest

from tagalong import M3LClassifier, ModelFileError, Tagger, load
from tagalong.filing import default_model
from tests.mail.filing.maildirs import (
    EACH,
    TOPICS,
    Mail,
    file_mail,
    fingerprint,
    item_about,
    text_about,
)

ALL = EACH * len(TOPICS)


def learnt_model(path: Path) -> Path:
    """Save a model as `tagalong learn` makes it."""
    tagger = Tagger()
    for number in range(EACH):
        for topic in TOPICS:
            tagger.learn(item_about(topic, 9000 + number), [topic])
    tagger.notes["other"] = "kept"
    tagger.save(path)
    return path


def other_maildir(tmp_path: Path) -> Mail:
    """Return a Maildir whose messages have other file names."""
    mail = Mail(tmp_path / "Other", first=5000)
    mail.fill(20)
    return mail


def test_a_model_that_filing_did_not_make_is_refused(one: Mail, tmp_path: Path) -> None:
    path = learnt_model(tmp_path / "own.tagalong")
    contents, before = path.read_bytes(), fingerprint(one.root)
    for apply in (False, True):
        with pytest.raises(ModelFileError) as caught:
            file_mail(one.root, apply=apply, model=path)
        assert "own.tagalong: this model was not made by 'tagalong file'" in str(caught.value)
        assert f"start_from='{path}'" in str(caught.value)
    assert (path.read_bytes(), fingerprint(one.root)) == (contents, before)


def test_a_new_model_may_start_from_another(tmp_path: Path) -> None:
    path = learnt_model(tmp_path / "own.tagalong")
    contents = path.read_bytes()
    mail = Mail(tmp_path / "Mail")
    for topic in TOPICS:
        mail.folder(topic)
    mail.deliver("", text_about("Bank", 1000))
    assert len(file_mail(mail.root, start_from=path, min_precision=0.5).moves) == 1
    assert not default_model(mail.root).exists()
    result = file_mail(mail.root, apply=True, start_from=path, min_precision=0.5)
    assert (result.learnt, result.moved) == (0, 1)
    assert path.read_bytes() == contents
    assert load(result.model).notes["other"] == "kept"
    mail.deliver("", text_about("Travel", 1000))
    assert file_mail(mail.root, apply=True, min_precision=0.5).moved == 1


def test_a_model_is_started_once(one: Mail, tmp_path: Path) -> None:
    path = learnt_model(tmp_path / "own.tagalong")
    assert file_mail(one.root, apply=True, start_from=path).learnt == ALL
    for source in (path, default_model(one.root)):
        with pytest.raises(ValueError, match=r"model\.tagalong: this model exists already"):
            file_mail(one.root, apply=True, start_from=source)
    assert file_mail(one.root, apply=True).learnt == 0


def test_errors_of_the_first_model(one: Mail, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        file_mail(one.root, apply=True, start_from=tmp_path / "nowhere")
    assert not default_model(one.root).exists()
    batch = M3LClassifier().fit([[1.0, 0.0], [0.0, 1.0]], [["Bank"], ["Travel"]])
    Tagger(batch).save(tmp_path / "batch.tagalong")
    with pytest.raises(ModelFileError, match="batch learner M3LClassifier, which cannot learn"):
        file_mail(one.root, apply=True, start_from=tmp_path / "batch.tagalong")
    path = learnt_model(tmp_path / "own.tagalong")
    with pytest.raises(ValueError, match="this model stores words of the mail"):
        file_mail(one.root, apply=True, start_from=path, names=False)


def test_the_model_of_another_maildir_is_refused(one: Mail, tmp_path: Path) -> None:
    other = other_maildir(tmp_path)
    model = file_mail(other.root, apply=True).model
    contents = model.read_bytes()
    with pytest.raises(ModelFileError, match="made for another mailbox: of its 60 messages, 0 are"):
        file_mail(one.root, apply=True, model=model)
    assert model.read_bytes() == contents
    # Some messages that were taken along do not make it the same mailbox.
    for key in sorted(other.contents()["Bank"])[:5]:
        shutil.copy(other.file("Bank", key), one.path("Bank") / "cur")
    with pytest.raises(ModelFileError, match="of its 60 messages, 5 are here"):
        file_mail(one.root, apply=True, model=model)
    result = file_mail(one.root, apply=True, start_from=model)
    assert result.learnt == ALL + 5
    assert file_mail(other.root, apply=True).learnt == 0, "the other model is as it was"


def test_a_moved_maildir_keeps_its_model(one: Mail, tmp_path: Path) -> None:
    key = one.deliver("", text_about("Bank", 1000))
    file_mail(one.root, apply=True)
    one.root.rename(tmp_path / "Moved")
    moved = Mail(tmp_path / "Moved", first=7000)
    moved.move(key, "")
    result = file_mail(moved.root, apply=True)
    assert (result.learnt, result.rejected) == (0, 1)
    # It has moved for good: the new location is the home now.
    for label in ("Bank", "Travel", "Work/Code"):
        for name in moved.contents()[label]:
            moved.delete(name)
    assert file_mail(moved.root, apply=True).learnt == 0


def test_a_maildir_whose_files_were_all_renamed_keeps_its_model(one: Mail) -> None:
    """Synchronising anew gives every message a new file name."""
    file_mail(one.root, apply=True)
    for keys in one.contents().values():
        for key in keys:
            where = one.where(key)
            assert where is not None
            one.move(key, where, new_name=True)
    assert file_mail(one.root, apply=True).learnt == 0


def test_a_model_of_an_empty_maildir_has_no_other_owner(tmp_path: Path) -> None:
    empty = Mail(tmp_path / "Empty")
    empty.folder("Bank")
    file_mail(empty.root, apply=True)
    empty.root.rename(tmp_path / "Renamed")
    mail = Mail(tmp_path / "Renamed")
    mail.deliver("Bank", text_about("Bank", 1), "S")
    assert file_mail(mail.root, apply=True).learnt == 1
