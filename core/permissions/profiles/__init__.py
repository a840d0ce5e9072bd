"""Flag profiles: which arguments of which programs a prefix rule may cover.

- `find_profile`, `uncovered`, `Profiles`: the judgement, for the shell rules
- `profile_from_config`: a profile that an operator declares in ``keyturn.toml``
- `names`: shells, interpreters, wrappers, network tools and writers, which never get one by name
- `suggestions`: what a card offers to allow from now on (import it by its own name)

The tables are one module per area: `files`, `search`, `streams`, `system`, `git`, `cluster`,
`forge`, `cloud`, `build`; `exact` holds lines of which no prefix is ever offered.
"""

from core.permissions.profiles.config import ProfileConfig, profile_from_config
from core.permissions.profiles.coverage import uncovered
from core.permissions.profiles.names import (
    is_interpreter,
    is_network,
    is_shell,
    is_wrapper,
    is_writer,
    runs_another_program,
)
from core.permissions.profiles.profile import Profile
from core.permissions.profiles.registry import ProfileMatch, Profiles, find_profile

__all__ = [
    "Profile",
    "ProfileConfig",
    "ProfileMatch",
    "Profiles",
    "find_profile",
    "is_interpreter",
    "is_network",
    "is_shell",
    "is_wrapper",
    "is_writer",
    "profile_from_config",
    "runs_another_program",
    "uncovered",
]
