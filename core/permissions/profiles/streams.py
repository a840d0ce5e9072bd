"""Profiles of programs that print text and files, or turn one text stream into another."""

from core.permissions.profiles.profile import Globs, Offer, Style, profile

_ADDRESS = r"(?:\d+|\$|/(?:[^/\\\n]|\\[^\n])+/I?)"
SED_PRINT = (
    rf"(?:{_ADDRESS}(?:,(?:{_ADDRESS}|[+~]\d+))?)?[pq=]"
    rf"(?:; ?{_ADDRESS}(?:,{_ADDRESS})?[pq=])*;?"
)
"""Addresses with ``p``, ``q`` or ``=`` only. Source: the GNU sed manual; ``w``, ``e`` and the
flags of ``s`` write files and run programs, even under ``-n``."""
JQ_PROGRAM = r"(?![\s\S]*(?:\$\s*ENV|(?<![.\w\"])(?:env|import|include)\b))[\s\S]*"
"""No look at the environment, which may hold keys, nor at files that the line does not name as
such. Source: the jq manual, "Modules"."""
YQ_PROGRAM = (
    r"(?!(?:e|ea|eval|eval-all)$)"
    r"(?!(?i:[\s\S]*(?:\b(?:str)?env|\b(?:load|system|import|include))))[\s\S]*"
)
"""The same for both programs of that name: one is a jq, the other has loaders of its own."""
PRINTF_FORMAT = r"(?![\s\S]*%[^%A-Za-z]*[hlLqjzt]*n)[\s\S]*"
"""No ``%n``: bash's printf assigns a variable there."""
_COUNT = r"[+-]?\d+[A-Za-z]*"
_COUNTS = {"-n": _COUNT, "-c": _COUNT, "--lines": _COUNT, "--bytes": _COUNT}

PROFILES = (
    profile("echo", style=Style.TEXT),
    profile("printf", style=Style.FIRST, script=PRINTF_FORMAT, globs=Globs.NONE),
    profile("true", operands=0),
    profile("false", operands=0),
    profile(
        "cat",
        "-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank"
        " --show-tabs --show-nonprinting",
        reads_files=True,
    ),
    profile("tac", "-br -s= --before --regex --separator=", reads_files=True),
    profile(
        "head",
        "-qvz -nc= -NUM --lines= --bytes= --quiet --silent --verbose --zero-terminated",
        values=_COUNTS,
        reads_files=True,
    ),
    profile(
        "tail",
        "-qvzfFr -ncs= -NUM --lines= --bytes= --follow[=] --retry --quiet --silent --verbose"
        " --sleep-interval= --pid= --max-unchanged-stats= --zero-terminated",
        values=_COUNTS,
        reads_files=True,
    ),
    profile(
        "nl",
        "-p -bdfhilnsvw= --body-numbering= --number-width= --number-format=",
        reads_files=True,
    ),
    profile(
        "od",
        "-abcdfiloxv -AjNStw= --address-radix= --format= --read-bytes= --skip-bytes=",
        reads_files=True,
    ),
    profile("hexdump", "-bcCdovx -ns=", reads_files=True),
    profile(
        "strings",
        "-af -nteT= --all --bytes= --radix= --encoding= --print-file-name",
        reads_files=True,
    ),
    profile("base64", "-di -w= --decode --ignore-garbage --wrap=", reads_files=True),
    profile("fold", "-bs -w= --bytes --spaces --width=", reads_files=True),
    profile("rev", reads_files=True),
    profile(
        "column",
        "-teJ -csoNRH= --table --separator= --output-separator= --json",
        reads_files=True,
    ),
    profile(
        "sed",
        "-nrEsuz -e= --quiet --silent --regexp-extended --expression= --separate --unbuffered"
        " --null-data --posix",
        script=SED_PRINT,
        script_flags="-e --expression",
        values={"-e": SED_PRINT, "--expression": SED_PRINT},
        reads_files=True,
    ),
    profile(
        "jq",
        "-cnrjaSCMesR --arg== --argjson== --slurpfile== --rawfile== --args --jsonargs"
        " --compact-output --null-input --raw-output --raw-output0 --raw-input --join-output"
        " --ascii-output --sort-keys --color-output --monochrome-output --tab --indent="
        " --exit-status --slurp --stream --seq",
        script=JQ_PROGRAM,
        reads_files=True,
    ),
    profile(
        "yq",
        "-rPNMCenj -opI= --prettyPrint --output-format= --input-format= --raw-output --no-doc"
        " --unwrapScalar[=] --colors --no-colors --exit-status --null-input",
        script=YQ_PROGRAM,
        operand=r"[^()|$]+",
        reads_files=True,
    ),
    profile(
        "sort",
        "-bcCdfghiMmnrRsuVz -kt= --ignore-leading-blanks --dictionary-order --ignore-case"
        " --general-numeric-sort --human-numeric-sort --month-sort --numeric-sort --random-sort"
        " --reverse --version-sort --check[=] --key= --field-separator= --stable --unique"
        " --zero-terminated --sort= --merge --parallel= --debug",
        reads_files=True,
    ),
    profile(
        "uniq",
        "-cdDiuz -fsw= --count --repeated --all-repeated[=] --ignore-case --unique"
        " --skip-fields= --skip-chars= --check-chars= --group[=]",
        operands=1,  # the second one is written to
        globs=Globs.NONE,
        reads_files=True,
    ),
    profile(
        "cut",
        "-nsz -bcdf= --bytes= --characters= --delimiter= --fields= --complement"
        " --only-delimited --output-delimiter= --zero-terminated",
        values={"-f": r"[\d,-]+", "-c": r"[\d,-]+", "-b": r"[\d,-]+", "-d": r"[\s\S]*"},
        reads_files=True,
    ),
    profile("tr", "-cCdst --complement --delete --squeeze-repeats --truncate-set1"),
    profile("paste", "-sz -d= --serial --delimiters=", reads_files=True),
    profile("join", "-iz -12aetvoj= --check-order --header", reads_files=True),
    profile("seq", "-w -fs= -NUM --equal-width --separator= --format="),
    profile("expand", "-i -t= --tabs= --initial", reads_files=True),
    profile("unexpand", "-a -t= --tabs= --all --first-only", reads_files=True),
    profile("sleep", operands=1, operand=r"\d{1,3}(?:\.\d+)?s?", offer=Offer.NOTHING),
)
