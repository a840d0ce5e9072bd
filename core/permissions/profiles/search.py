"""Profiles of programs that search in files and for files."""

from core.permissions.profiles.profile import ANYTHING, Offer, profile

_GREP = (
    "-aEFGPcHhilLnoqRrsTUvwxyzZbI -eABCmdD= -NUM --extended-regexp --fixed-strings --basic-regexp"
    " --perl-regexp --count --color[=] --colour[=] --files-with-matches --files-without-match"
    " --max-count= --only-matching --quiet --silent --no-messages --byte-offset --with-filename"
    " --no-filename --label= --line-number --initial-tab --null --after-context="
    " --before-context= --context= --text --binary-files= --exclude= --include= --exclude-dir="
    " --recursive --dereference-recursive --regexp= --ignore-case --no-ignore-case"
    " --invert-match --word-regexp --line-regexp --line-buffered --directories= --devices="
)
_PROGRAM_NAME = r"[A-Za-z0-9_.+][\w.+-]*"

PROFILES = (
    *(
        profile(
            name,
            _GREP,
            script=ANYTHING,
            script_flags="-e --regexp",
            values={"-e": ANYTHING, "--regexp": ANYTHING},
            reads_files=True,
        )
        for name in ("grep", "egrep", "fgrep")
    ),
    profile(
        "rg",
        "-abcFHhiIlLnNopPqsSuUvVwx0 -eABCgtTmMjrEd= --regexp= --after-context= --before-context="
        " --context= --glob= --iglob= --type= --type-not= --max-count= --max-depth= --max-columns="
        " --max-filesize= --threads= --replace= --encoding= --sort= --sortr= --color= --colors="
        " --count --count-matches --files --files-with-matches --files-without-match"
        " --fixed-strings --with-filename --no-filename --heading --no-heading --hidden"
        " --ignore-case --case-sensitive --smart-case --invert-match --json --line-number"
        " --no-line-number --line-regexp --word-regexp --multiline --multiline-dotall --no-ignore"
        " --no-ignore-vcs --no-messages --null --only-matching --passthru --pcre2 --pretty --quiet"
        " --stats --text --trim --type-list --unrestricted --vimgrep --follow --no-config --column"
        " --one-file-system --crlf --auto-hybrid-regex --engine= --version",
        script=ANYTHING,
        script_flags="-e --regexp --files --type-list --version -V",
        values={"-e": ANYTHING, "--regexp": ANYTHING, "-r": ANYTHING, "--replace": ANYTHING},
        reads_files=True,
    ),
    profile(
        "fd",
        "-HIuspFgaLq01 -dtEecSoj= --hidden --no-ignore --unrestricted --case-sensitive"
        " --ignore-case --absolute-path --follow --full-path --max-depth= --min-depth="
        " --exact-depth= --type= --extension= --exclude= --size= --changed-within="
        " --changed-before= --glob --regex --fixed-strings --max-results= --color= --print0"
        " --strip-cwd-prefix",
    ),
    profile("locate", "-bciwqe0 -ln= --basename --count --ignore-case --limit="),
    profile("findstr", operand=ANYTHING, reads_files=True),
    profile("which", "-asi --all"),
    profile("whereis", "-bmsu"),
    profile("type", "-aftpP"),
    profile("command -v", operand=_PROGRAM_NAME),
    profile("command -V", operand=_PROGRAM_NAME),
    *(
        profile(program, operands=0, offer=Offer.EXACT)
        for program in (
            *("python --version", "python -V", "python3 --version", "python3 -V"),
            *("node --version", "node -v"),
        )
    ),
)
