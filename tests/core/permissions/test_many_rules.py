"""Ten thousand rules on one tool cost a look-up, not a scan."""

from time import perf_counter
from typing import Any

import pytest

from core.permissions.bash import BashPermissions
from core.permissions.engine import compile_context, judge
from tests.core.permissions.samples import PATHS, SampleTool, context, function, policy, rule, write

BASH = SampleTool("Bash", BashPermissions("Bash", PATHS))
MANY = 10_000


def cost(tool: SampleTool, behavior: str, contents: list[str], value: dict[str, Any]) -> float:
    """The shortest of many times to judge one call, in seconds."""
    rules = [rule(behavior, tool.name, content) for content in contents]
    book = compile_context(context(rules), policy())
    times: list[float] = []
    for _ in range(200):
        began = perf_counter()
        judge(book, tool, value)
        times.append(perf_counter() - began)
    return min(times)


@pytest.mark.parametrize("behavior", ["allow", "deny"])
@pytest.mark.parametrize(
    ("tool", "pattern", "value"),
    [
        (write(), "/srv/work/dir{}/f.txt", {"file_path": "/srv/work/dirX/f.txt"}),
        (write(), "/srv/work/dir{}/**", {"file_path": "/srv/work/dirX/f.txt"}),
        (write(), "/srv/*/dir{}/*.txt", {"file_path": "/srv/work/dirX/f.txt"}),
        (function(), "customer=c{}", {"customer": "cX"}),
        (BASH, "npm run task{}", {"command": "npm run taskX"}),
        (BASH, "git log v{}:*", {"command": "git log vX"}),
        (BASH, "npm * task{}", {"command": "npm run taskX"}),
    ],
    ids=["exact path", "directory", "path", "argument", "exact command", "prefix", "command"],
)
def test_many_rules_cost_little_more_than_few(
    behavior: str, tool: SampleTool, pattern: str, value: dict[str, Any]
) -> None:
    """A thousand times the rules, less than four times the time."""
    few = cost(tool, behavior, [pattern.format(number) for number in range(10)], value)
    many = cost(tool, behavior, [pattern.format(number) for number in range(MANY)], value)

    assert many < 4 * few + 20e-6
