"""The first line of a card: verb, object, place; from the template and the arguments only."""

import re
from collections.abc import Mapping

from core.cards.model import CallView
from core.text import one_line, value_text

TITLE_CHARACTERS = 150
"""Most characters of a title. Source: Slack's published limit of a header."""

_VALUE_CHARACTERS = 80
_READ_CHARACTERS = 4000
_FIELD = re.compile(r"\{([^{}]{1,100})\}")
_TEMPLATES: Mapping[str, str] = {
    "Bash": "Run Bash: {command}",
    "Read": "Read {file_path}",
    "Write": "Write {file_path}",
    "Edit": "Edit {file_path}",
    "Glob": "List files like {pattern}",
    "Grep": "Search for {pattern}",
}


def card_title(view: CallView) -> str:
    """What the call does, on one line, secrets masked."""
    template = _template(view)

    def filled(match: re.Match[str]) -> str:
        return _value(view, match[1]) if match[1] in view.input else "(none)"

    if template is None:
        shown = ", ".join(_value(view, name) for name in _telling(view))
        title = f"Run {one_line(view.tool, limit=60)}" + (f": {shown}" if shown else "")
    else:
        title = _FIELD.sub(filled, template)
    return title if len(title) <= TITLE_CHARACTERS else f"{title[: TITLE_CHARACTERS - 1]}…"


def bare_title(view: CallView) -> str:
    """The title without any argument, for notifications: "Refund … to …"."""
    template = _template(view)
    if template is None or view.title_template is None:
        return f"Run {one_line(view.tool, limit=60)}"
    return one_line(_FIELD.sub("…", template), limit=TITLE_CHARACTERS)


def _template(view: CallView) -> str | None:
    known = _TEMPLATES.get(view.tool)
    if view.title_template is not None:
        return view.title_template
    fits = known is not None and all(name in view.input for name in _FIELD.findall(known))
    return known if fits else None


def _telling(view: CallView) -> list[str]:
    """The arguments that say most: destinations, else the first plain ones."""
    named = [name for name in view.destination if name in view.input]
    plain = [
        name for name, value in view.input.items() if isinstance(value, str | int | float) and value
    ]
    return (named or plain)[:2]


def _value(view: CallView, name: str) -> str:
    value = view.input[name]
    if isinstance(value, str):
        value = value[:_READ_CHARACTERS]
    written = value_text((name,), value, view.schema, bare=True, pepper=view.pepper)
    return one_line(written.text, written.secrets, limit=_VALUE_CHARACTERS)
