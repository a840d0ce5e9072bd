"""Profiles of package managers (what they list) and of test and build runners.

Runners execute the code of the checkout (yarn, composer, bundler and cargo do when they list), so a
card offers only the very line; a person may write the prefix rule, and the profile keeps out the
flags that run something else (``pytest -p``, ``go test -exec``, ``cargo --config``) or write
elsewhere.
"""

from core.permissions.profiles.profile import RELATIVE, Offer, Profile, Style, profile

_PACKAGE = r"(?:@[\w.-]+/)?[A-Za-z0-9][\w@.+~^<>=*-]*"
"""A package and its version, or a field; no URL, no path and no ``owner/repository``."""
_VENDORED = rf"(?:[A-Za-z0-9][\w.-]*/)?{_PACKAGE}"
"""The same for composer, whose packages have a vendor before the slash."""
_NPM = "-agdpl --all --depth= --json --long --parseable --omit= --include= --prod --dev --global"
_CARGO = (
    "-rqv -Fpj= --workspace --all --all-targets --all-features --no-default-features --features="
    " --package= --lib --bins --bin= --tests --test= --examples --example= --doc --release"
    " --locked --offline --frozen --quiet --verbose --jobs= --keep-going --no-run --no-fail-fast"
    " --message-format= --exclude= --profile= --color= --no-deps --benches --bench="
)
_CARGO_REST = r"-[DWAF]|--(?:nocapture|no-capture|ignored|include-ignored|exact|show-output)"
_PYTEST = (
    "-vqxslh -kmrn= --tb= --maxfail= --lf --ff --last-failed --failed-first --sw --stepwise --co"
    " --collect-only --durations= --timeout= --no-header --no-summary --color= --verbose --quiet"
    " --exitfirst --capture= --showlocals --no-cov --strict-markers --cov[=] --randomly-seed="
    " --reruns= --deselect= --ignore= --full-trace --help --version"
)
_GO = (
    "-race -short -v -run= -count= -timeout= -bench= -benchmem -benchtime= -cover -covermode="
    " -parallel= -failfast -json -tags= -p= -cpu= -skip= -list= -shuffle= -trimpath -x -n -a"
    " -mod= -vet="
)
_GO_VALUES = {"-mod": "readonly|vendor", "-vet": r"off|[a-z,]+"}
_SCRIPT_FLAGS = "-s -w= --silent --if-present --workspace= --workspaces"
_NO_FILE_TYPES = r"(?!.*\.(?:mjs|cjs|js|ts|py)$)[\s\S]+"


def _runs(
    command: str, flags: str = "", operand: str | None = RELATIVE, operands: int | None = None
) -> Profile:
    return profile(command, flags, operand=operand, operands=operands, offer=Offer.EXACT)


LISTS = (
    *(
        profile(f"npm {verb}", _NPM, operand=_PACKAGE)
        for verb in ("ls", "list", "outdated", "explain", "why")
    ),
    *(profile(f"npm {verb}", "--json", operand=_PACKAGE) for verb in ("view", "info", "show")),
    profile("npm audit", "--json --omit= --production --audit-level=", operands=0),
    profile("npm root", "-g --global", operands=0),
    profile("npm prefix", "-g --global", operands=0),
    profile("npm version", "--json", operands=0),
    *(
        profile(
            f"pnpm {verb}",
            "-rDPg --depth= --json --long --parseable --recursive --prod --dev --global",
            operand=_PACKAGE,
        )
        for verb in ("ls", "list", "why", "outdated")
    ),
    *(profile(f"pnpm {verb}", "--json", operand=_PACKAGE) for verb in ("view", "info", "show")),
    *(
        profile(
            f"yarn {verb}",
            "-RAa --pattern= --depth= --json --recursive --all",
            operand=_PACKAGE,
            offer=Offer.EXACT,
        )
        for verb in ("list", "why", "outdated", "info")
    ),
    *(
        profile(
            f"{pip} {verb}",
            "-ouvelq --outdated --uptodate --editable --local --user --format= --not-required"
            " --exclude= --verbose --files --all",
            operand=_PACKAGE,
        )
        for pip in ("pip", "pip3", "uv pip")
        for verb in ("list", "show", "freeze", "check")
    ),
    profile("uv pip tree", "--depth= --outdated --invert", operands=0),
    profile(
        "poetry show", "-toTl --tree --latest --outdated --top-level --no-dev", operand=_PACKAGE
    ),
    profile(
        "cargo tree",
        "-d -eip= -F= --workspace --depth= --invert= --package= --edges= --duplicates --target="
        " --all-features --no-default-features --features= --locked --offline --frozen --prefix="
        " --no-dedupe",
        operands=0,
        offer=Offer.EXACT,  # configuration of the checkout may name the compiler
    ),
    profile(
        "cargo metadata",
        "--no-deps --format-version= --locked --offline --frozen --all-features",
        operands=0,
        offer=Offer.EXACT,
    ),
    profile("cargo search", "--limit=", operand=_PACKAGE),
    profile(
        "go list",
        "-m -json -f= -e -deps -test -u -versions -retracted",
        style=Style.WHOLE,
        operand=r"[\w./@-]+",
    ),
    profile("go version", "-m -v", style=Style.WHOLE),
    profile("go env", "-json", style=Style.WHOLE, operand=r"[A-Z0-9_]+"),
    profile("go doc", "-all -short -src -u -c -cmd", style=Style.WHOLE, operand=r"[\w./-]+"),
    profile("go mod graph", style=Style.WHOLE, operands=0),
    profile("go mod why", "-m -vendor", style=Style.WHOLE),
    profile("go mod verify", style=Style.WHOLE, operands=0),
    profile(
        "composer show",
        "-itloDa --tree --installed --latest --outdated --direct --all",
        operand=_VENDORED,
        offer=Offer.EXACT,
    ),
    profile("composer outdated", "-Da --direct --all", operand=_VENDORED, offer=Offer.EXACT),
    profile("gem list", "-ad --all --details", operand=_PACKAGE),
    profile("bundle list", "--name-only --paths", operands=0, offer=Offer.EXACT),
    profile("rustup show", operands=0, offer=Offer.EXACT),
    profile(
        "mvn dependency:tree", "-BqoU --batch-mode --quiet --offline", operands=0, offer=Offer.EXACT
    ),
)

RUNNERS = (
    *(
        _runs(f"{manager} {test}", _SCRIPT_FLAGS)
        for manager in ("npm", "pnpm", "yarn")
        for test in ("test", "run NAME")
    ),
    _runs("npm t", _SCRIPT_FLAGS),
    *(
        _runs(f"{manager} {script}", _SCRIPT_FLAGS)
        for manager in ("pnpm", "yarn")
        for script in ("build", "lint", "typecheck", "format", "vitest", "tsc")
    ),
    _runs("bun test", "-t= --timeout= --bail[=] --only --todo --coverage --test-name-pattern="),
    _runs("bun run NAME", "--silent", operand=_NO_FILE_TYPES),
    _runs(
        "make NAME",
        "-ksnB -j[=] --jobs[=] --silent --dry-run --keep-going --always-make",
        operands=0,
    ),
    _runs("just NAME", "--dry-run --verbose --quiet", operands=0),
    _runs("task NAME", operands=0),
    *(_runs(f"{before}pytest", _PYTEST) for before in ("", "uv run ", "poetry run ")),
    *(
        _runs(
            f"{before}mypy",
            "-v --strict --ignore-missing-imports --no-incremental --pretty --show-error-codes",
        )
        for before in ("", "uv run ", "poetry run ")
    ),
    *(
        _runs(f"{before}pyright", "-v --stats --outputjson --level= --warnings")
        for before in ("", "uv run ", "poetry run ")
    ),
    *(
        _runs(
            f"{before}ruff check",
            "-nqvs --select= --ignore= --extend-select= --statistics --no-cache --diff"
            " --output-format= --show-files --preview --no-fix --exclude= --target-version=",
        )
        for before in ("", "uv run ", "poetry run ")
    ),
    *(
        profile(
            f"{before}ruff format",
            "--check --diff --quiet --preview --exclude=",
            operand=RELATIVE,
            requires="--check --diff",
            offer=Offer.EXACT,
        )
        for before in ("", "uv run ", "poetry run ")
    ),
    *(
        _runs(
            f"cargo {verb}", _CARGO, operand=rf"{_CARGO_REST}|--test-threads=\d+|[A-Za-z_][\w:-]*"
        )
        for verb in ("test", "check", "clippy", "build", "bench", "nextest run")
    ),
    _runs("cargo fmt", "--all --check -p= --package=", operand="--check"),
    *(
        profile(
            f"go {verb}",
            _GO,
            style=Style.WHOLE,
            operand=r"[\w./-]*\w[\w./-]*|\.\.\.|\./\.\.\.|\.",
            values=_GO_VALUES,
            offer=Offer.EXACT,
        )
        for verb in ("test", "vet", "build")
    ),
    *(
        profile(
            f"dotnet {verb}",
            "-cfrv= --configuration= --framework= --runtime= --verbosity= --no-restore"
            " --no-build --nologo --filter= --logger= --list-tests",
            operand=RELATIVE,
            values={"--logger": "console|trx|html"},
            offer=Offer.EXACT,
        )
        for verb in ("build", "test")
    ),
    _runs("eslint", "--ext= --quiet --max-warnings= --no-cache --color --no-color"),
    _runs("prettier", "-lc --check --list-different"),
    _runs("tsc", "-p= --noEmit --project= --pretty --skipLibCheck --strict"),
    _runs("vitest run", "-t= --reporter= --coverage --changed --silent --bail= --testNamePattern="),
    _runs("jest", "-i -t= --runInBand --verbose --silent"),
    _runs(
        "pre-commit run",
        "-a --all-files --show-diff-on-failure --files= --verbose",
        operand=r"[\w.-]+",
        operands=1,
    ),
    _runs("golangci-lint run", "-v --timeout= --fast --new"),
)

PROFILES = LISTS + RUNNERS
