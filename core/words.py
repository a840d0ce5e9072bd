"""Every word that people read, in one place: buttons, states, refusals.

Plain, short and exact. Functions take names and texts that were already drawn by `core.text`.
Times are whole milliseconds since 1970 (UTC), durations whole milliseconds.
"""

from datetime import UTC, datetime

from core.digest import Action

BUTTONS = {
    Action.APPROVE: "Approve once",
    Action.MODIFY: "Modify…",
    Action.REJECT: "Reject…",
    Action.ALWAYS: "Always allow…",
    Action.REVIEW: "Review…",
    Action.APPROVE_REVIEWED: "Approve once",
    Action.PAGE: "Next",
    Action.REVEAL: "Reveal secrets",
    Action.DETAILS: "Details",
    Action.ASK_AGENT: "Ask the agent",
    Action.SNOOZE: "Snooze",
    Action.NOTIFY_APPROVERS: "Notify approvers",
    Action.MARK_DONE: "Mark done",
    Action.RUN_AGAIN: "Run again",
    Action.ABANDON: "Abandon",
    Action.CLAIM: "Claim",
    Action.HAND_BACK: "Hand back",
    Action.SUBMIT: "Submit",
    Action.FIX: "Fix",
    Action.STOP: "Stop the agent",
    Action.CANCEL: "Cancel",
}
"""The label of each button. A "…" means that a dialog follows."""

CLAIM_LABEL = "The agent says (not verified)"
NO_ARGUMENTS = "No arguments."
NO_UNDO_KNOWN = "Not known whether this can be undone."
FOLDED = "Shortened here; Review… shows all of it."
SELF_APPROVAL = (
    "Requesters may approve their own low-risk calls here. Nobody else has looked at this."
)
REVIEW_REASONS = {
    "hidden_characters": "It has invisible characters.",
    "mixed_script": "It has letters that look like others.",
    "mixed_direction": "It mixes writing directions.",
    "combining_flood": "It has piled-up combining marks.",
    "blank_run": "It has a very long run of blanks.",
    "many_lines": "It has many lines.",
    "too_long": "It is too long for a card.",
    "masked": "It has masked secrets.",
}
"""Why Approve is not on the card, by the flag of `core.text`."""


def clock(at: int) -> str:
    """A time of day that everybody reads the same: "14:21 UTC"."""
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%H:%M UTC")


def duration(length: int) -> str:
    """A duration in its two largest units: "3 min 12 s"."""
    seconds = max(length, 0) // 1000
    if seconds < 1:
        return "less than 1 s"
    units = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
    parts: list[str] = []
    for name, size in units:
        if seconds >= size and len(parts) < 2:
            parts.append(f"{seconds // size} {name}")
            seconds %= size
        elif parts:
            break
    return " ".join(parts)


def counted(number: int, noun: str) -> str:
    """ "1 change", "2 changes"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def with_reason(text: str, reason: str) -> str:
    """`text`, and after a colon the reason if there is one."""
    return f"{text}: {reason}" if reason else text


# Private answers to the person who pressed.

BAD_TOKEN = "I can't read this button. Open the current card of this call."  # noqa: S105
WRONG_MESSAGE = "This card is a copy from somewhere else. Decide on the original."
OWN_REQUEST = "You asked for this, so somebody else has to decide."
OWN_AGENT = "This is your agent, so somebody else has to decide."
OWN_EDIT = "You edited this call, so somebody else has to approve it."
ALREADY_VOTED = "Your approval is already recorded."
NOT_RECORDED_YET = (
    "Your decision is not recorded yet. I keep trying; the card shows it once it is. "
    "Nothing runs before that."
)
TOO_LONG_TO_JUDGE = "The input is too long for a person to judge, so it was refused unseen."
WRONG_CODE = "That is not the code of this call. Read the call again and retype its code."
EDIT_HAS_HIDDEN = "The edit has invisible or look-alike characters. Type the value by hand."
EDIT_HAS_MASK = "The value still holds a mask. Leave the field as it was, or type the whole value."
EDIT_TOO_LONG = "The value is too long for this dialog."
REVIEW_FIRST = "This call can't be judged at a glance. Press Review… and approve on the last page."


def not_an_approver(approvers: str) -> str:
    """The presser is not in the set of those who decide."""
    return (
        f"You can't decide this one. Approvers: {approvers}. "
        f"Ask them, or press {BUTTONS[Action.NOTIFY_APPROVERS]}."
    )


def could_not_check(why: str) -> str:
    """Whether the presser may decide could not be found out."""
    return (
        f"I couldn't verify your group right now ({why}). Nothing was recorded. "
        "Try again in a minute."
    )


def already_decided(by: str, verb: str, ago: int, reason: str = "") -> str:
    """Somebody was faster. `verb` is "approved", "rejected", …; `ago` in milliseconds."""
    return with_reason(
        f"{by} already {verb} this {duration(ago)} ago", reason and f"'{reason}'"
    ) + ("" if reason else ".")


def expired(at: int) -> str:
    """The deadline passed."""
    return f"This expired at {clock(at)} and was not run. The agent was told nobody answered."


def vote_counted(votes: int, quorum: int, waiting_for: str) -> str:
    """The approval counts, and more are needed."""
    return (
        f"Your approval is recorded ({votes} of {quorum}). Waiting for someone from {waiting_for}."
    )


def changed_since_shown(link: str) -> str:
    """The call has a newer revision than the card that was pressed."""
    return f"The call changed after this card was posted. The current card: {link}"


def old_card(link: str) -> str:
    """The card was posted by an older release."""
    return f"This card comes from an older release. Open the current one: {link}"


# Lines of a card.


def waiting(approvers: str, votes: tuple[str, ...], quorum: int) -> str:
    """The call is open; `votes` are the people who approved so far."""
    if quorum == 1:
        return f"Waiting for {approvers}."
    so_far = f"{len(votes)} of {quorum} approved"
    return f"{with_reason(so_far, ', '.join(votes))}. Waiting for {approvers}."


def task(fulfillers: str, claimant: str) -> str:
    """People are asked to do it themselves and to answer with the result."""
    if claimant:
        return f"Claimed by {claimant}, who answers with the result."
    return f"Work for people: {fulfillers}. Whoever takes it answers with the result."


def recording(by: str) -> str:
    """Somebody pressed; the store has not answered."""
    return f"Recording {by}'s decision…"


def approved(by: str, at: int | None, waited: int | None, changes: int) -> str:
    """The decision, as it stays on the card."""
    how = f"with {counted(changes, 'change')}" if changes else "once"
    line = f"Approved {how} by {by}"
    if at is not None:
        line += f" at {clock(at)}"
    return line if waited is None else f"{line} · waited {duration(waited)}"


def deadline_line(deadline: int, now: int) -> str:
    """When the answer is due, for places without a native timestamp."""
    return f"answer before {clock(deadline)} (in {duration(deadline - now)})"


def code_line(code: str) -> str:
    """The short code, in two halves that can be read out."""
    return f"#{code[:4]}-{code[4:]}"


def edited(by: str) -> str:
    """The input is not what the agent wrote."""
    return f"{by} changed the input. The changes are listed below."


def state_line(state: str, by: str, reason: str, length: int | None) -> str:
    """One line for each state after the question; `length` is how long the run took."""
    took = "" if length is None else f" {'after' if state == 'failed' else 'in'} {duration(length)}"
    lines = {
        "approved": f"Approved once by {by}",
        "running": "Running…",
        "completed": f"Completed{took}",
        "failed": with_reason(f"Failed{took}", reason),
        "unknown": with_reason(
            "Outcome unknown: it started and its end is not proven. "
            "Check whether it happened before anybody runs it again",
            reason,
        ),
        "rejected": with_reason(f"Rejected by {by}", reason),
        "denied": with_reason("Refused by policy", reason),
        "expired": "Nobody answered in time; not run",
        "lapsed": "The approval was not used in time; not run",
        "cancelled": with_reason(f"Cancelled by {by}; not run", reason),
        "replaced": "Replaced by a newer request",
        "abandoned": f"Given up by {by}: outcome unknown, not repeated",
    }
    line = lines[state]
    return line if line.endswith("…") else f"{line}."
