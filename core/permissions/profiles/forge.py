"""Profiles of ``gh``: what reads pull requests, issues, runs, repositories and releases."""

from core.permissions.profiles.profile import Offer, profile
from core.permissions.profiles.streams import JQ_PROGRAM

_VALUES = {"-q": JQ_PROGRAM, "--jq": JQ_PROGRAM}
_OUT = "-Rqt= --repo= --json= --jq= --template="
_FILTERS = (
    " -aAlLsS= --limit= --state= --author= --assignee= --label= --search= --milestone= --app="
    " --mention="
)
_ENDPOINT = r"(?!/?graphql$)(?![\s\S]*(?:://|\.\.))[\s\S]+"
_READS = {
    "pr view": " -c --comments",
    "pr list": f" -d -BH= --base= --head= --draft{_FILTERS}",
    "pr status": " -c --conflict-status",
    "pr diff": " --color= --name-only --patch",
    "pr checks": " -i= --watch --interval= --fail-fast --required",
    "issue view": " -c --comments",
    "issue list": f" -m={_FILTERS}",
    "issue status": "",
    "run view": " -v -aj= --verbose --log --log-failed --job= --attempt= --exit-status",
    "run list": " -a -bcesuLw= --all --branch= --commit= --event= --status= --user= --limit="
    " --workflow= --created=",
    "run watch": " -i= --interval= --exit-status --compact",
    "workflow list": " -a -L= --all --limit=",
    "workflow view": " -y -r= --yaml --ref=",
    "release list": " -LO= --limit= --order= --exclude-drafts --exclude-pre-releases",
    "release view": "",
    "label list": " -LS= --limit= --search= --sort= --order=",
}  # fmt: skip
_SEARCH = (
    " -L= --limit= --state= --owner= --author= --assignee= --label= --language= --sort= --order="
    " --created= --updated= --match= --stars= --archived[=] --visibility= --extension= --filename="
    " --size= --topic= --merged --draft --review= --involves= --mentions= --head= --base= --user="
)

PROFILES = (
    *(profile(f"gh {verb}", _OUT + flags, values=_VALUES) for verb, flags in _READS.items()),
    profile("gh repo view", "-bqt= --branch= --json= --jq= --template=", values=_VALUES),
    profile(
        "gh repo list",
        "-lLqt= --language= --limit= --visibility= --source --fork --archived --no-archived"
        " --topic= --json= --jq= --template=",
        values=_VALUES,
    ),
    *(
        profile(f"gh search {thing}", _OUT + _SEARCH, values=_VALUES)
        for thing in ("code", "issues", "prs", "repos", "commits")
    ),
    profile("gh status", "-eo= --exclude= --org=", operands=0),
    profile("gh auth status", "-a -h= --active --hostname=", operands=0),
    # Without fields a GET; -f, -F and --input would make it a POST.
    profile(
        "gh api",
        "-i -qtX= --paginate --slurp --include --jq= --template= --method= --cache=",
        operands=1,
        operand=_ENDPOINT,
        values={**_VALUES, "-X": "GET|HEAD", "--method": "GET|HEAD"},
        offer=Offer.EXACT,
    ),
)
