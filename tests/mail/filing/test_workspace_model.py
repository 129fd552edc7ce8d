"""Filing with a workspace in place of a model file: the same moves, and everything is an event."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tagalong
from tagalong import filing
from tagalong.filing import default_model
from tagalong.journal import Workspace, WorkspaceView
from tagalong.mail.filing import maildir
from tests.mail.filing.maildirs import EACH, TOPICS, Mail, file_mail, text_about


def workspace_of(mail: Mail) -> Path:
    return mail.root.with_name("workspace")


def file_in_workspace(mail: Mail, **options: Any) -> filing.FilingResult:
    given = {"apply": True, "workspace": workspace_of(mail), **options}
    return file_mail(mail.root, **given)


def view(mail: Mail) -> WorkspaceView:
    return WorkspaceView(workspace_of(mail))


@pytest.fixture
def pair(new_mail: Callable[..., Mail]) -> tuple[Mail, Mail]:
    """Two Maildirs with the same messages."""
    return new_mail("first"), new_mail("second")


@pytest.fixture
def new_mail(tmp_path: Path) -> Callable[..., Mail]:
    def make(name: str) -> Mail:
        (tmp_path / name).mkdir()
        mail = Mail(tmp_path / name / "Mail")
        mail.fill(EACH)
        return mail

    return make


def act(mail: Mail) -> None:
    """Move messages as their owner does, between two runs."""
    mail.move(min(mail.contents()["Bank"]), "Travel")
    mail.deliver("Bank", text_about("Bank", 901), "S")
    for number in range(3):
        mail.deliver("", text_about("Travel", 1000 + number))


def test_the_same_moves_and_the_same_model(pair: tuple[Mail, Mail]) -> None:
    by_file, into = pair
    for mail in pair:
        for number in range(3):
            mail.deliver("", text_about("Bank", 800 + number))
    first = file_mail(by_file.root, apply=True)
    second = file_in_workspace(into)
    assert (first.learnt, first.moved) == (second.learnt, second.moved) == (3 * EACH, 3)
    saved = tagalong.load(default_model(by_file.root))
    with Workspace(workspace_of(into)) as workspace:
        assert workspace.model().hash == tagalong.model_hash(saved)
        assert workspace.item_counts() == {"answered": 3 * EACH, "filed": 3}
    for mail in pair:
        act(mail)
    first, second = file_mail(by_file.root, apply=True), file_in_workspace(into)
    assert (first.corrected, first.learnt, first.moved) == (1, 1, 3)
    assert (second.corrected, second.learnt, second.moved) == (1, 1, 3)
    with Workspace(workspace_of(into)) as workspace:
        saved = tagalong.load(default_model(by_file.root))
        assert workspace.model().hash == tagalong.model_hash(saved)


def test_a_message_that_the_owner_moves_on_and_one_put_back(new_mail: Callable[..., Mail]) -> None:
    mail = new_mail("one")
    keys = [mail.deliver("", text_about("Bank", 800 + number)) for number in range(2)]
    file_in_workspace(mail)
    mail.move(keys[0], "Travel")
    mail.move(keys[1], "")
    result = file_in_workspace(mail)
    assert (result.corrected, result.rejected) == (1, 1)
    with view(mail) as found:
        answers = [event for event in found.events() if event.kind == "answer"]
        assert [event.labels for event in answers] == [["Travel"], []]
        assert found.item_counts() == {"answered": 3 * EACH + 2}


def test_spot_checks_are_recorded_and_answered(new_mail: Callable[..., Mail]) -> None:
    mail = new_mail("one")
    keys = [mail.deliver("", text_about("Bank", 800 + number)) for number in range(3)]
    result = file_in_workspace(mail, audit=1.0)
    assert result.moved == 0
    with view(mail) as found:
        assert found.item_counts()["asked"] == 3
        assert found.settings.audit == 1.0
    for key in keys:
        mail.move(key, "Bank")
    assert file_in_workspace(mail).answered == 3
    with view(mail) as found:
        assert found.item_counts() == {"answered": 3 * EACH + 3}


def test_a_dry_run_changes_nothing(new_mail: Callable[..., Mail]) -> None:
    mail = new_mail("one")
    mail.deliver("", text_about("Bank", 800))
    result = file_in_workspace(mail, apply=False)
    assert len(result.moves) == 1
    assert not workspace_of(mail).exists()
    file_in_workspace(mail)
    mail.deliver("", text_about("Bank", 801))
    with view(mail) as found:
        before = found.tip
    assert len(file_in_workspace(mail, apply=False).moves) == 1
    with view(mail) as found:
        assert found.tip == before


def test_messages_that_a_killed_run_has_learnt_are_not_learnt_again(
    new_mail: Callable[..., Mail], monkeypatch: pytest.MonkeyPatch
) -> None:
    class PowerCut(BaseException):
        pass

    def cut(*args: object) -> None:
        raise PowerCut

    mail = new_mail("one")
    mail.deliver("", text_about("Bank", 800))
    for owner, name in ((Workspace, "set_document"), (maildir, "move_without_overwriting")):
        with monkeypatch.context() as patched:
            patched.setattr(owner, name, cut)
            with pytest.raises(PowerCut):
                file_in_workspace(mail)
    assert file_in_workspace(mail).moved == 1
    with view(mail) as found:
        assert found.item_counts() == {"answered": 3 * EACH, "filed": 1}
        kinds = Counter(event.kind for event in found.events())
        assert kinds == {"created": 1, "settings": 1, "item": 3 * EACH + 1, "filed": 1}


def test_the_log_is_that_of_the_workspace(new_mail: Callable[..., Mail]) -> None:
    mail = new_mail("one")
    mail.deliver("", text_about("Bank", 800))
    file_in_workspace(mail)
    logged = filing.read_log(mail.root, workspace=workspace_of(mail))
    assert [(each.outcome, each.folder) for each in logged] == [("stayed", "Bank")]


def test_what_was_learnt_can_be_undone(new_mail: Callable[..., Mail]) -> None:
    mail = new_mail("one")
    file_in_workspace(mail)
    with Workspace(workspace_of(mail)) as workspace:
        before = workspace.model().hash
    mail.deliver("Bank", text_about("Travel", 901), "S")
    file_in_workspace(mail)
    with Workspace(workspace_of(mail)) as workspace:
        workspace.undo(workspace.tip)
        assert workspace.model().hash == before


def test_copies_with_other_content_are_learnt_too(new_mail: Callable[..., Mail]) -> None:
    mail = new_mail("one")
    text = text_about("Bank", 901)
    mail.deliver("Bank", text, "S")
    mail.deliver("Bank", text + "a footer of a list\n", "S")
    assert file_in_workspace(mail).learnt == 3 * EACH + 2
    with view(mail) as found:
        assert found.item_counts() == {"answered": 3 * EACH + 2}


def test_renamed_folders_are_renamed_labels(new_mail: Callable[..., Mail]) -> None:
    mail = new_mail("one")
    file_in_workspace(mail)
    mail.path("Bank").rename(mail.path("Money"))
    assert file_in_workspace(mail).renamed == {"Bank": "Money"}
    with view(mail) as found:
        assert set(found.labels) == {"Money", *TOPICS} - {"Bank"}


def test_without_names_no_text_is_stored(new_mail: Callable[..., Mail]) -> None:
    mail = new_mail("one")
    file_in_workspace(mail, names=False)
    stored = b"".join(path.read_bytes() for path in workspace_of(mail).glob("journal.sqlite*"))
    assert b"invoice" not in stored
    with view(mail) as found:
        assert found.settings.content == "features"
    other = new_mail("two")
    file_in_workspace(other)
    with pytest.raises(ValueError, match="stores the text of messages"):
        file_in_workspace(other, names=False)


def test_the_workspace_of_another_mailbox_is_refused(new_mail: Callable[..., Mail]) -> None:
    one, two = new_mail("one"), Mail(Path(new_mail("two").root.parent) / "Empty", first=10_000)
    file_in_workspace(one)
    two.deliver("Bank", text_about("Bank", 1), "S")
    with pytest.raises(ValueError, match=r"another mailbox.*workspace="):
        file_mail(two.root, apply=True, workspace=workspace_of(one))


def test_start_from_a_model(new_mail: Callable[..., Mail]) -> None:
    mail = new_mail("one")
    file_mail(mail.root, apply=True)
    model = default_model(mail.root)
    saved = tagalong.load(model)
    result = file_in_workspace(mail, start_from=model)
    assert result.learnt_before == saved.certificate_.rounds
    with pytest.raises(ValueError, match="exists already, and start_from= is for the first run"):
        file_in_workspace(mail, start_from=model)


def test_a_model_and_a_workspace_exclude_each_other(new_mail: Callable[..., Mail]) -> None:
    mail = new_mail("one")
    with pytest.raises(ValueError, match="exclude each other"):
        file_in_workspace(mail, model=mail.root / "m.tagalong")
