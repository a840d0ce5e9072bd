"""Text of others, made safe to show: drawn visibly, secrets masked, nothing parsed."""

from core.text.display import (
    MANY_LINES,
    SHOWN_CHARACTERS,
    WITHHOLDING,
    Shown,
    one_line,
    show,
)
from core.text.marks import is_hidden, token
from core.text.masking import Masked, Span, find_secrets, mask
from core.text.surfaces import discord_block, for_discord, for_slack
from core.text.values import ValueText, show_value, value_text

__all__ = [
    "MANY_LINES",
    "SHOWN_CHARACTERS",
    "WITHHOLDING",
    "Masked",
    "Shown",
    "Span",
    "ValueText",
    "discord_block",
    "find_secrets",
    "for_discord",
    "for_slack",
    "is_hidden",
    "mask",
    "one_line",
    "show",
    "show_value",
    "token",
    "value_text",
]
