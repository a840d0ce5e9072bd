"""Explore the model from the command line.

python -m tests.sim.explore                every scenario, every invariant
python -m tests.sim.explore --break RULE   the shortest run that goes wrong without this rule
python -m tests.sim.explore --break all    the same for every rule
python -m tests.sim.explore --list         the rules
"""

import sys
import time
from argparse import ArgumentParser

from tests.sim.exploration import Exploration, Wrong, counterexample, models
from tests.sim.model.rules import RULES


def explore_all() -> int:
    """Explore everything; 1 if something is wrong."""
    states = count = depth = 0
    began = time.perf_counter()
    for model in models():
        name, since = model.scenario.name, time.perf_counter()
        try:
            found = Exploration(model).run()
        except Wrong as wrong:
            print(f"{name}: {wrong.what}\n  " + " > ".join(wrong.path))
            return 1
        states, count = states + found.states, count + found.steps
        depth = max(depth, found.depth)
        took = time.perf_counter() - since
        print(
            f"{name}: {found.states} states, {found.steps} steps, depth {found.depth}, {took:.1f} s"
        )
    took = time.perf_counter() - began
    print(f"{states} states, {count} steps, depth {depth}, {took:.1f} s: all invariants hold")
    return 0


def break_rules(rules: list[str]) -> int:
    """Take these rules away, one by one; 1 if one of them is not missed."""
    unmissed = 0
    for rule in rules:
        found = counterexample(rule)
        print(f"{rule}: without “{RULES[rule]}”")
        if found:
            wrong, scenario = found
            print(f"  {wrong.what}  [{scenario}]\n  " + " > ".join(wrong.path), flush=True)
        else:
            unmissed += 1
            print("  nothing goes wrong", flush=True)
    if len(rules) > 1:
        print(f"{len(rules) - unmissed} of {len(rules)} rules have a counterexample")
    return 1 if unmissed else 0


def main(arguments: list[str]) -> int:
    """Run the command."""
    parser = ArgumentParser("python -m tests.sim.explore", description="Explore the model.")
    parser.add_argument("--break", dest="rule", choices=["all", *RULES], metavar="RULE")
    parser.add_argument("--list", action="store_true", help="the rules that can be taken away")
    asked = parser.parse_args(arguments)
    if asked.list:
        print("\n".join(f"{rule:28}{text}" for rule, text in RULES.items()))
        return 0
    if asked.rule:
        return break_rules(list(RULES) if asked.rule == "all" else [asked.rule])
    return explore_all()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
