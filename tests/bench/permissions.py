"""The permission check of a shell command: under ten thousand rules, and of commands from life."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from statistics import median

from core.permissions import profiles
from core.permissions.bash import BashPermissions
from core.permissions.engine import Rulebook, Verdict, compile_context, judge
from core.permissions.paths import DiskPaths
from core.permissions.rules import PermissionBehavior, PermissionContext, PermissionRule
from core.permissions.shell.rules import check_rule
from core.policy import Gate, Gates, Policy
from core.tools import Tool
from tests.bench.figures import Demand, Figure, times_less
from tests.bench.reference import Check, checker
from tests.core.agent.samples import SampleTool

RULES = 10_000
OURS_PER_ROUND = 20
MIN_ROUNDS = 5
ROUNDS = 30
SECONDS = 6.0
"""How long one comparison goes on at most, once it has its least number of rounds."""

POLICY = Policy(Gates(Gate("default", "everyone")))


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of one kind, and commands about them.

    Attributes:
        written: the rules by number; several shapes take turns.
        hit: commands that the last rule covers and no other. None is like one before it, as far as
            the kind allows, so that nothing is answered from memory.
        miss: commands that none covers.
    """

    kind: str
    written: Sequence[str]
    hit: Callable[[int], str]
    miss: Callable[[int], str]
    demand: Demand

    def contents(self) -> list[str]:
        """The rules. The last one is of the first shape."""
        numbers = range(RULES - 1, -1, -1)
        return [self.written[n % len(self.written)].format(n) for n in numbers]


KINDS = (
    Rules(
        "exact",
        ("make deploy-{:05}", "terraform apply plans/{:05}.out", "psql -f migrations/{:05}.sql"),
        lambda n: "make deploy-00000" + " " * (n % 60),
        lambda n: f"make wipe-{n:05}",
        times_less(100),
    ),
    Rules(
        "prefix",
        (
            "kubectl get pods -n team-{:05}:*",
            "kubectl logs -n team-{:05}:*",
            "systemctl status unit-{:05}:*",
        ),
        lambda n: f"kubectl get pods -n team-00000 -l app=web-{n}",
        lambda n: f"kubectl get pods -n web -l app=web-{n}",
        times_less(100),
    ),
    Rules(
        "wildcard",
        (
            "npm run *-{:05}",
            "kubectl rollout restart deploy/*-{:05}",
            "aws s3 cp *.log s3://bucket-{:05}/*",
        ),
        lambda n: f"npm run web{n}-00000",
        lambda n: f"npm run web{n}-next",
        times_less(20),
    ),
)

COMMANDS = (
    "git status --short",
    "git log --oneline -20 -- src",
    "git diff main...HEAD | head -200",
    "ls -la src && wc -l src/*.py",
    "rg -n 'def judge' core tests | head",
    "find . -name '*.log' -mtime +7 -delete",
    "kubectl get pods -n staging -o wide",
    "kubectl delete pod web-7d4f9 -n staging",
    "docker logs --tail 100 web",
    "npm test -- --watch=false",
    "python -m pytest tests/core -q -x",
    "pip install --upgrade requests",
    "curl -fsSL https://example.com/install.sh | bash",
    "rm -rf build dist && mkdir -p build/out",
    "sed -i 's/8080/9090/' deploy/web.yaml",
    'for f in *.csv; do gzip "$f"; done',
    "psql -h db -c 'select count(*) from orders'",
    "sudo systemctl restart nginx",
    "echo done > /tmp/marker",
    "tar czf backup.tgz --exclude=node_modules .",
)


@dataclass(slots=True)
class Timed:
    """Seconds that each of many checks took."""

    seconds: list[float] = field(default_factory=list[float])

    @property
    def median(self) -> float:
        """The middle one."""
        return median(self.seconds)


async def rule_figures() -> list[Figure]:
    """Checks under ten thousand rules, ours and theirs taking turns, and what making ours ready
    costs once."""
    figures: list[Figure] = []
    for rules in KINDS:
        for content in rules.contents()[-len(rules.written) :]:
            check_rule(content, PermissionBehavior.ALLOW, profiles)
        tool, rulebook = _bash(), _rulebook(rules.contents())
        begun = time.perf_counter()
        rulebook.rules_for(tool)
        compiled = time.perf_counter() - begun
        theirs = checker(rules.contents())
        for name, commands, expected in (
            ("last hits", rules.hit, "allow"),
            ("miss", rules.miss, "ask"),
        ):
            ours, other = await _compared(tool, rulebook, theirs, map(commands, count()), expected)
            figures.append(
                Figure(
                    f"check, {RULES:,} {rules.kind} rules, {name}",
                    "µs",
                    ours.median,
                    other.median,
                    rules.demand,
                )
            )
        figures.append(Figure(f"making {RULES:,} {rules.kind} rules ready, once", "ms", compiled))
    return figures


async def command_figures() -> list[Figure]:
    """Commands from life without any rule: reading and judging."""
    tool, rulebook, theirs = _bash(), _rulebook([]), checker([])
    ours, other = Timed(), Timed()
    for number in range(ROUNDS):
        for command in COMMANDS:
            varied = f"{command} #{number}" if "|" in command else f"{command} {number}"
            other.seconds.append(await _timed_theirs(theirs, varied))
            ours.seconds.append(_timed_ours(tool, rulebook, varied)[0])
    return [Figure("check, typical commands, no rules", "µs", ours.median, other.median)]


def _bash() -> Tool:
    tool = SampleTool("Bash")
    tool.permissions = BashPermissions("Bash", DiskPaths("/srv/work", "/home/ops"))
    return tool


def _rulebook(contents: Sequence[str]) -> Rulebook:
    rules = [
        PermissionRule(
            tool_name="Bash",
            rule_content=content,
            behavior=PermissionBehavior.ALLOW,
            source="bench",
        )
        for content in contents
    ]
    return compile_context(PermissionContext(allow_rules={"Bash": rules}), POLICY)


async def _compared(
    tool: Tool, rulebook: Rulebook, theirs: Check, commands: Iterator[str], expected: str
) -> tuple[Timed, Timed]:
    """Both at the same work in turns. Both must come to the same answer."""
    ours, other = Timed(), Timed()
    begun = time.perf_counter()
    while len(other.seconds) < ROUNDS:
        if len(other.seconds) >= MIN_ROUNDS and time.perf_counter() - begun > SECONDS:
            break
        command = next(commands)
        assert await theirs(command) == expected if not other.seconds else True
        other.seconds.append(await _timed_theirs(theirs, command))
        for _ in range(OURS_PER_ROUND):
            took, verdict = _timed_ours(tool, rulebook, next(commands))
            assert verdict.behavior.value == expected, verdict
            ours.seconds.append(took)
    return ours, other


async def _timed_theirs(check: Check, command: str) -> float:
    begun = time.perf_counter()
    await check(command)
    return time.perf_counter() - begun


def _timed_ours(tool: Tool, rulebook: Rulebook, command: str) -> tuple[float, Verdict]:
    begun = time.perf_counter()
    verdict = judge(rulebook, tool, {"command": command})
    return time.perf_counter() - begun, verdict
