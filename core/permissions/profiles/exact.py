"""Lines that are worth remembering word by word, though no prefix of them is.

They fetch, install or change something; the same line again does the same again. `find_profile`
never sees these: they only decide what a card may offer as an exact rule.
"""

from core.permissions.profiles.profile import Globs, Offer, Profile, Style, profile

_URL = r"https?://(?![^/?#]*@)[A-Za-z0-9\[][^\s]*"
_REVISION = r"[A-Za-z0-9_][\w./-]*"


def _line(
    command: str, flags: str = "", operands: int | None = 0, operand: str | None = None
) -> Profile:
    return profile(
        command, flags, globs=Globs.NONE, operands=operands, operand=operand, offer=Offer.EXACT
    )


PROFILES = (
    profile(
        "curl",
        "-sSfLIiv4 -omw= --silent --show-error --fail --location --head --include --max-time="
        " --output= --write-out= --compressed --connect-timeout= --retry=",
        globs=Globs.NONE,
        operands=1,
        operand=_URL,
        values={
            "-o": "/dev/null|-",
            "--output": "/dev/null|-",
            "-w": r"(?![\s\S]*%output)[^@][\s\S]*",
            "--write-out": r"(?![\s\S]*%output)[^@][\s\S]*",
        },
        offer=Offer.EXACT,
    ),
    _line("cd", operands=1, operand=r"/(?!(?:[\s\S]*/)?\.\.(?:/|$))[\s\S]*"),
    _line("git add", operands=None, operand=r"(?!-)[\s\S]+"),
    _line("git fetch", "--all --prune --tags --no-tags", operands=2, operand=_REVISION),
    _line("git pull", "--ff-only", operands=2, operand=_REVISION),
    _line("npm ci"),
    _line("npm install"),
    _line("pnpm install", "--frozen-lockfile"),
    _line("yarn install", "--frozen-lockfile --immutable"),
    _line("bun install", "--frozen-lockfile"),
    _line("uv sync", "--frozen --locked --all-extras --dev"),
    _line("poetry install", "--sync --no-root"),
    _line("bundle install"),
    _line("composer install"),
    _line("cargo fetch", "--locked"),
    profile("go mod download", style=Style.WHOLE, operands=0, offer=Offer.EXACT),
    profile("go mod tidy", "-diff", style=Style.WHOLE, operands=0, offer=Offer.EXACT),
    profile("terraform init", "-no-color", style=Style.WHOLE, operands=0, offer=Offer.EXACT),
)
