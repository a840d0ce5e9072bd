"""Conditions on arguments: `refund(amount<=100, currency=EUR)`.

A condition is an argument, one of ``= != < <= > >=``, and a value. All must hold. The argument is
its name, or a JSON pointer into nested input (`/order/lines/0/sku`). The value is JSON (`100`,
`true`, `null`, `"EUR"`) or a bare word, which is text. Values are typed: `amount=100` is the
number, `amount="100"` the text. Order is for numbers alone. There are no patterns.

A condition that can't be decided, because the argument is missing or of another type, counts
against the call: an allow rule does not cover it, a deny or ask rule does.
"""

import json
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from core.errors import RuleRefused
from core.permissions.opinions import EverythingCovered
from core.permissions.rules import PermissionBehavior, PermissionRule
from core.tools import Input, RuleIndex

Scalar = str | int | float | bool | None

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}
_OPERATORS = ("<=", ">=", "!=", "<", ">", "=")  # longest first: `<=` is not `<` and `=...`
_MAX_CONDITIONS = 16
_REMEDY = 'Write conditions like amount<=100, currency=EUR, /order/id="A 1".'


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison. `steps` leads into the input."""

    steps: tuple[str, ...]
    operator: str
    value: Scalar

    def holds(self, value: Input) -> bool | None:
        """Whether it holds; none if it can't be decided."""
        found, actual = _walk(value, self.steps)
        if not found or _kind(actual) != _kind(self.value):
            return None
        if self.operator in ("=", "!="):
            return (actual == self.value) == (self.operator == "=")
        if isinstance(actual, int | float) and isinstance(self.value, int | float):
            return _COMPARE[self.operator](actual, self.value)
        return None


def parse_conditions(content: str) -> tuple[Condition, ...]:
    """Read the pattern of a rule over arguments.

    Raises:
        RuleRefused: it can't be read; says where.
    """
    parts = _split(content)
    if len(parts) > _MAX_CONDITIONS:
        raise RuleRefused(f"More than {_MAX_CONDITIONS} conditions.", "Write several rules.")
    return tuple(_condition(part.strip()) for part in parts)


def check_argument_rule(rule: PermissionRule) -> None:
    """Refuse conditions that can't be read.

    Raises:
        RuleRefused: says what to write instead.
    """
    if rule.rule_content:
        parse_conditions(rule.rule_content)


def argument_index(rules: Sequence[PermissionRule]) -> RuleIndex:
    """The index for rules that are all of one behaviour."""
    read: list[tuple[PermissionRule, tuple[Condition, ...]]] = []
    for rule in rules:
        try:
            read.append((rule, parse_conditions(rule.rule_content or "")))
        except RuleRefused:
            if rule.behavior is not PermissionBehavior.ALLOW:
                return EverythingCovered(rule)
    return ArgumentRules(read)


@dataclass(frozen=True, slots=True)
class _Filed:
    """Rules whose first equality is about one argument, by the value it must have."""

    kinds: set[str] = field(default_factory=set[str])
    all: list[int] = field(default_factory=list[int])
    equal: defaultdict[tuple[str, Scalar], list[int]] = field(
        default_factory=lambda: defaultdict[tuple[str, Scalar], list[int]](list)
    )


class ArgumentRules:
    """Rules over arguments, filed under the first equality each asks for."""

    def __init__(self, rules: Sequence[tuple[PermissionRule, tuple[Condition, ...]]]) -> None:
        self._rules = tuple(rules)
        self._rest: list[int] = []
        self._filed: dict[tuple[str, ...], _Filed] = {}
        for position, (_, conditions) in enumerate(self._rules):
            self._file(position, conditions)

    def _file(self, position: int, conditions: tuple[Condition, ...]) -> None:
        equality = next((each for each in conditions if each.operator == "="), None)
        if equality is None:
            self._rest.append(position)
            return
        filed = self._filed.setdefault(equality.steps, _Filed())
        kind = _kind(equality.value)
        filed.kinds.add(kind)
        filed.all.append(position)
        filed.equal[(kind, equality.value)].append(position)

    def find(self, value: Input) -> PermissionRule | None:
        """The first rule whose conditions all hold, or for deny and ask may hold."""
        for position in self._candidates(value):
            rule, conditions = self._rules[position]
            undecided = rule.behavior is not PermissionBehavior.ALLOW
            held = (condition.holds(value) for condition in conditions)
            if all(undecided if each is None else each for each in held):
                return rule
        return None

    def _candidates(self, value: Input) -> list[int]:
        candidates = list(self._rest)
        for steps, filed in self._filed.items():
            found, actual = _walk(value, steps)
            kind = _kind(actual)
            decided = found and filed.kinds == {kind}
            candidates += filed.equal.get((kind, actual), ()) if decided else filed.all
        return sorted(candidates)


def _split(content: str) -> list[str]:
    """The conditions, split at commas outside quotes."""
    parts = [""]
    quoted = escaped = False
    for character in content:
        if character == "," and not quoted:
            parts.append("")
            continue
        parts[-1] += character
        if quoted and character == "\\" and not escaped:
            escaped = True
            continue
        if character == '"' and not escaped:
            quoted = not quoted
        escaped = False
    return parts


def _condition(text: str) -> Condition:
    at, operator = min(
        ((text.find(each), each) for each in _OPERATORS if each in text),
        key=lambda found: (found[0], -len(found[1])),
        default=(-1, ""),
    )
    argument, value = text[:at].strip(), text[at + len(operator) :].strip()
    if at < 1 or not argument or not value:
        raise RuleRefused("A condition is an argument, a comparison and a value.", _REMEDY)
    read = _value(value)
    if operator in _COMPARE and _kind(read) != "number":
        raise RuleRefused("Only numbers have an order.", "Compare text with = or !=.")
    return Condition(_steps(argument), operator, read)


def _steps(argument: str) -> tuple[str, ...]:
    if argument.startswith("/"):
        return tuple(step.replace("~1", "/").replace("~0", "~") for step in argument[1:].split("/"))
    if any(character in argument for character in "\"'(){}[]<>=!&|/ \t"):
        raise RuleRefused("This is not an argument's name.", _REMEDY)
    return (argument,)


def _value(text: str) -> Scalar:
    try:
        read = json.loads(text)
    except ValueError:
        if any(character in text for character in "\"'(){}[]<>=!&|*\\"):
            raise RuleRefused(
                "A bare word can't hold quotes, brackets or signs.", 'Quote it: name="a (b)".'
            ) from None
        return text
    if isinstance(read, str | bool | int) or read is None:
        return read
    if isinstance(read, float) and math.isfinite(read):
        return read
    raise RuleRefused("A condition compares with one plain value.", _REMEDY)


def _walk(value: Input, steps: tuple[str, ...]) -> tuple[bool, Scalar]:
    """What the steps lead to; a container is nothing that a condition compares with."""
    at: Any = value
    for step in steps:
        if isinstance(at, Mapping) and step in at:
            at = cast("Mapping[str, Any]", at)[step]
        elif isinstance(at, list) and _is_position(step, items := cast("Sequence[Any]", at)):
            at = items[int(step)]
        else:
            return False, None
    return _kind(at) != "other", at


def _is_position(step: str, items: Sequence[Any]) -> bool:
    return step.isascii() and step.isdigit() and len(step) < 7 and int(step) < len(items)


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, float) and not math.isfinite(value):
        return "other"  # NaN is neither above nor below a bound
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    return "null" if value is None else "other"
