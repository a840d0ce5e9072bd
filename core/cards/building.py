"""Building the neutral card of a call."""

from collections.abc import Iterable
from dataclasses import replace

from core import words
from core.cards.model import (
    GLYPHS,
    Button,
    CallView,
    Card,
    CardState,
    ChangeRow,
    Row,
)
from core.cards.titles import bare_title, card_title
from core.digest import Action, short_code
from core.errors import InvalidInput
from core.inputs import Change, changes, pointer_parts
from core.text import Shown, ValueText, find_secrets, one_line, show, value_text

MAX_JUDGED_BYTES = 256 * 1024
"""Longest input (UTF-8) that people are asked about at all."""

CARD_CHARACTERS = 3000
"""Most characters of all arguments on a card together; beyond, long ones are folded."""

CARD_ROWS = 20
FOLDED_CHARACTERS = 200
CLAIM_CHARACTERS = 300
RESULT_CHARACTERS = 400
_LABEL_CHARACTERS = 60
_CHANGE_CHARACTERS = 300
_AROUND_A_CHANGE = 40

_UNDECIDED = (CardState.PENDING, CardState.RECORDING)
_AWAITED = (*_UNDECIDED, CardState.TASK, CardState.UNKNOWN)
_AFTER_APPROVAL = (
    CardState.APPROVED,
    CardState.RUNNING,
    CardState.COMPLETED,
    CardState.FAILED,
    CardState.UNKNOWN,
)


def check_judgeable(raw_input: str) -> None:
    """Refuse an input that nobody could judge, before anybody is asked.

    Raises:
        InvalidInput: it has more than `MAX_JUDGED_BYTES`.
    """
    if len(raw_input.encode(errors="surrogatepass")) > MAX_JUDGED_BYTES:
        raise InvalidInput("too_long_to_judge", words.TOO_LONG_TO_JUDGE)


def build_card(view: CallView, now: int) -> Card:
    """The card of a call as it stands at `now` (milliseconds since 1970, UTC)."""
    arguments = _argument_rows(view)
    context = tuple(Row(_label(name), show(value)) for name, value in view.context.items())
    reasons = _review_reasons(view, arguments, context)
    return Card(
        title=card_title(view),
        risk=view.risk,
        agent=one_line(view.agent),
        requester=one_line(view.requester),
        place=one_line(view.place) if view.place else "",
        deadline=view.deadline if view.state in _AWAITED else None,
        why=one_line(view.why, limit=300) if view.why else "",
        approvers=one_line(view.approvers),
        warnings=_warnings(view),
        arguments=arguments,
        context=context,
        changes=_change_rows(view),
        undo=one_line(view.undo) if view.undo else words.NO_UNDO_KNOWN,
        rules=tuple(one_line(rule, limit=300) for rule in view.offered_rules),
        claim=_free_text(view, view.claim, CLAIM_CHARACTERS),
        code=short_code(view.digest),
        revision=view.revision,
        state=view.state,
        outcome=_outcome(view),
        result=_free_text(view, view.result, RESULT_CHARACTERS),
        buttons=_buttons(view, needs_review=bool(reasons)),
        needs_review=bool(reasons),
        review_reasons=reasons,
        retype=view.risk == "high",
        fallback=_fallback(view, now),
    )


def _label(name: str) -> str:
    return one_line(name, limit=_LABEL_CHARACTERS)


def _argument_rows(view: CallView) -> tuple[Row, ...]:
    """Destinations first; long rows folded until all fit, destinations never."""
    names = sorted(view.input, key=lambda name: name not in view.destination)[:CARD_ROWS]
    written = {
        name: value_text((name,), view.input[name], view.schema, pepper=view.pepper)
        for name in names
    }
    rows = {name: _row(view, name, written[name]) for name in names}
    for name in sorted(names, key=lambda name: len(rows[name].shown.text), reverse=True):
        if sum(len(row.shown.text) for row in rows.values()) <= CARD_CHARACTERS:
            break
        if not rows[name].destination:
            rows[name] = _row(view, name, written[name], fold=True)
    return tuple(rows.values())


def _row(view: CallView, name: str, written: ValueText, *, fold: bool = False) -> Row:
    limit = FOLDED_CHARACTERS if fold else CARD_CHARACTERS
    shown = show(written.text, written.secrets, limit=limit)
    return Row(_label(name), shown, destination=name in view.destination, folded=fold)


def _free_text(view: CallView, text: str, limit: int) -> Shown | None:
    """Text that nobody approves, drawn and masked all the same."""
    return show(text, find_secrets(text, pepper=view.pepper), limit=limit) if text else None


def _review_reasons(
    view: CallView, arguments: tuple[Row, ...], context: tuple[Row, ...]
) -> tuple[str, ...]:
    flags = {flag for row in (*arguments, *context) for flag in row.shown.flags}
    flags |= {flag for name in view.input for flag in show(name).flags}
    cut_label = any(len(name) > _LABEL_CHARACTERS for name in view.input)
    if len(arguments) < len(view.input) or cut_label or any(row.folded for row in arguments):
        flags.add("too_long")
    return tuple(words.REVIEW_REASONS[flag] for flag in words.REVIEW_REASONS if flag in flags)


def _change_rows(view: CallView) -> tuple[ChangeRow, ...]:
    if view.previous is None:
        return ()
    found = changes(dict(view.previous), dict(view.input))
    return tuple(_change_row(view, change) for change in found)


def _change_row(view: CallView, change: Change) -> ChangeRow:
    """One change; of long texts, only the part around the difference."""
    path = pointer_parts(change.pointer)
    old = value_text(path, change.old, view.schema, pepper=view.pepper)
    new = value_text(path, change.new, view.schema, pepper=view.pepper)
    start, behind = 0, 0
    if max(len(old.text), len(new.text)) > _CHANGE_CHARACTERS:
        start = _in_common(old.text, new.text)
        behind = _in_common(old.text[start:][::-1], new.text[start:][::-1])
        start, behind = max(start - _AROUND_A_CHANGE, 0), max(behind - _AROUND_A_CHANGE, 0)
    return ChangeRow(
        _label(change.pointer) + (f" (from character {start + 1})" if start else ""),
        None if change.kind == "added" else _part(old, start, len(old.text) - behind),
        None if change.kind == "removed" else _part(new, start, len(new.text) - behind),
    )


def _in_common(one: str, two: str) -> int:
    """How many characters two texts have in common at their start."""
    pairs = enumerate(zip(one, two, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(two)))


def _part(written: ValueText, start: int, end: int) -> Shown:
    """A part of a text, widened so that it cuts no secret in two."""
    inside = [span for span in written.secrets if span.start < end and span.end > start]
    start = min([start, *(span.start for span in inside)])
    end = max([end, *(span.end for span in inside)])
    moved = [replace(span, start=span.start - start, end=span.end - start) for span in inside]
    return show(written.text[start:end], moved, limit=_CHANGE_CHARACTERS)


def _warnings(view: CallView) -> tuple[str, ...]:
    found = [one_line(view.note, limit=300)] if view.note else []
    if view.edited_by and view.state in _UNDECIDED:
        found.append(words.edited(one_line(view.edited_by)))
    if view.self_approval:
        found.append(words.SELF_APPROVAL)
    return tuple(found)


def _outcome(view: CallView) -> tuple[str, ...]:
    """What became of the call: the decision, then the run, one line each."""
    lines = [_decision_line(view)] if view.state in _AFTER_APPROVAL and view.decided_by else []
    if view.state is not CardState.APPROVED or not lines:
        lines.append(_state_line(view))
    return tuple(lines)


def _decision_line(view: CallView) -> str:
    edited = changes(dict(view.previous), dict(view.input)) if view.previous is not None else ()
    waited = None
    if view.decided_at is not None and view.asked_at is not None:
        waited = view.decided_at - view.asked_at
    line = words.approved(one_line(view.decided_by), view.decided_at, waited, len(edited))
    return f"{GLYPHS[CardState.APPROVED]} {line}"


def _state_line(view: CallView) -> str:
    votes = tuple(one_line(person) for person in view.votes)
    approvers, by = one_line(view.approvers), one_line(view.decided_by or "somebody")
    reason = one_line(view.reason, limit=300) if view.reason else ""
    if view.state is CardState.PENDING:
        line = words.waiting(approvers, votes, view.quorum)
    elif view.state is CardState.TASK:
        line = words.task(approvers, one_line(view.claimant) if view.claimant else "")
    elif view.state is CardState.RECORDING:
        line = words.recording(by)
    else:
        line = words.state_line(view.state.value, by, reason, view.duration)
    return f"{GLYPHS[view.state]} {line}"


def _buttons(view: CallView, *, needs_review: bool) -> tuple[Button, ...]:
    if view.state is CardState.UNKNOWN:
        return (
            _button(Action.MARK_DONE),
            _button(Action.RUN_AGAIN, confirm=True),
            _button(Action.ABANDON, style="danger"),
            _button(Action.REVIEW, in_menu=True),
        )
    if view.state is CardState.TASK:
        return (_button(Action.HAND_BACK if view.claimant else Action.CLAIM),)
    if view.state is not CardState.PENDING:
        return ()
    return tuple(_decision_buttons(view, needs_review))


def _decision_buttons(view: CallView, needs_review: bool) -> Iterable[Button]:
    if needs_review:
        yield _button(Action.REVIEW)
    else:
        yield _button(Action.APPROVE, confirm=view.risk == "high")
    if view.can_modify:
        yield _button(Action.MODIFY)
    yield _button(Action.REJECT, style="danger")
    if view.offered_rules:
        yield _button(Action.ALWAYS, in_menu=True)
    if not needs_review:
        yield _button(Action.REVIEW, in_menu=True)


def _button(
    action: Action, *, style: str = "plain", in_menu: bool = False, confirm: bool = False
) -> Button:
    return Button(
        action, words.BUTTONS[action], "danger" if style == "danger" else "plain", in_menu, confirm
    )


def _fallback(view: CallView, now: int) -> str:
    """The plain text of the message: no argument, no result, nobody's free words."""
    plain = replace(view, reason="")
    parts = [
        bare_title(view),
        f"{view.risk} risk",
        f"agent {one_line(view.agent)}",
        f"asked by {one_line(view.requester)}",
    ]
    if view.deadline is not None and view.state in _AWAITED:
        parts.append(words.deadline_line(view.deadline, now))
    parts += [words.code_line(short_code(view.digest)), *_outcome(plain)]
    return " · ".join(parts)
