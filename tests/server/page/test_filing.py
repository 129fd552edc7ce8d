"""The filing view without a script: reading, answering, correcting, putting off, searching."""

import json
from urllib.parse import quote

import pytest

from tests.server.api_server import Api
from tests.server.page.pages import HTML, Element, parsed, submit, visit

HOSTILE = "<script>alert(1)</script>\u202e evil \x1b[31m & \"quoted\" 'too'"


def taught(api: Api, count: int = 30) -> Api:
    """A workspace that knows two labels well, with two open items."""
    texts = [("pay the invoice to the bank", "money"), ("book the flight and the hotel", "travel")]
    lines = [
        json.dumps({"text": f"{text} {number}", "labels": [label]})
        for number in range(count)
        for text, label in texts
    ]
    sent = api.post("items:batch", "\n".join(lines).encode(), media="application/x-ndjson")
    assert sent.status == 200
    api.add("the flight and hotel in lisbon", id="first")
    api.add("an invoice of the hotel bank", id="second")
    return api


def answer_form(page: Element) -> Element:
    return page.one("form", data_answer_form=None)


def chips(page: Element) -> list[tuple[str, bool]]:
    boxes = answer_form(page).all("input", name="labels")
    return [(box.attributes["value"], "checked" in box.attributes) for box in boxes]


def rows(page: Element) -> list[str]:
    return [row.attributes["data-id"] for row in page.all("li", data_id=None)]


def test_the_newest_open_item_is_shown_beside_the_list(api: Api):
    page = visit(taught(api))
    assert rows(page) == ["second", "first"]
    assert page.one("h1").text == "an invoice of the hotel bank"
    current = [
        link for link in page.all("a", aria_current="true") if "data-why" not in link.attributes
    ]
    assert [link.attributes["href"] for link in current] == [f"/w/{api.workspace}/items/second"]


def test_chips_are_the_suggestions_in_their_order_with_chances_and_cut(api: Api):
    taught(api).answer("second", ["money", "bills"])
    page = visit(api, "/items/first")
    found = api.get("items/first?k=9").json["suggestions"]
    assert chips(page) == [(each["label"], each["chosen"]) for each in found]
    shown = [chip.one("span", class_="chip-chance").text for chip in page.all("li", data_chip=None)]
    assert [int(text.split()[0].lstrip("<>")) for text in shown] == [
        min(99, round(100 * each["probability"])) for each in found
    ]
    entries = page.one("ul", data_chips=None).all("li")
    place = [entry.attributes["class"] for entry in entries].index("cut")
    assert place == sum(each["chosen"] for each in found)


def test_words_are_marked_by_what_they_add_to_the_label_that_is_asked_for(api: Api):
    taught(api)
    for label in ("money", "travel"):
        page = visit(api, f"/items/second?label={label}")
        found = api.get(f"items/second?label={label}").json["explanation"]["parts"]
        parts = {part["name"]: part["value"] for part in found}
        marks = {
            mark.text: mark.attributes for mark in page.one("div", class_="field-text").all("mark")
        }
        assert set(marks) >= {"invoice", "hotel"}
        for word, attributes in marks.items():
            assert ("for" in attributes["class"].split()) == (parts[word] > 0), word
            assert attributes["title"].startswith(f"{parts[word]:+.2f}".replace("-", "\u2212"))
        table = page.one("details", data_reasons=None).one("tbody")
        numbers = {row.one("th").text: row.all("td")[0].text for row in table.all("tr")}
        assert numbers["invoice"] == f"{parts['invoice']:+.2f}".replace("-", "\u2212")


def test_confirming_answers_as_shown_and_leads_to_the_next_item_with_a_notice(api: Api):
    page = visit(taught(api), "/items/first")
    path, after = submit(api, answer_form(page), {})
    assert api.get("items/first").json["labels"] == [
        label for label, chosen in chips(page) if chosen
    ]
    assert path.startswith(f"/w/{api.workspace}?seq=")
    assert after.one("h1").text == "an invoice of the hotel bank"
    notice = after.one("div", class_="notice")
    assert notice.one("span").text == "“the flight and hotel in lisbon”: travel"
    submit(api, notice.one("form"), {})
    assert api.get("items/first").json["labels"] is None


def test_a_form_that_is_sent_twice_counts_once(api: Api):
    page = visit(taught(api), "/items/first")
    first, _ = submit(api, answer_form(page), {})
    second, _ = submit(api, answer_form(page), {})
    assert first == second


def test_other_labels_are_made_one_per_line(api: Api):
    page = visit(taught(api), "/items/first")
    submit(api, answer_form(page), {"other": "lisbon\n\n  summer 2027  \ntravel"})
    assert api.get("items/first").json["labels"] == ["travel", "lisbon", "summer 2027"]


def test_none_of_these_is_an_answer_without_labels(api: Api):
    page = visit(taught(api), "/items/first")
    submit(api, answer_form(page), {"none": "true"})
    assert api.get("items/first").json["labels"] == []


def test_nothing_chosen_is_refused_with_what_to_do(api: Api):
    page = visit(taught(api), "/items/first")
    _, refusal = submit(api, answer_form(page), {"labels": []}, 422)
    assert "None of these" in refusal.text
    assert api.get("items/first").json["labels"] is None


def test_an_answer_of_somebody_else_is_not_overwritten(api: Api):
    page = visit(taught(api), "/items/first")
    api.answer("first", ["money"])
    _, refusal = submit(api, answer_form(page), {}, 409)
    assert "The present answer is: money." in refusal.text
    assert api.get("items/first").json["labels"] == ["money"]


def test_an_answered_item_is_shown_with_its_labels_and_corrected(api: Api):
    taught(api)
    api.answer("first", ["money", "holidays"])
    page = visit(api, "/items/first")
    assert sorted(label for label, chosen in chips(page) if chosen) == ["holidays", "money"]
    assert json.loads(dict(answer_form(page).fields())["was"]) == ["money", "holidays"]
    assert page.one("button", data_confirm=None).text.startswith("Correct")
    submit(api, answer_form(page), {"labels": ["travel"]})
    assert api.get("items/first").json["labels"] == ["travel"]


def test_a_workspace_with_one_label_per_item_offers_one_choice(api: Api):
    taught(api)
    boxes = answer_form(visit(api, "/items/first")).all("input", name="labels")
    assert {box.attributes["type"] for box in boxes} == {"radio"}
    api.answer("second", ["money", "travel"])
    boxes = answer_form(visit(api, "/items/first")).all("input", name="labels")
    assert {box.attributes["type"] for box in boxes} == {"checkbox"}


def test_later_puts_an_item_behind_the_others(api: Api):
    page = visit(taught(api))
    form = answer_form(page)
    later = page.one("button", data_skip=None).attributes["formaction"]
    form.attributes["action"] = later
    _, after = submit(api, form, {})
    assert rows(after) == ["first", "second"]
    assert after.one("h1").text == "the flight and hotel in lisbon"


def test_search_order_source_and_state_stay_from_item_to_item(api: Api):
    taught(api)
    api.add("a flight from the web", id="third", source="web")
    assert rows(visit(api, "?q=flight")) == ["third", "first"]
    assert rows(visit(api, "?source=web")) == ["third"]
    assert set(rows(visit(api, "?order=unsure"))) == {"first", "second", "third"}
    assert len(rows(visit(api, "?state=answered"))) == 40
    page = visit(api, "?q=flight&order=unsure")
    path, after = submit(api, answer_form(page), {})
    assert "q=flight" in path
    assert "order=unsure" in path
    assert len(rows(after)) == 1


def test_more_rows_are_another_page(api: Api):
    for number in range(45):
        api.add(f"text {number}", id=f"i{number}")
    page = visit(api)
    assert rows(page) == [f"i{number}" for number in range(44, 4, -1)]
    more = page.one("a", data_more=None).attributes["href"]
    assert rows(parsed(api.get(more, headers=HTML))) == ["i4", "i3", "i2", "i1", "i0"]
    assert len(rows(visit(api, "/parts/list?rows=45"))) == 45


def test_empty_states_say_what_to_do_next(api: Api):
    api.add("x", id="x")
    assert visit(api, "?q=nothing").one("h1").text == "No item fits"
    assert "There is no label yet" in visit(api).text
    api.answer("x", ["a"])
    assert visit(api).one("h1").text == "All done"


@pytest.mark.parametrize("id", ["a/b", "../up", "<b>&\"'", "ключ", "a?b#c", "100%"])
def test_ids_of_any_kind_have_pages(api: Api, id: str):
    api.add("text", ["label"], id=id)
    page = visit(api, f"/items/{quote(id, safe='')}")
    submit(api, answer_form(page), {"labels": ["other"], "other": "other"})
    assert api.get(f"items/{quote(id, safe='')}").json["labels"] == ["other"]


def test_content_is_always_text(api: Api):
    api.add(
        HOSTILE, [HOSTILE[:40].replace("\x1b", "").strip()], id="h", title=HOSTILE, source=HOSTILE
    )
    for path in (
        "/items/h",
        "/items/h?state=answered",
        "/parts/items/h",
        "/parts/list?state=answered",
    ):
        page = visit(api, path)
        assert all("src" in script.attributes for script in page.all("script"))
        assert not {"\x1b", "\u202e"} & set(page.text)
        assert "<script>alert(1)</script>" in page.text


def test_a_long_text_is_shown_in_part(api: Api):
    api.add("word " * 50_000, ["a"], id="long")
    page = visit(api, "/items/long")
    assert len(page.one("div", class_="field-text").text) == 19_999
    assert "230,000 more characters are not shown." in page.text


def test_fields_and_values_are_shown_by_name(api: Api):
    body = {"id": "f", "fields": {"subject": "Hello", "body": "the bank"}, "values": {"pages": 3}}
    assert api.post("items", body).status == 201
    page = visit(api, "/items/f")
    assert [name.text for name in page.all("h2", class_="field-name")] == ["subject", "body"]
    assert page.one("dl", class_="item-values").text == "pages3"


def test_forgetting_deletes_the_item_after_a_question(api: Api):
    taught(api).answer("first", ["travel"])
    page = visit(api, "/items/first?state=answered&q=lisbon")
    actions = [form.attributes.get("action", "") for form in page.all("form")]
    assert not [action for action in actions if "/forget" in action]
    link = page.one("a", data_forget=None).attributes["href"]
    question = parsed(api.get(link, headers=HTML)).one("main")
    assert question.one("h1").text == "Delete “the flight and hotel in lisbon” for good?"
    assert "Its answer is deleted too: travel." in question.text
    assert "This cannot be undone." in question.text
    cancel = question.one("a", class_="button").attributes["href"]
    assert cancel == f"/w/{api.workspace}/items/first?state=answered&q=lisbon"
    assert api.get("items/first").status == 200
    path, after = submit(api, question.one("form", data_forget=None), {})
    assert "q=lisbon" in path
    assert rows(after) == []
    assert rows(visit(api)) == ["second"]
    assert api.get("items/first").status == 404
    missing = api.get(f"/w/{api.workspace}/items/first", headers=HTML)
    assert missing.status == 404
    assert "Not found" in parsed(missing).one("h1").text


def options(page: Element) -> list[tuple[str, bool]]:
    found = page.all("li", data_label=None)
    return [(each.attributes["data-label"], "data-new" in each.attributes) for each in found]


def test_labels_are_found_despite_typing_errors_and_new_ones_can_be_made(api: Api):
    taught(api)
    assert options(visit(api, "/parts/labels?q=")) == [("money", False), ("travel", False)]
    assert options(visit(api, "/parts/labels?q=tarvel")) == [("travel", False), ("tarvel", True)]
    assert options(visit(api, "/parts/labels?q=tarvel&new=true"))[0] == ("tarvel", True)
    assert options(visit(api, "/parts/labels?q=travel")) == [("travel", False)]
    api.patch("settings", {"labels": "fixed"})
    assert options(visit(api, "/parts/labels?q=qqqq")) == []
    assert "New ones are not allowed" in visit(api, "/parts/labels?q=qqqq").text


def test_filing_all_that_is_sure_shows_it_first_and_is_undone_as_one(api: Api):
    taught(api, 150)
    page = visit(api, "/sure?min_precision=0.9")
    preview = api.post("accept-sure", {"min_precision": 0.9, "preview": True}).json
    assert preview["items"], "the example must have sure items"
    shown = [row.all("td")[1].text for row in page.one("tbody").all("tr")]
    assert shown == [", ".join(item["labels"]) for item in preview["items"]]
    [form] = [
        form for form in page.all("form", method="post") if "/sure" in form.attributes["action"]
    ]
    _, after = submit(api, form, {})
    for item in preview["items"]:
        assert api.get(f"items/{item['id']}").json["state"] == "filed"
    submit(api, after.one("div", class_="notice").one("form"), {})
    for item in preview["items"]:
        assert api.get(f"items/{item['id']}").json["state"] == "open"


def test_nothing_sure_says_so(api: Api):
    page = visit(taught(api, 3), "/sure")
    assert "Nothing is sure enough" in page.text
    assert not [
        form for form in page.all("form", method="post") if "/sure" in form.attributes["action"]
    ]


def test_the_notice_tells_how_many_are_filed_and_how_many_are_left_for_spot_checks(api: Api):
    taught(api, 150)
    for number in range(40):
        api.add(f"book the flight and the hotel {number}", id=f"open {number}")
    form = visit(api, "/sure?min_precision=0.9").one("form", method="post", class_="row")
    _, after = submit(api, form, {})
    states = [api.get(f"items/open%20{number}").json["state"] for number in range(40)]
    states += [api.get(f"items/{id}").json["state"] for id in ("first", "second")]
    filed, asked = states.count("filed"), states.count("asked")
    assert filed > 1
    assert asked > 1
    expected = f"{filed} items were filed without asking; {asked} left for spot checks"
    assert after.one("div", class_="notice").one("span").text == expected


def test_the_least_certain_items_have_the_chance_of_the_whole_answer(api: Api):
    taught(api).answer("second", ["money", "bills"])
    for number, text in enumerate(("the bank", "a flight and an invoice", "something else")):
        api.add(text, id=f"i{number}")
    page = visit(api, "?order=unsure")
    shown = [row.one("span", class_="row-chance").text for row in page.all("li", data_id=None)]
    assert all(text.startswith("whole answer: ") for text in shown)
    shares = [float(text.split()[2].lstrip("<>")) for text in shown]
    assert shares == sorted(shares)
    newest = visit(api).all("span", class_="row-chance")
    assert not [each for each in newest if "whole answer" in each.text]


def test_the_legend_is_there_if_words_are_marked(api: Api):
    taught(api)
    api.add("zzz qqq", id="strange")
    page = visit(api, "/items/strange")
    assert not page.one("div", class_="field-text").all("mark")
    assert not page.all("p", class_="legend hint")
    assert visit(api, "/items/second").one("p", class_="legend hint")


def test_the_numbers_of_marked_words_are_text(api: Api):
    page = visit(taught(api), "/items/second")
    marks = page.one("div", class_="field-text").all("mark")
    listed = [each.text for each in page.one("ul", class_="marked-words plain-list").all("li")]
    assert sorted(listed) == sorted({f"{each.text} {each.attributes['title']}" for each in marks})


def test_titles_show_characters_that_cannot_be_seen_as_the_text_does(api: Api):
    api.add("user\u202egnp.exe", id="h")
    page = visit(api, "/items/h")
    assert page.one("h1").text == page.one("div", class_="field-text").text == "user▫gnp.exe"
    assert page.one("span", class_="row-title").text == "user▫gnp.exe"
