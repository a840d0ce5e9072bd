"""Cards: what people see of a parked call, the same on every surface."""

from core.cards.building import MAX_JUDGED_BYTES, build_card, check_judgeable
from core.cards.model import (
    GLYPHS,
    Button,
    CallView,
    Card,
    CardState,
    ChangeRow,
    Row,
)
from core.cards.review import PAGE_CHARACTERS, Page, review_pages

__all__ = [
    "GLYPHS",
    "MAX_JUDGED_BYTES",
    "PAGE_CHARACTERS",
    "Button",
    "CallView",
    "Card",
    "CardState",
    "ChangeRow",
    "Page",
    "Row",
    "build_card",
    "check_judgeable",
    "review_pages",
]
