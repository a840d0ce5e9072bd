"""`reference_wire`: every dump of the reference validates here and comes back the same."""

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from core import events, messages, state
from core.permissions import rules
from tests.conformance.outcome import Outcome, same, wrong

# The reference's names for what has another name here.
T = TypeVar("T")

RENAMED = {"AdditionalWorkingDirectory": "WorkingDirectory", "TaskContext": "TasksContext"}
# In-process only: no event, message or state of the reference holds one.
NOT_ON_THE_WIRE = frozenset({"ToolChunk"})


def run(folder: Path) -> Iterator[Outcome]:
    """Every dump, and what is said about the models."""
    wire = json.loads((folder / "reference_wire.json").read_text(encoding="utf-8"))["wire"]
    for part in ("events", "blocks", "models"):
        for name, dump in wire[part].items():
            if name not in NOT_ON_THE_WIRE:
                yield from _round_trip(name, dump, wire["key_order"].get(name))
    for name, values in wire["enums"].items():
        yield same(set(values), _enum(name), f"enum {name}")
    yield from _unknown_fields(wire)
    for name, fields in wire["required_fields"].items():
        required = {key for key, info in _model(name).model_fields.items() if info.is_required()}
        yield same(set(fields), required, f"required fields of {name}")
    legacy = wire["legacy_state_migration"]
    migrated = state.AgentState.model_validate(legacy["in"]).reply_context.model_dump(mode="json")
    yield same(legacy["reply_context"], migrated, "legacy state")
    yield from _schemas(wire["json_schemas"])


def _round_trip(name: str, dump: dict[str, Any], order: list[str] | None) -> Iterator[Outcome]:
    try:
        loaded = _model(name).model_validate(dump)
        back = json.loads(loaded.model_dump_json())
        yield same(json.dumps(dump), json.dumps(back), f"dump of {name}")
        if name.partition("/")[0].endswith("Event"):
            event = events.AGENT_EVENT.validate_json(json.dumps(dump))
            yield same(type(loaded), type(event), f"type of {name}")
        yield same(order or list(back), list(back), f"key order of {name}")
    except ValidationError as error:
        yield wrong(f"{name} does not validate: {error}")


def _unknown_fields(wire: Mapping[str, Any]) -> Iterator[Outcome]:
    dumps = {**wire["events"], **wire["blocks"], **wire["models"]}
    for name, treatment in wire["unknown_fields"].items():
        dump = next(each for key, each in dumps.items() if key.partition("/")[0] == name)
        back = _model(name).model_validate({**dump, "x_new": 1}).model_dump(mode="json")
        yield same(treatment, "kept" if "x_new" in back else "dropped", f"unknown fields of {name}")


def _schemas(schemas: Mapping[str, Any]) -> Iterator[Outcome]:
    """Every property of the reference's published schemas exists here, as required as there."""
    for name, schema in schemas.items():
        ours = _model(name).model_json_schema()
        yield same(set(schema["properties"]), set(ours["properties"]), f"properties of {name}")
        yield same(
            set(schema.get("required", ())), set(ours.get("required", ())), f"required in {name}"
        )


def _model(name: str) -> type[BaseModel]:
    plain = name.partition("/")[0]
    return _find(RENAMED.get(plain, plain), BaseModel)


def _enum(name: str) -> set[str]:
    if name == "EventType":
        members = get_args(get_args(events.AgentEvent)[0])
        return {member.model_fields["type"].default for member in members}
    if name == "ModelFinishedReason":
        return set(get_args(events.FinishedReason))
    return {member.value for member in _find(name, StrEnum)}


def _find(name: str, kind: type[T]) -> type[T]:
    places: tuple[ModuleType, ...] = (events, messages, state, rules)
    for place in places:
        found = getattr(place, name, None)
        if isinstance(found, type) and issubclass(found, kind):
            return found
    raise LookupError(name)
