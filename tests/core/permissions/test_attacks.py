"""What a hostile agent tries so that something runs without a person."""

import pytest

from core.permissions import profiles
from core.permissions.shell.readonly import is_read_only
from core.permissions.shell.rules import AllowRules
from tests.core.permissions.attack_lines import NEVER_ALLOWED, STILL_ALLOWED


def runs_unasked(line: str) -> bool:
    rules, _, command = line.partition(" | ")
    contents = [rule.strip() for rule in rules.split(";;")]
    covered = AllowRules(contents, profiles).covering(command)
    return not isinstance(covered, str) or is_read_only(command, profiles)


@pytest.mark.parametrize("line", NEVER_ALLOWED)
def test_neither_a_rule_nor_the_read_only_list_lets_it_run(line: str) -> None:
    """It writes, executes, sends, reads secrets or takes its orders from a file."""
    assert not runs_unasked(line)


@pytest.mark.parametrize("line", STILL_ALLOWED)
def test_its_harmless_neighbours_run(line: str) -> None:
    """Asking about everything would keep attacks out as well; that is no answer."""
    assert runs_unasked(line)
