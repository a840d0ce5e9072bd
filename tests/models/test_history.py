"""A conversation is sent whole each turn, but an old block is converted only once."""

from adapters.models.history import History
from core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock, ToolResultState, user_msg


def rounds(count: int) -> list[Msg]:
    done = "2026-01-01T00:00:00.000000"
    reply = Msg(name="ops", role="assistant", content=[])
    for number in range(count):
        call_id = f"c{number}"
        reply.content += [
            TextBlock(text=f"round {number}", finished_at=done),
            ToolCallBlock(id=call_id, name="Bash", input="{}", finished_at=done),
            ToolResultBlock(
                id=call_id,
                name="Bash",
                output="ok",
                state=ToolResultState.SUCCESS,
                finished_at=done,
            ),
        ]
    return [user_msg("go"), reply]


def test_old_blocks_are_converted_once() -> None:
    """The next turn, read back from a store, reuses every part of the turns before."""
    history = History()
    question, reply = rounds(21)
    shorter = reply.model_copy(update={"content": reply.content[:60]})
    first = history.convert([question, shorter])
    later = history.convert([Msg.model_validate(msg.model_dump()) for msg in (question, reply)])

    old = [part for message in first[1:] for part in message.parts]
    again = [part for message in later[1:] for part in message.parts]
    kept = {id(part) for part in again}
    assert sum(id(part) in kept for part in old) == 60
    assert len(again) == 63
    assert [message.kind for message in later] == ["request", *["response", "request"] * 21]
