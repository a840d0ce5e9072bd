"""What must hold for every string: what was allowed ran as told; what is denied did not run."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.permissions import profiles
from core.permissions.shell.denial import DenyRules
from core.permissions.shell.rules import AllowRules
from core.permissions.shell.words import Word, read_commands
from tests.fuzz.bash import Argv, Bash, Ran, may_run
from tests.fuzz.strings import DENIED

RULES = (
    *("git status:*", "git log *", "ls *", "cat:*", "head:*", "wc:*", "echo:*", "grep:*", "find:*"),
    *("npm test", "npm run test*", "git * origin", "make build", "sort:*", "printf x"),
)
HEADS = (
    *(("git", "status"), ("git", "log"), ("ls",), ("cat",), ("head",), ("wc",), ("echo",)),
    *(("grep",), ("find",), ("npm", "test"), ("npm", "run"), ("git",), ("make", "build")),
    *(("sort",), ("printf", "x")),
)
"""What the rules are about, said once more without the code under test."""

BATCH = 500

Judge = Callable[[str], Sequence[Sequence[Word]] | None]
"""The words of every part of a string that is allowed, or None."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A string that was judged wrongly, and what bash did."""

    text: str
    ran: Ran


@dataclass(frozen=True, slots=True)
class Report:
    """What a fuzz run did."""

    judged: int
    allowed: int
    ran: int
    violations: tuple[Violation, ...]


def judge_by_rules(rules: AllowRules) -> Judge:
    """The judgement under test."""

    def judge(text: str) -> Sequence[Sequence[Word]] | None:
        if isinstance(rules.covering(text), str):
            return None
        return [part.words for part in read_commands(text)]

    return judge


def shipped_judge() -> Judge:
    """`judge_by_rules` over `RULES` and the shipped profiles."""
    return judge_by_rules(AllowRules(RULES, profiles))


def check_allowed(texts: Iterable[str], judge: Judge, bash: Bash) -> Report:
    """Run everything that `judge` allows and compare what ran with what was read."""
    judged = allowed = ran = 0
    violations: list[Violation] = []
    waiting: dict[str, Sequence[Sequence[Word]]] = {}
    for text in texts:
        judged += 1
        words = judge(text)
        allowed += words is not None
        if words is not None and may_run(text):
            waiting[text] = words
    for batch in _batches(waiting):
        results = bash.run(batch)
        ran += len(results)
        violations.extend(
            Violation(text, result)
            for text, result in zip(batch, results, strict=True)
            if result.signs or not _as_read(result.programs, waiting[text])
        )
    return Report(judged, allowed, ran, tuple(violations))


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    left = iter(texts)
    while batch := list(itertools.islice(left, BATCH)):
        yield batch


def _as_read(ran: frozenset[Argv], read: Sequence[Sequence[Word]]) -> bool:
    """Whether exactly these commands ran, each under a rule."""
    if not all(any(argv[: len(head)] == head for head in HEADS) for argv in ran):
        return False
    return all(any(_same(argv, words) for words in read) for argv in ran) and all(
        any(_same(argv, words) for argv in ran) for words in read
    )


def _same(argv: Argv, words: Sequence[Word]) -> bool:
    if len(argv) != len(words):
        return False
    return all(
        text == word.text or (word.glob and "~" in word.text)
        for text, word in zip(argv, words, strict=True)
    )


def check_denied(strings: Iterable[tuple[str, str]], bash: Bash) -> Report:
    """Run what no deny rule catches; none of the denied programs may start."""
    rules = DenyRules([f"{name}:*" for name in DENIED])
    missed: dict[str, None] = {}
    judged = caught = 0
    for _, text in strings:
        judged += 1
        if rules.first(text) is not None:
            caught += 1
        elif may_run(text):
            missed[text] = None
    violations: list[Violation] = []
    for batch in _batches(missed):
        violations.extend(
            Violation(text, result)
            for text, result in zip(batch, bash.run(batch), strict=True)
            if any(argv[0].rsplit("/", 1)[-1] in DENIED for argv in result.programs)
        )
    return Report(judged, caught, len(missed), tuple(violations))
