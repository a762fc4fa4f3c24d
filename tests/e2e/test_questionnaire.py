"""A questionnaire in a real browser: every type of item, by keyboard alone, on bad networks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from http.cookies import SimpleCookie
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from experiments.enums import Moment
from experiments.models import Lab
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from questionnaires import responses
from questionnaires.models import Answer, Response
from questionnaires.surveyjs import compiled
from tests.chat.sockets import cookie_of
from tests.e2e.live import WebProcess
from tests.e2e.site import RenderedSite
from tests.questionnaires.asked import EVERYTHING, PETS, asked
from tests.studies import make_study

NARROWEST = 320  # CSS pixels: WCAG 2.2, 1.4.10 (reflow)


def page_context(language: str) -> dict[str, Any]:
    name = "zh" if language.startswith("zh") else "en"
    picture = "/static/questionnaires/pictures/closeness-{}-{}.svg"
    return {
        "study": {"title": "Everyday conversations"},
        "heading": "After the conversation",
        "stage_title": "First conversation",
        "number": 2,
        "count": 3,
        "before": 1,
        "introduction": ["There are no right or wrong answers."],
        "questionnaire": {
            "survey": compiled(
                EVERYTHING,
                seed="seed",
                language=language,
                picture=lambda _language, point: picture.format(point, name),
            ),
            "answers": {"like_1": 3, "some": [2], "ios": 4},
            "page": 1,
            "revision": 0,
            "before": 1,
            "response": "0e4b6f5e-54f2-4c0e-8f0b-1f6a5a3e0d11",
            "save_url": "/questionnaire/save/",
        },
    }


def pictures_in_rows(page: Page) -> list[int]:
    """How many pictures of the scale stand beside each other, row by row."""
    boxes = [each.bounding_box() for each in page.locator(".sd-imagepicker__item").all()]
    return sorted(Counter(box["y"] for box in boxes if box is not None).values(), reverse=True)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_item_is_accessible_and_fits_every_screen(
    page: Page, site: RenderedSite, axe: Callable[[Page], None], language: str
) -> None:
    site.open(page, "questionnaires/answer.html", page_context(language), language=language)
    expect(page.locator(".sd-question")).to_have_count(9)
    expect(page.locator("input:checked")).to_have_count(3)
    assert pictures_in_rows(page) == [7]
    axe(page)
    page.locator("#next").click()
    expect(page.locator(".sd-question__erbox")).to_have_count(5)
    axe(page)
    page.set_viewport_size({"width": NARROWEST, "height": 640})
    expect(page.locator(".sd-matrix__responsive-title").first).to_be_visible()
    axe(page)
    assert pictures_in_rows(page) == [4, 3]
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    assert (site.foreign, site.errors) == ([], [])


@pytest.fixture
def web(transactional_db: None) -> Iterator[WebProcess]:
    process = WebProcess()
    process.start()
    yield process
    process.kill()


@pytest.fixture
def response(web: WebProcess, context: BrowserContext, lab: Lab) -> Response:
    participant = asked(make_study(lab), PETS)
    for name, morsel in SimpleCookie(cookie_of(participant)).items():
        context.add_cookies([{"name": name, "value": morsel.value, "url": web.address}])
    with lab_scope(lab.pk):
        opened = responses.next_open(participant, Moment.AFTER, "T1", wall=wall_now())
    assert opened is not None
    return opened


def stored(response: Response) -> dict[str, Any]:
    with lab_scope(response.lab_id):
        return dict(Answer.objects.filter(response=response).values_list("item", "raw"))


def fill_first_page(tab: Page) -> None:
    """By keyboard alone: a scale is one stop of Tab, arrows choose."""
    tab.locator("input[type=radio]").first.focus()
    for number in range(3):
        if number:
            tab.keyboard.press("Tab")
        tab.keyboard.press("Space")
        tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Tab")
    expect(tab.locator("#next")).to_be_focused()


@pytest.mark.django_db(transaction=True)
def test_answers_survive_reload_lost_network_and_a_second_tab(
    web: WebProcess, context: BrowserContext, response: Response
) -> None:
    address = f"{web.address}/questionnaire/{response.pk}/"
    tab, other = context.new_page(), context.new_page()
    tab.goto(address)
    fill_first_page(tab)
    tab.reload()
    expect(tab.locator("input:checked")).to_have_count(3)
    other.goto(address)
    expect(other.locator("input:checked")).to_have_count(3)

    context.set_offline(True)
    tab.locator("#next").click()
    expect(tab.locator("#banner-text")).to_contain_text("The connection is lost.")
    context.set_offline(False)
    expect(tab.locator("#progress-text")).to_have_text("Page 2 of 2")
    expect(tab.locator("#banner")).to_be_hidden()
    first = {"like_1": 2, "like_2": 2, "check": 2}
    assert stored(response) == first

    other.locator("input[type=radio]").first.check(force=True)
    other.locator("#next").click()
    expect(other.locator("#banner-text")).to_contain_text("continued in another window")
    assert stored(response) == first
    other.get_by_role("link", name="Load the page again").click()
    expect(other.locator("#progress-text")).to_have_text("Page 2 of 2")

    tab.get_by_role("radio", name="a cat").check(force=True)
    expect(tab.locator("#progress-text")).to_have_text("Page 2 of 3")
    tab.locator("#next").click()
    expect(tab.locator("#progress-text")).to_have_text("Page 3 of 3")
    tab.locator("#back").click()
    tab.get_by_role("radio", name="no", exact=True).check(force=True)
    tab.locator("#next").click()
    tab.wait_for_url(lambda url: "/questionnaire/" not in url)
    assert stored(response) == {**first, "pet": 1, "why": None, "name": None}
    assert tab.evaluate("Object.keys(localStorage).filter((key) => /answers/.test(key))") == []
