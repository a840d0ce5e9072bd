"""What holds of every verdict, whatever rules, modes and calls."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from core.permissions.engine import Verdict, compile_context, judge
from core.permissions.opinions import NO_OPINION, allowed, safety_ask
from core.permissions.rules import (
    AutoRunMode,
    PermissionBehavior,
    PermissionMode,
    PermissionRule,
)
from core.policy import Gate, Policy
from core.tools import Input, PermissionDecision
from tests.core.permissions.samples import (
    SampleTool,
    context,
    function,
    gate,
    policy,
    read,
    rule,
    write,
)

STRICTNESS = [PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY]
DENIAL = PermissionDecision(PermissionBehavior.DENY, "no")

names = st.sampled_from(["fn", "f*", "Write", "Read", "*", "other"])
contents = st.sampled_from(
    [None, "", "x=1", "x>0", "broken((", "*", "/srv/**", "src/*", "*.env", "[a-"]
)
rules = st.lists(
    st.builds(rule, st.sampled_from(["allow", "deny", "ask"]), names, contents), max_size=6
)
modes = st.sampled_from(PermissionMode)
auto_runs = st.sampled_from(AutoRunMode)
gates = st.lists(
    st.builds(
        gate,
        st.sampled_from(["g", "h"]),
        st.sampled_from(["fn", "fn(x>0)", "Write", "f*", "fn("]),
        quorum=st.integers(1, 2),
    ),
    max_size=2,
)
opinions = st.sampled_from([NO_OPINION, allowed("fine"), safety_ask("x"), DENIAL])
functions = st.builds(
    function, read_only=st.booleans(), own=opinions, requires_confirmation=st.booleans()
)
files = st.sampled_from([write(), read()])
paths = st.sampled_from(["/srv/work/src/a", "src/a", "../a", "/srv/.env", "", "~/x", "a[b]"])
calls: st.SearchStrategy[tuple[SampleTool, Input]] = st.one_of(
    st.tuples(functions, st.fixed_dictionaries({}, optional={"x": st.sampled_from([0, 1, "1"])})),
    st.tuples(files, st.fixed_dictionaries({"file_path": paths})),
)


def answer(
    given_rules: Sequence[PermissionRule],
    modes: tuple[PermissionMode, AutoRunMode],
    operator: Policy,
    call: tuple[SampleTool, Input],
) -> Verdict:
    """The verdict of a fresh rulebook."""
    return judge(compile_context(context(given_rules, modes[0]), operator, modes[1]), *call)


def strictness(verdict: Verdict) -> int:
    """0 allow, 1 ask, 2 deny."""
    return STRICTNESS.index(verdict.behavior)


@given(rules, st.tuples(modes, auto_runs), gates, calls)
def test_a_verdict_is_a_function_of_policy_modes_and_call(
    given_rules: list[PermissionRule],
    both: tuple[PermissionMode, AutoRunMode],
    listed: list[Gate],
    call: tuple[SampleTool, Input],
) -> None:
    """The same inputs give the same verdict, from a new rulebook or one that has judged before."""
    book = compile_context(context(given_rules, both[0]), policy(*listed), both[1])

    assert judge(book, *call) == judge(book, *call)
    assert judge(book, *call) == answer(given_rules, both, policy(*listed), call)


@given(rules, st.tuples(modes, auto_runs), gates, calls)
def test_the_order_of_rules_and_gates_does_not_matter(
    given_rules: list[PermissionRule],
    both: tuple[PermissionMode, AutoRunMode],
    listed: list[Gate],
    call: tuple[SampleTool, Input],
) -> None:
    """Reversed, they come to the same behaviour by the same step."""
    one = answer(given_rules, both, policy(*listed), call)
    other = answer(given_rules[::-1], both, policy(*listed[::-1]), call)

    assert (one.behavior, one.cause) == (other.behavior, other.cause)


@given(
    rules,
    st.builds(rule, st.sampled_from(["deny", "ask"]), names, contents),
    st.tuples(modes, auto_runs),
    gates,
    calls,
)
def test_another_deny_or_ask_rule_never_loosens(
    given_rules: list[PermissionRule],
    more: PermissionRule,
    both: tuple[PermissionMode, AutoRunMode],
    listed: list[Gate],
    call: tuple[SampleTool, Input],
) -> None:
    """The verdict stays or gets stricter."""
    before = answer(given_rules, both, policy(*listed), call)
    after = answer([*given_rules, more], both, policy(*listed), call)

    assert strictness(after) >= strictness(before)


@given(rules, st.builds(rule, st.just("allow"), names, contents), modes, auto_runs, gates, calls)
def test_another_allow_rule_beats_no_deny_ask_gate_confirmation_or_safety_ask(
    given_rules: list[PermissionRule],
    more: PermissionRule,
    mode: PermissionMode,
    auto_run: AutoRunMode,
    listed: list[Gate],
    call: tuple[SampleTool, Input],
) -> None:
    """It only ever answers an ask that no rule, gate or check made."""
    before = answer(given_rules, (mode, auto_run), policy(*listed), call)
    after = answer([*given_rules, more], (mode, auto_run), policy(*listed), call)

    if before != after:
        assert before.cause == "mode" or after.behavior == before.behavior


@given(rules, st.tuples(modes, auto_runs), gates, gates, calls)
def test_another_gate_never_loosens(
    given_rules: list[PermissionRule],
    both: tuple[PermissionMode, AutoRunMode],
    listed: list[Gate],
    more: list[Gate],
    call: tuple[SampleTool, Input],
) -> None:
    """The verdict stays or gets stricter."""
    before = answer(given_rules, both, policy(*listed), call)
    after = answer(given_rules, both, policy(*listed, *more), call)

    assert strictness(after) >= strictness(before)


@given(rules, modes, gates, calls)
def test_a_looser_auto_run_mode_is_never_stricter(
    given_rules: list[PermissionRule],
    mode: PermissionMode,
    listed: list[Gate],
    call: tuple[SampleTool, Input],
) -> None:
    """ask_every_time, use_allowlist, run_everything, in this order."""
    steps = [
        strictness(answer(given_rules, (mode, auto_run), policy(*listed), call))
        for auto_run in (
            AutoRunMode.ASK_EVERY_TIME,
            AutoRunMode.USE_ALLOWLIST,
            AutoRunMode.RUN_EVERYTHING,
        )
    ]

    assert steps == sorted(steps, reverse=True)


@given(rules, st.tuples(modes, auto_runs), gates, calls)
def test_offered_rules_answer_the_call_next_time(
    given_rules: list[PermissionRule],
    both: tuple[PermissionMode, AutoRunMode],
    listed: list[Gate],
    call: tuple[SampleTool, Input],
) -> None:
    """Whoever ticks one is not asked again for the same call."""
    verdict = answer(given_rules, both, policy(*listed), call)

    for offered in verdict.suggested_rules:
        after = answer([*given_rules, offered], both, policy(*listed), call)
        assert after.behavior is PermissionBehavior.ALLOW
