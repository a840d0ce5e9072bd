"""Profiles of git's reading subcommands.

Options before the subcommand (``-c``, ``-C``, ``--git-dir``, ``--exec-path``) are outside every
prefix: they choose the configuration, and git configuration runs programs. Left out of every
profile for the same reason: ``--ext-diff``, ``--textconv``, ``--filters``,
``--open-files-in-pager``, ``--upload-pack``, ``--show-signature`` and the placeholders ``%G`` and
``%(signature)``;
``--output`` writes, ``--no-index`` leaves the repository. Source: the git manual pages.
"""

from core.permissions.profiles.profile import ANYTHING, profile

_FORMAT = r"(?![\s\S]*%(?:[-+ ]?G|\(\*?signature))[\s\S]*"
_FORMATS = {"--format": _FORMAT, "--pretty": _FORMAT}
_DIFF = (
    " -puzRabwWs -lSG= -U[=] -B[=] -M[=] -C[=] -D[=] --patch --no-patch --unified= --raw"
    " --stat[=] --numstat --shortstat"
    " --dirstat[=] --summary --name-only --name-status --color[=] --no-color --color-words[=]"
    " --word-diff[=] --word-diff-regex= --color-moved[=] --minimal --patience --histogram"
    " --diff-algorithm= --check --full-index --binary --abbrev[=] --find-renames[=]"
    " --find-copies[=] --find-copies-harder --no-renames --diff-filter= --pickaxe-regex"
    " --pickaxe-all --text --ignore-all-space --ignore-space-change --ignore-space-at-eol"
    " --ignore-blank-lines --ignore-cr-at-eol --function-context --inter-hunk-context="
    " --relative[=] --exit-code --quiet --no-ext-diff --no-textconv --submodule[=] --src-prefix="
    " --dst-prefix= --no-prefix --compact-summary --patch-with-stat --ignore-submodules[=]"
    " --merge-base --no-indent-heuristic"
)
_WALK = (
    " -iFEPgmtc -Ln= -NUM --oneline --graph --decorate[=] --no-decorate --all --branches[=]"
    " --tags[=] --remotes[=] --glob= --exclude= --since= --after= --until= --before= --author="
    " --committer= --grep= --max-count= --skip= --merges --no-merges --first-parent --reverse"
    " --date= --format= --pretty[=] --abbrev-commit --no-abbrev-commit --follow --topo-order"
    " --date-order --author-date-order --left-right --cherry-pick --cherry-mark --cherry"
    " --boundary --full-history --ancestry-path[=] --simplify-by-decoration --not --no-walk[=]"
    " --parents --children --walk-reflogs --regexp-ignore-case --extended-regexp --fixed-strings"
    " --perl-regexp --invert-grep --all-match --relative-date --source --notes[=] --no-notes"
    " --use-mailmap --min-parents= --max-parents= --log-size --left-only --right-only --cc"
    " --diff-merges= --encoding= --no-expand-tabs --reflog"
)
_REFS = (
    " --sort= --contains= --no-contains= --merged= --no-merged= --points-at= --format= --count="
    " --ignore-case -i --color[=]"
)

HISTORY = (
    profile("git log", _DIFF + _WALK, values=_FORMATS, reads_files=True),
    profile("git show", _DIFF + _WALK, values=_FORMATS, reads_files=True),
    profile("git diff", f"{_DIFF} --cached --staged", reads_files=True),
    profile("git whatchanged", _DIFF + _WALK, values=_FORMATS, reads_files=True),
    profile("git reflog", _DIFF + _WALK, values=_FORMATS, operands=0),
    profile("git reflog show", _DIFF + _WALK, values=_FORMATS),
    profile(
        "git shortlog",
        f"{_WALK} -snec -w[=] --summary --numbered --email --group=",
        values=_FORMATS,
    ),
    profile("git rev-list", f"--count --objects --disk-usage[=]{_WALK}", values=_FORMATS),
    profile("git stash list", _DIFF + _WALK, values=_FORMATS),
    profile("git stash show", f"--include-untracked --only-untracked{_DIFF}"),
    profile("git range-diff", f"--creation-factor= --no-dual-color{_DIFF}"),
    profile("git cherry", "-v --abbrev[=]"),
    profile("git diff-tree", f"-rtmc --root --no-commit-id{_DIFF}", values=_FORMATS),
    profile(
        "git blame",
        "-bltfnsewpc -L= -S= -M[=] -C[=] -h --root --show-stats --porcelain --line-porcelain"
        " --incremental --show-name --show-number --show-email --date= --abbrev[=] --color-lines"
        " --color-by-age --first-parent --ignore-rev= --since= --reverse",
        reads_files=True,
    ),
)

REFERENCES = (
    profile(
        "git branch",
        f"-avrliq --list --all --remotes --verbose --show-current --column[=] --no-column"
        f" --abbrev[=] --no-color --omit-empty{_REFS}",
        values=_FORMATS,
        operand_flags="--list",  # before git 2.20, -l made a reflog and a branch
    ),
    profile(
        "git tag",
        f"-l -n[=] --list --column[=] --no-column --omit-empty{_REFS}",
        values=_FORMATS,
        operand_flags="-l --list",
    ),
    profile(
        "git for-each-ref",
        f"--shell --perl --python --tcl --omit-empty --exclude={_REFS}",
        values=_FORMATS,
    ),
    profile(
        "git show-ref",
        "-dhqs --head --heads --branches --tags --dereference --hash[=] --verify --quiet --exists"
        " --abbrev[=]",
    ),
    profile("git symbolic-ref", "-q --quiet --short --recurse", operands=1),
    profile("git remote", "-v --verbose", operands=0),
    profile("git remote get-url", "--push --all", operands=1),
    profile("git remote show", "-n", requires="-n"),
    profile("git worktree list", "-v -z --porcelain --verbose", operands=0),
    profile("git notes show", operands=1),
    profile("git notes list", operands=1),
    profile(
        "git rev-parse",
        "-q --abbrev-ref[=] --short[=] --verify --quiet --symbolic --symbolic-full-name --all"
        " --branches[=] --tags[=] --remotes[=] --show-toplevel --show-prefix --show-cdup --git-dir"
        " --git-common-dir --absolute-git-dir --is-inside-work-tree --is-inside-git-dir"
        " --is-bare-repository --is-shallow-repository --show-superproject-working-tree"
        " --show-object-format[=] --git-path= --path-format= --revs-only --no-revs --flags"
        " --no-flags --since= --until= --local-env-vars --not --sq --disambiguate=",
    ),
    profile("git merge-base", "-a --all --octopus --is-ancestor --fork-point --independent"),
    profile("git name-rev", "--tags --refs= --all --name-only --no-undefined --always"),
    profile(
        "git describe",
        "--all --tags --contains --abbrev= --candidates= --exact-match --debug --long --match="
        " --exclude= --always --first-parent --dirty[=] --broken[=]",
    ),
)

TREE = (
    profile(
        "git status",
        "-sbvz -u[=] -M[=] --short --branch --show-stash --porcelain[=] --long --verbose"
        " --untracked-files[=] --ignored[=] --ignore-submodules[=] --column[=] --no-column"
        " --ahead-behind --no-ahead-behind --renames --no-renames --find-renames[=]",
    ),
    profile(
        "git ls-files",
        "-cdmoisuktvfz -x= --cached --deleted --modified --others --ignored --stage --unmerged"
        " --killed --directory --no-empty-directory --eol --exclude= --exclude-standard"
        " --error-unmatch --full-name --recurse-submodules --abbrev[=] --deduplicate --format="
        " --sparse",
    ),
    profile(
        "git ls-tree",
        "-drtlz --long --name-only --name-status --object-only --full-name --full-tree"
        " --abbrev[=] --format=",
    ),
    profile("git cat-file", "-tsep --batch-check[=] --allow-unknown-type", reads_files=True),
    profile(
        "git grep",
        "-aIEGPFnlLzcovwihHpqrW -ABCem= -NUM --cached --untracked --no-exclude-standard"
        " --exclude-standard --text --ignore-case --word-regexp --invert-match --full-name"
        " --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column"
        " --files-with-matches --name-only --files-without-match --null --only-matching --count"
        " --color[=] --no-color --break --heading --show-function --context= --after-context="
        " --before-context= --function-context --max-depth= --threads= --and --or --not"
        " --all-match --quiet --recursive --max-count=",
        script=ANYTHING,
        script_flags="-e",
        values={"-e": ANYTHING},
        reads_files=True,
    ),
    profile("git check-ignore", "-qvnz --quiet --verbose --non-matching --no-index"),
    profile("git check-attr", "-az --all --cached"),
    profile("git check-mailmap"),
    profile("git count-objects", "-vH --verbose --human-readable", operands=0),
    profile("git submodule status", "--cached --recursive"),
    profile(
        "git config",
        "-lz --get --get-all --get-regexp --get-urlmatch --list --local --global --system"
        " --worktree --show-origin --show-scope --name-only --null --bool --int --path --type="
        " --default=",
        requires="--get --get-all --get-regexp --get-urlmatch --list -l",
    ),
    profile(
        "git config get",
        "--local --global --system --worktree --all --regexp --show-origin --show-scope --type=",
        operands=1,
    ),
    profile(
        "git config list",
        "--local --global --system --worktree --show-origin --show-scope --name-only",
        operands=0,
    ),
    profile("git bisect log", operands=0),
    profile("git version", "--build-options", operands=0),
)

PROFILES = HISTORY + REFERENCES + TREE
