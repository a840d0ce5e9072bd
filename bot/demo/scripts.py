"""Answers that were written beforehand, for the demo without a person."""

from typing import Literal, TypeAlias

ScriptName: TypeAlias = Literal["approve", "mixed", "reject"]

SCRIPTS: dict[ScriptName, tuple[str, ...]] = {
    "approve": (
        '{"tool": "Bash", "answer": "approve"}',
        '{"tool": "Edit", "answer": "approve"}',
        '{"tool": "ask_customer", "answer": "fulfil", "input": {"confirmed": true}}',
    ),
    "mixed": (
        '{"tool": "Bash", "answer": "modify", "input": {"command": "rm logs/app.log.4"}}',
        '{"tool": "Edit", "answer": "reject", "text": "30 is what the audit asks for"}',
        '{"tool": "ask_customer", "answer": "fulfil", "input": {"confirmed": true}}',
    ),
    "reject": (
        '{"tool": "Bash", "answer": "reject", "text": "the customer wants to keep them"}',
        '{"tool": "Edit", "answer": "reject"}',
        '{"tool": "ask_customer", "answer": "fulfil", "input": {"confirmed": false}}',
    ),
}
