"""The neutral card → text for a terminal. Pure.

Lines carry a colour by name; what the terminal gets is made safe and wrapped in `channel`. Every
meaning stands in words too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from adapters.terminal.payloads import Word
from core import words
from core.calls import Call, CallState
from core.cards import GLYPHS, CallView, Card, CardState, ChangeRow, Row, build_card, review_pages
from core.digest import Action
from core.inputs import Change
from core.inputs.closing import Schema
from core.permissions.rules import PermissionRule
from core.text import Shown, one_line, show_value

PAGE_CHARACTERS = 2000

_WORDS: Mapping[Action, Word] = {
    Action.APPROVE: Word.APPROVE,
    Action.REVIEW: Word.REVIEW,
    Action.MODIFY: Word.MODIFY,
    Action.REJECT: Word.REJECT,
    Action.ALWAYS: Word.ALWAYS,
    Action.MARK_DONE: Word.DONE,
    Action.RUN_AGAIN: Word.AGAIN,
    Action.ABANDON: Word.ABANDON,
}
_TASK_WORDS = (Word.FULFIL, Word.CLAIM, Word.RETURN, Word.CANCEL)
_LABELS = {
    Word.APPROVE: "[a]pprove once",
    Word.REVIEW: "re[v]iew",
    Word.MODIFY: "[m]odify…",
    Word.REJECT: "[r]eject…",
    Word.ALWAYS: "always…",
    Word.DONE: "done (it was carried out)",
    Word.AGAIN: "again (run it once more)",
    Word.ABANDON: "abandon",
    Word.FULFIL: "[f]ulfil",
    Word.CLAIM: "[c]laim",
    Word.RETURN: "return",
    Word.LATER: "[l]ater",
}
_MEANINGS = {
    Word.APPROVE: "let it run once, exactly as shown",
    Word.REVIEW: "read all of it, page by page; approve on the last page",
    Word.MODIFY: "change the input in your $EDITOR, look at the difference, approve it so",
    Word.REJECT: "it will not run; a reason, if you give one, is told to the agent",
    Word.ALWAYS: "list the rules that are offered; `always 1` accepts one, this call still waits",
    Word.DONE: "it was carried out; say what came of it",
    Word.AGAIN: "run it once more, with a new approval",
    Word.ABANDON: "give it up; nothing is repeated",
    Word.FULFIL: "say what came of the task; it is read back before anything is submitted",
    Word.CLAIM: "others see that you are doing it",
    Word.RETURN: "somebody else may do it",
    Word.CANCEL: "withdraw it",
    Word.LATER: "decide later; it stays open",
    Word.STOP: "stop the whole reply; what is not started never runs",
    Word.QUIT: "leave; everything open stays open",
}
_RISK_COLOURS = {"low": "green", "medium": "yellow", "high": "red"}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a card. `indent` starts what is wrapped from it."""

    text: str
    colour: str = ""
    indent: str = "    "


@dataclass(frozen=True, slots=True)
class Sheet:
    """A call as a terminal asks about it.

    Attributes:
        lines: the card.
        words: what can be answered.
        review: there is no approval at a glance; `pages` have to be read first.
        retype: the code is asked for on the last page.
        offers: the offered rules, numbered, with what they would hold for.
        schema: of the tool's input; `result_schema` of a task's result.
    """

    call: Call
    code: str
    lines: tuple[Line, ...]
    words: frozenset[Word]
    prompt: str
    help: str
    review: bool
    retype: bool
    pages: tuple[str, ...]
    rules: tuple[PermissionRule, ...] = ()
    offers: str = ""
    schema: Schema = field(default_factory=dict[str, object])
    result_schema: Schema | None = None


def sheet_of(
    call: Call,
    view: CallView,
    now: int,
    rules: Sequence[PermissionRule] = (),
    result_schema: Schema | None = None,
) -> Sheet:
    """The sheet of a call as it stands at `now`."""
    card = build_card(view, now)
    answers = _answers(call, card)
    return Sheet(
        call=call,
        code=card.code,
        lines=tuple(card_lines(card, now)),
        words=frozenset([*answers, Word.APPROVE] if Word.REVIEW in answers else answers),
        prompt=_prompt(card, answers),
        help=_help(answers),
        review=card.needs_review,
        retype=card.retype,
        pages=tuple(page.text for page in review_pages(view, characters=PAGE_CHARACTERS)),
        rules=tuple(rules),
        offers=_offers(card),
        schema=view.schema or {},
        result_schema=result_schema,
    )


def _answers(call: Call, card: Card) -> list[Word]:
    if call.state is CallState.TASK:
        return list(_TASK_WORDS)
    found = [_WORDS[button.action] for button in card.buttons if button.action in _WORDS]
    return [*found, Word.CANCEL] if found else []


def _prompt(card: Card, answers: Iterable[Word]) -> str:
    labels = [_LABELS[word] for word in answers if word in _LABELS]
    return f"{words.code_line(card.code)}  {' · '.join([*labels, _LABELS[Word.LATER]])} · ?"


def _help(answers: Iterable[Word]) -> str:
    known = (*answers, Word.LATER, Word.STOP, Word.QUIT)
    return "\n".join(f"  {word.value:<8} {_MEANINGS[word]}" for word in known)


def _offers(card: Card) -> str:
    if not card.rules:
        return "No rule is offered for this call."
    listed = [f"  {number}. {rule}" for number, rule in enumerate(card.rules, start=1)]
    head = "Rules for who asked, in every session, until removed with `keyturn rules remove`:"
    return "\n".join([head, *listed, "Say always and a number. None is chosen for you."])


def card_lines(card: Card, now: int) -> Iterator[Line]:
    """A card from top to bottom: what, who and until when, in full, why, and the agent's words."""
    yield Line(f"{GLYPHS[card.state]} {card.title}", "bold")
    yield Line("  " + " · ".join(_facts(card, now)), _RISK_COLOURS[card.risk])
    for warning in card.warnings:
        yield Line(f"  ! {warning}", "yellow")
    yield from _sections(card)
    yield from _policy(card)
    for line in card.outcome:
        yield Line(f"  {line}")
    if card.result is not None:
        yield from _shown_lines("Result", card.result)
    if card.claim is not None:
        yield from _shown_lines(words.CLAIM_LABEL, card.claim)


def _policy(card: Card) -> Iterator[Line]:
    """Why it asks, what could be allowed for good, what can't be taken back."""
    if card.why:
        yield Line(f"  Why it asks: {card.why}")
    for number, rule in enumerate(card.rules, start=1):
        yield Line(f"  Rule offered ({number}): {rule}", "dim")
    if card.state is not CardState.TASK:
        yield Line(f"  {card.undo}")
    if card.needs_review:
        reasons = " ".join(card.review_reasons)
        yield Line(f"  ! Read all of it before you approve: {reasons}", "yellow")


def _facts(card: Card, now: int) -> Iterator[str]:
    yield "task" if card.state is CardState.TASK else f"{card.risk} risk"
    yield f"agent {card.agent}"
    yield f"asked by {card.requester}"
    if card.place:
        yield card.place
    if card.deadline is not None:
        yield words.deadline_line(card.deadline, now)
    yield words.code_line(card.code)


def _sections(card: Card) -> Iterator[Line]:
    if not card.arguments:
        yield Line(f"  {words.NO_ARGUMENTS}")
    for row in card.arguments:
        yield from _row_lines(row)
    for row in card.context:
        yield from _row_lines(row)
    if card.changes:
        yield Line("  Changed:", "bold")
    for change in card.changes:
        yield from _change(change)


def _row_lines(row: Row) -> Iterator[Line]:
    yield from _shown_lines(f"{'→ ' if row.destination else ''}{row.label}", row.shown)
    if row.folded:
        yield Line("    Shortened here; review shows all of it.", "yellow")


def _shown_lines(label: str, shown: Shown) -> Iterator[Line]:
    """A label and a text that was drawn by the core; a second line of it can't pose as a label."""
    notes = f" [{', '.join(shown.notes)}]" if shown.notes else ""
    first, *rest = shown.text.split("\n")
    yield Line(f"  {label}{notes}: {first}", indent="    ┊ ")
    for line in rest:
        yield Line(f"    ┊ {line}", indent="    ┊ ")


def _change(change: ChangeRow) -> Iterator[Line]:
    if change.old is not None:
        yield from _signed("-", change.label, change.old, "red")
    if change.new is not None:
        yield from _signed("+", change.label, change.new, "green")


def _signed(sign: str, label: str, shown: Shown, colour: str) -> Iterator[Line]:
    notes = f" [{', '.join(shown.notes)}]" if shown.notes else ""
    first, *rest = shown.text.split("\n")
    yield Line(f"    {sign} {label}{notes}: {first}", colour, f"    {sign} ┊ ")
    for line in rest:
        yield Line(f"    {sign} ┊ {line}", colour, f"    {sign} ┊ ")


def change_lines(changes: Iterable[Change], schema: Schema | None = None) -> Iterator[Line]:
    """The difference that an edit makes, drawn and masked like a card."""
    for change in changes:
        path = [_unescaped(part) for part in change.pointer.split("/")[1:]]
        label = one_line(change.pointer)
        if change.kind != "added":
            yield from _signed("-", label, show_value(path, change.old, schema), "red")
        if change.kind != "removed":
            yield from _signed("+", label, show_value(path, change.new, schema), "green")


def _unescaped(part: str) -> str:
    """A part of a JSON pointer as the key that it names. Source: RFC 6901, section 4."""
    return part.replace("~1", "/").replace("~0", "~")


def state_line(card: Card) -> str:
    """One line about a card that was shown before: its code and what became of it."""
    said = card.outcome[-1] if card.outcome else card.state.value
    return f"{words.code_line(card.code)} {said}"


def settled(card: Card) -> bool:
    """Whether nobody is asked any more."""
    return card.state not in (CardState.PENDING, CardState.RECORDING, CardState.UNKNOWN)
