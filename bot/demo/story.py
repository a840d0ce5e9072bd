"""The demo's agent: a scripted model that reads the conversation and takes the next step.

It keeps nothing in memory, so it goes on in another process as a language model would.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

from core.messages import Msg, TextBlock, ToolResultBlock, ToolResultState, Usage
from core.ports import CallDelta, ModelDone, ModelEvent, TextDelta, ToolChoice, ToolSpec

REQUEST = (
    "The disk of the staging server fills up with logs. Please clean up, and see to it that it"
    " does not happen again. Ask our customer Rivera first whether the old logs may go."
)
DELETE = "rm logs/app.log.2 logs/app.log.3 logs/app.log.4"


@dataclass(frozen=True, slots=True)
class Step:
    """What the model says, and the calls it makes: (id, tool, input)."""

    text: str
    calls: tuple[tuple[str, str, Mapping[str, object]], ...] = ()


LOOK = Step(
    "I'll look at the logs and at the configuration first. That only reads.",
    (
        ("look-logs", "Bash", {"command": "ls -l logs"}),
        ("look-config", "Read", {"file_path": "config/logs.conf"}),
    ),
)
PROPOSE = Step(
    "Three of the rotated logs are older than a day. I'd delete those, keep 7 instead of 30 from"
    " now on, and have somebody ask the customer.",
    (
        ("delete", "Bash", {"command": DELETE}),
        (
            "edit",
            "Edit",
            {"file_path": "config/logs.conf", "old_string": "keep = 30", "new_string": "keep = 7"},
        ),
        (
            "customer",
            "ask_customer",
            {"customer": "Rivera", "question": "May logs older than one day be deleted?"},
        ),
    ),
)
VERIFY = Step(
    "Now I'll check what is there.",
    (
        ("verify-logs", "Bash", {"command": "ls -l logs"}),
        ("verify-config", "Bash", {"command": "cat config/logs.conf"}),
    ),
)


def next_step(messages: Sequence[Msg]) -> Step:
    """The step that follows from what has been done since the last request."""
    done = _results(messages)
    for step in (LOOK, PROPOSE, VERIFY):
        if not all(call_id in done for call_id, _, _ in step.calls):
            return step
    return Step(_summary(done))


def _results(messages: Sequence[Msg]) -> dict[str, ToolResultBlock]:
    requests = [index for index, message in enumerate(messages) if message.role == "user"]
    since = messages[requests[-1] :] if requests else messages
    return {
        block.id: block
        for message in since
        for block in message.content
        if isinstance(block, ToolResultBlock)
    }


def _summary(done: Mapping[str, ToolResultBlock]) -> str:
    return "\n".join(
        (
            "Done. In short:",
            f"- Old logs: {_how(done['delete'], 'the deletion ran')}.",
            f"- Configuration: {_how(done['edit'], 'changed')}.",
            f"- Customer: {_customer(done['customer'])}.",
            f"What is there now:\n{_text(done['verify-logs']).rstrip()}",
        )
    )


def _how(result: ToolResultBlock, well: str) -> str:
    if result.state is ToolResultState.SUCCESS:
        return well
    if result.state is ToolResultState.DENIED:
        return "left alone, because a person said no"
    return f"not done ({' '.join(_text(result).split())[:160]})"


def _customer(result: ToolResultBlock) -> str:
    if result.state is not ToolResultState.SUCCESS:
        return "nobody could ask"
    answer = result.metadata.get("confirmed")
    return "agreed" if answer is True else f"answered: {_text(result)[:160]}"


def _text(result: ToolResultBlock) -> str:
    if isinstance(result.output, str):
        return result.output
    return "".join(block.text for block in result.output if isinstance(block, TextBlock))


class DemoModel:
    """The scripted model."""

    name = "scripted:demo"

    async def stream(
        self,
        messages: Sequence[Msg],
        tools: Sequence[ToolSpec],
        choice: ToolChoice = "auto",
    ) -> AsyncIterator[ModelEvent]:
        """One turn of the script."""
        step = next_step(messages)
        yield TextDelta(step.text)
        if choice != "none":
            for index, (call_id, tool, value) in enumerate(step.calls):
                yield CallDelta(index, call_id, tool, json.dumps(value))
        yield ModelDone(Usage())
