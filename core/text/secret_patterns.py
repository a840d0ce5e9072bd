"""What secrets look like. Every pattern reads in linear time: repetitions are bounded or exclusive.

Shapes of issued tokens are the public prefixes that their issuers document so that scanners can
find them.
"""

import math
import re
from collections import Counter
from itertools import pairwise

_CHARSET = r"[A-Za-z0-9._~+/=-]"
# No start inside a run that a pattern could read on from: each run is read once.
_START = r"(?<![A-Za-z0-9_-])"

RUN = re.compile(f"{_CHARSET}+")


def _tokens(kind: str, *shapes: str) -> tuple[str, re.Pattern[str]]:
    return kind, re.compile(f"{_START}(?:{'|'.join(shapes)})", re.ASCII)


KNOWN_TOKENS: tuple[tuple[str, re.Pattern[str]], ...] = (
    _tokens("Slack token", r"xox[a-z](?:\.xox[a-z])?-[\w-]{8,}", r"xapp-\d-[\w-]{4,}"),
    _tokens("GitHub token", r"gh[pousr]_[A-Za-z0-9]{16,}", r"github_pat_\w{16,}"),
    _tokens("GitLab token", r"gl(?:pat|ptt|dt|rt|cbt|ft|soat)-[\w.-]{16,}"),
    _tokens(
        "API key",
        r"sk-(?:ant|proj|or|svcacct|admin|lf)-[\w-]{8,}",
        r"sk-[A-Za-z0-9]{20,}",
        r"gsk_[A-Za-z0-9]{20,}",
        r"[spr]k_(?:live|test)_[A-Za-z0-9]{8,}",
        r"whsec_[\w+/=]{16,}",
    ),
    _tokens("AWS key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])"),
    _tokens("Google key", r"AIza[\w-]{30,}", r"ya29\.[\w-]{10,}", r"GOCSPX-[\w-]{16,}"),
    _tokens("signed token", r"eyJ[\w-]{5,}\.eyJ[\w-]{3,}(?:\.[\w-]*)+", r"eyJ[\w-]{20,}"),
    _tokens("Discord token", r"[MNO][\w-]{23,27}\.[\w-]{6,7}\.[\w-]{27,40}"),
    _tokens(
        "access token",
        r"(?:npm|hf|figd|ops|fo1|pscale_tkn|pscale_pw|rubygems)_[\w-]{20,}",
        r"pypi-[\w-]{30,}",
        r"(?:dop|doo|dor)_v1_[a-f0-9]{32,}",
        r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{20,}",
        r"SG\.[\w-]{16,}\.[\w-]{16,}",
        r"(?:dckr_pat|lin_api|glsa|sntrys|xkeysib|tskey|hvs|hvb)[_.-][\w.-]{16,}",
        r"AGE-SECRET-KEY-1[A-Z0-9]{20,}",
    ),
    ("Telegram token", re.compile(r"(?<!\d)\d{8,10}:(AA[A-Za-z0-9_-]{30,})", re.ASCII)),
    (
        "webhook",
        re.compile(
            r"(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)"
            r"|discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{1,20})/([\w/-]+)",
            re.ASCII,
        ),
    ),
)

PEM = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(.*?)(?:-----END |\Z)", re.DOTALL
)
PEM_PART = re.compile(r"\\[nrt]|[A-Za-z0-9+/=]+")

# Names that end like this hold secrets; tokens that only turn pages do not.
_NAME = (
    r"(?=ap|ac|se|pr|si|en|cl|to|pa|pw|au|x-)"  # rules out most places at once
    r"(?<!page)(?<!page[_-])(?<!next)(?<!next[_-])(?<!sync)(?<!sync[_-])(?<!cursor)"
    r"(?<!continuation)(?<!continuation[_-])"
    r"(?P<name>api[_-]?key|access[_-]?key|account[_-]?key|secret[_-]?key|private[_-]?key"
    r"|signing[_-]?key|encryption[_-]?key|client[_-]?secret|secret|token|passwo?r?d|passphrase"
    r"|passwd|pwd|auth[_-]?key|x-amz-signature|x-goog-signature|security[_-]?code)"
)
_NAMED_FIELD = re.compile(f"{_NAME}$", re.IGNORECASE)
_QUOTE = r"\\?[\"']"
_QUOTED_VALUE = r"(?P<value>[^\"'\\\n]{1,4096})" + _QUOTE
_BARE_VALUE = f"(?P<value>{_CHARSET}{{3,}}+)(?![(\\[])"
# A bare word after a colon is a value only if nothing but the end of a line or list follows:
# "token: see below" is prose.
_END = r"(?=[ \t]{0,8}(?:$|[\n,;&}\])#\"'\\]))"

_SCHEME = "(?:bearer|basic|token|bot|digest|negotiate|apikey|key)"

SECRETS_IN_PLACE: tuple[re.Pattern[str], ...] = (
    re.compile(
        f"{_NAME}(?:{_QUOTE})?[ \\t]{{0,4}}(?:=>?|:)[ \\t]{{0,4}}{_QUOTE}{_QUOTED_VALUE}",
        re.IGNORECASE,
    ),
    re.compile(f"{_NAME}(?:{_QUOTE})?[ \\t]{{0,4}}=[ \\t]{{0,4}}{_BARE_VALUE}", re.IGNORECASE),
    re.compile(
        f"{_NAME}(?:{_QUOTE})?[ \\t]{{0,4}}:[ \\t]{{0,4}}{_BARE_VALUE}{_END}", re.IGNORECASE
    ),
    re.compile(
        f"--?(?:[a-z]{{1,20}}-){{0,3}}{_NAME}[ \\t]{{1,4}}{_QUOTE}{_QUOTED_VALUE}", re.IGNORECASE
    ),
    re.compile(f"--(?:[a-z]{{1,20}}-){{0,3}}{_NAME}[ \\t]{{1,4}}(?!-){_BARE_VALUE}", re.IGNORECASE),
    re.compile(
        r"(?<![A-Za-z])authorization(?:\\?[\"'])?[ \t]{0,4}[:=][ \t]{0,4}(?:\\?[\"'])?"
        f"(?:{_SCHEME}[ \\t]{{1,4}})?(?!{_SCHEME}[ \\t])(?P<value>{_CHARSET}++)",
        re.IGNORECASE,
    ),
    re.compile(f"(?<![A-Za-z])bearer[ \\t]{{1,4}}(?P<value>{_CHARSET}{{16,}})", re.IGNORECASE),
    re.compile(r"://[^/\s:@\"'<>]{0,256}:(?P<value>[^@\s/\"'<>]{1,256})@"),
    re.compile(
        r"\bcurl\b[^|;&\n]{0,200}?[ \t](?:-u|--user)[ =]?[\"']?[^\s:\"']{1,100}:"
        r"(?P<value>[^\s\"']{1,200})"
    ),
    re.compile(f"\\bmysql(?:dump|admin)?\\b[^|;&\\n]{{0,200}}?[ \\t]-p(?P<value>{_CHARSET}{{3,}})"),
    re.compile(
        r"\b(?:sshpass|docker login|podman login)\b[^|;&\n]{0,200}?[ \t]-p[ \t]?[\"']?"
        r"(?P<value>[^\s\"']{1,200})"
    ),
    re.compile(r"\bredis-cli\b[^|;&\n]{0,200}?[ \t]-a[ \t]{1,4}[\"']?(?P<value>[^\s\"']{1,200})"),
)

PLACEHOLDERS = frozenset(
    ("string", "str", "null", "none", "true", "false", "undefined", "required", "optional")
)
"""Words in a secret's place that are no secret."""

COOKIE = re.compile(
    r"(?<![A-Za-z])(?:set-)?cookie[\"']?[ \t]{0,4}:[ \t]{0,4}([^\r\n\"']{1,4096})", re.IGNORECASE
)
COOKIE_PAIR = re.compile(
    r"(?<![^;\s])(?!(?:path|domain|expires|max-age|samesite)=)[^=;\s]{1,100}="
    f"({_CHARSET}+)",
    re.IGNORECASE,
)


def is_secret_name(name: str) -> bool:
    """Whether a field of this name holds a secret: `api_key`, `dbPassword`, `token`."""
    return _NAMED_FIELD.search(name) is not None


_ID_FIELD = re.compile(
    r"(?:id|ids|uid|hash|sha\d{0,3}|digest|etag|cursor|checksum|commit|ref|page[_-]?token)$",
    re.IGNORECASE,
)


def is_id_name(name: str) -> bool:
    """Whether a field of this name holds an identifier, which may look random and is no secret."""
    return _ID_FIELD.search(name) is not None


def kind_of_name(name: str) -> str:
    """The kind a mask names for a secret found by the name beside it."""
    lowered = name.lower()
    for word, kind in (
        ("pass", "password"),
        ("pwd", "password"),
        ("key", "API key"),
        ("token", "token"),
    ):
        if word in lowered:
            return kind
    return "secret" if lowered else "credential"


_HEX = re.compile(r"(?:0x)?[0-9a-fA-F-]+")
_LOW_ENTROPY = 4.0
_SWITCHES = 0.36
_IN_WORDS = 0.45
_WORD_LIKE = re.compile(r"[A-Z]?[a-z]{3,}")


def looks_random(text: str) -> bool:
    """Whether a run of letters and digits looks like a generated key.

    It must mix small and capital letters and digits, change between them often, and spread over
    many characters. Hashes and UUIDs in hex are names of things far more often than secrets.
    """
    core = text.strip("=-_")
    if len(core) < 24 or _HEX.fullmatch(core) or re.match(r"sha\d{3}-", core):
        return False
    kinds = [
        "a" if c.islower() else "A" if c.isupper() else "0" if c.isdigit() else "-" for c in core
    ]
    if (
        not {"a", "A", "0"} <= set(kinds)
        or kinds.count("0") < 2
        or kinds.count("-") > len(core) / 8
    ):
        return False
    switches = sum(one != two for one, two in pairwise(kinds))
    in_words = sum(len(word) for word in _WORD_LIKE.findall(core))
    return (
        switches / len(core) >= _SWITCHES
        and in_words / len(core) <= _IN_WORDS
        and _entropy(core) >= _LOW_ENTROPY
    )


def _entropy(text: str) -> float:
    """Shannon entropy in bits per character."""
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values())
