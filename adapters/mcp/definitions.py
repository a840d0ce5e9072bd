"""What an MCP server says of a tool, and how much of it counts."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping

from mcp_types import Tool as Listed

from core.permissions.functions import FunctionPermissions
from core.permissions.opinions import safety_ask
from core.tools import Traits

MAX_NAME = 64
"""Characters of a tool's name. Source: the published limit of OpenAI's and Anthropic's APIs, which
also allow nothing but letters, digits, "_" and "-"."""

_DIGEST = 8


def tool_name(server: str, tool: str) -> str:
    """The name that model, rules and gates use: ``mcp__server__tool``.

    A tool whose name holds other characters or is too long gets a piece of its hash, so that two
    tools never share a name, and a name never passes to another tool.
    """
    prefix = f"mcp__{server}__"
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", tool)
    room = MAX_NAME - len(prefix)
    if plain == tool and tool and len(tool) <= room:
        return prefix + tool
    mark = hashlib.sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{prefix}{plain[: room - _DIGEST - 1]}_{mark}"


def pin(listed: Listed) -> str:
    """A hash of all that a decision about the tool rests on: name, schema and hints."""
    hints = listed.annotations.model_dump(exclude_none=True) if listed.annotations else {}
    shape = {"name": listed.name, "input_schema": listed.input_schema, "annotations": hints}
    text = json.dumps(shape, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def changed(stored: Mapping[str, str], pins: Mapping[str, str]) -> list[str]:
    """Names whose stored pin is not the present one; rules that allow them must not hold.

    Args:
        stored: pins by tool name, as they were when the rules were made.
        pins: pins by tool name now.
    """
    return sorted(name for name, old in stored.items() if pins.get(name) != old)


def traits(listed: Listed, *, trusted: bool) -> Traits:
    """What the tool is like. Hints of a server that is not trusted count for nothing; hints that
    are missing count as the specification's cautious defaults."""
    hints = listed.annotations if trusted else None
    if hints is None:
        return Traits(concurrency_safe=False)
    reads = bool(hints.read_only_hint)
    harmless = reads and hints.open_world_hint is False
    return Traits(
        read_only=harmless,
        idempotent=bool(hints.idempotent_hint),
        concurrency_safe=reads,
        risk="low" if harmless else "high" if _may_destroy(listed) else "medium",
    )


def permissions(name: str, listed: Listed, *, trusted: bool) -> FunctionPermissions:
    """How calls are judged. A trusted server that does not rule out destruction gets a safety ask:
    an allow rule can't silence it, only a rule of the operator's that names its gate."""
    if trusted and _may_destroy(listed):
        own = safety_ask("the server does not rule out that this tool destroys something")
        return FunctionPermissions(name, own=own)
    return FunctionPermissions(name, read_only=traits(listed, trusted=trusted).read_only)


def _may_destroy(listed: Listed) -> bool:
    hints = listed.annotations
    return hints is not None and not hints.read_only_hint and hints.destructive_hint is not False


def claims(listed: Listed) -> tuple[str, ...]:
    """What the server claims of the tool, in words for people who decide."""
    hints = listed.annotations
    if hints is None:
        return ()
    said: Iterable[tuple[bool | None, bool, str]] = (
        (hints.read_only_hint, True, "only reads"),
        (hints.destructive_hint, False, "destroys nothing"),
        (hints.destructive_hint, True, "may destroy something"),
        (hints.idempotent_hint, True, "may be repeated without harm"),
        (hints.open_world_hint, False, "stays inside its own system"),
    )
    return tuple(words for hint, wanted, words in said if hint is wanted)
