"""One flow by mouse and by keyboard: two hands that do the same things."""

from typing import Protocol

import pytest
from playwright.sync_api import Locator, Page, expect

MOST_STEPS = 200
_IS_FOCUSED = "element => element === document.activeElement"


class Hand(Protocol):
    """Uses the elements of a page as a person does."""

    def press(self, element: Locator) -> None:
        """Follow a link, or press a button."""

    def write(self, field: Locator, text: str) -> None:
        """Write a text in place of the one in a field."""

    def pick(self, list: Locator, text: str) -> None:
        """Choose an option of a list."""

    def choose(self, button: Locator) -> None:
        """Choose a radio button."""


class Mouse:
    """Only clicks, and types what is to be written."""

    def press(self, element: Locator) -> None:
        element.click()

    def write(self, field: Locator, text: str) -> None:
        field.click(click_count=3)
        field.page.keyboard.insert_text(text)

    def pick(self, list: Locator, text: str) -> None:
        list.select_option(text)

    def choose(self, button: Locator) -> None:
        button.click()


class Keyboard:
    """Only presses keys: elements are reached with Tab."""

    def press(self, element: Locator) -> None:
        self._reach(element)
        element.page.keyboard.press("Enter")

    def write(self, field: Locator, text: str) -> None:
        self._reach(field)
        field.page.keyboard.press("Control+a")
        field.page.keyboard.type(text)

    def pick(self, list: Locator, text: str) -> None:
        self._reach(list)
        list.page.keyboard.type(text)
        expect(list).to_have_value(text)

    def choose(self, button: Locator) -> None:
        # Tab reaches the chosen button of a group, the arrows the others.
        name = button.get_attribute("name")
        self._reach(button.page.locator(f"[name={name}]:checked"))
        for _ in range(MOST_STEPS):
            if button.is_checked():
                return
            button.page.keyboard.press("ArrowDown")
        raise AssertionError(f"the arrow keys do not reach {button}")

    def _reach(self, element: Locator) -> None:
        expect(element).to_have_count(1)
        page: Page = element.page
        for _ in range(MOST_STEPS):
            if element.evaluate(_IS_FOCUSED):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not reach {element}")


with_both_hands = pytest.mark.parametrize("hand", [Mouse(), Keyboard()], ids=["mouse", "keys"])
"""Runs a test once with each."""
