"""Workspaces in PostgreSQL in place of folders, for the tests of ``tests/journal``."""

from collections.abc import Iterator

import pytest

from tagalong.journal import Workspace
from tests.journal.examples import new_workspace

ABOUT_FILES = {
    "test_a_file_that_is_no_text_is_refused",
    "test_a_model_with_words_of_its_own_keeps_them",
    "test_a_refused_request_leaves_the_others_of_its_commit",
    "test_a_snapshot_of_the_old_history_is_used_again",
    "test_a_view_is_one_state_while_another_process_writes",
    "test_a_view_of_a_closed_workspace_changes_nothing",
    "test_a_view_of_what_a_crash_left",
    "test_a_wrong_file_is_refused_by_name",
    "test_all_items_of_an_id_are_forgotten",
    "test_an_item_on_its_way_while_the_setting_changes",
    "test_an_undone_item_is_forgotten_too",
    "test_features_that_depend_on_what_was_learnt_are_refused",
    "test_filing_again_with_the_same_key",
    "test_labels_of_an_event_that_was_refused_are_not_known",
    "test_large_models_have_no_copy",
    "test_many_threads_give_the_state_of_one_order",
    "test_models_that_cannot_learn_items_are_refused",
    "test_no_more_is_filed_than_a_day_allows",
    "test_no_snapshot_of_the_old_model_is_made",
    "test_no_word_of_an_item_is_in_any_file",
    "test_nothing_remains_after_a_rebuild_that_read_the_log",
    "test_nothing_remains_if_a_reader_holds_the_log",
    "test_nothing_remains_in_the_files",
    "test_operation_settings_are_read",
    "test_operation_settings_have_defaults",
    "test_requests_that_wait_share_one_commit",
    "test_snapshots_that_have_learnt_the_item_are_gone",
    "test_the_file_limits_snapshots",
    "test_the_key_of_forgetting_does_not_name_the_item",
    "test_the_setting_can_change_at_any_time",
    "test_the_test_finds_what_is_there",
    "test_values_that_decide_learning_must_agree",
    "test_without_a_file_the_defaults_hold",
    "test_wrong_operation_settings",
    "test_wrong_settings_are_refused",
}
"""Tests that look at the files of a folder, or watch SQLite at work."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if getattr(item, "originalname", item.name) in ABOUT_FILES:
            item.add_marker(pytest.mark.skip(reason="about files, or about SQLite"))


@pytest.fixture
def folder(postgres_url: str):
    """A new place for a workspace, with other places beside it."""
    from tagalong.journal.postgres import PostgresStorage

    class TestStorage(PostgresStorage):
        def with_name(self, name: str) -> "TestStorage":
            return TestStorage(postgres_url, name)

    return TestStorage(postgres_url, "test")


@pytest.fixture
def workspace(folder) -> Iterator[Workspace]:
    """A new workspace with one learner."""
    with new_workspace(folder) as workspace:
        yield workspace
