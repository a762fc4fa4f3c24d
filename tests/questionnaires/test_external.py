"""External surveys: the address out, and the signature that leads back."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from questionnaires import external
from questionnaires.external import LIFETIME, BadToken, Errand, ExpiredToken

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ERRAND = Errand(7, UUID("0e4b6f5e-54f2-4c0e-8f0b-1f6a5a3e0d11"))


def test_token_leads_back_to_its_errand() -> None:
    token = external.token(ERRAND, wall=NOON)
    assert external.errand(token, wall=NOON + LIFETIME / 2) == ERRAND
    assert (len(token), token.replace("-", "").replace("_", "").isalnum()) == (54, True)


def test_token_expires() -> None:
    token = external.token(ERRAND, wall=NOON)
    with pytest.raises(ExpiredToken):
        external.errand(token, wall=NOON + LIFETIME)


@pytest.mark.parametrize("place", range(54))
def test_changed_token_is_refused(place: int) -> None:
    token = external.token(ERRAND, wall=NOON)
    other = "B" if token[place] == "A" else "A"
    with pytest.raises(BadToken):
        external.errand(token[:place] + other + token[place + 1 :], wall=NOON)


@pytest.mark.parametrize("text", ["", "x", "AAAA", "é" * 54, "{token}", "A" * 54, "A" * 4000])
def test_anything_else_is_no_token(text: str) -> None:
    with pytest.raises(BadToken):
        external.errand(text, wall=NOON)


@pytest.mark.parametrize(
    ("template", "address"),
    [
        ("https://a.example/s?t={token}", "https://a.example/s?t=TOK"),
        ("https://a.example/s/{code}?t={token}", "https://a.example/s/C%2F1?t=TOK"),
        (
            "https://a.example/s?back={return}",
            "https://a.example/s?back=https%3A%2F%2Fm.example%2F%3Ftoken%3DTOK",
        ),
        ("https://a.example/s", "https://a.example/s?token=TOK&code=C%2F1"),
        ("https://a.example/s?x=1#top", "https://a.example/s?x=1&token=TOK&code=C%2F1#top"),
        ("https://a.example/s?c={code}", "https://a.example/s?c=C%2F1&token=TOK"),
    ],
)
def test_address_carries_token_and_code(template: str, address: str) -> None:
    back = "https://m.example/?token=TOK"
    assert external.address(template, token="TOK", code="C/1", back=back) == address
