"""The bench: what a worker works with."""

from dataclasses import dataclass

from core.judgement import RulebookMaker
from core.ledger import Ledger
from core.ports import Activity, Clock, Ids
from core.roster import Roster

LEASE_MS = 30_000
"""How long a reply stays held without a sign of life; also how soon a crash is noticed."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What a worker works with."""

    ledger: Ledger
    roster: Roster
    rulebooks: RulebookMaker
    activity: Activity
    clock: Clock
    ids: Ids
    tenant: str
    lease_ms: int = LEASE_MS

    @property
    def policy(self) -> str:
        """The policy revision that this process judges by."""
        return str(self.rulebooks.policy.revision)
