"""Paths that usually hold a secret. Programs that print files don't get them under a prefix rule.

This is a second line behind the person who wrote the rule, not a boundary: ``cat:*`` was allowed
to read a project, and a line that names a key file is worth one more question. Read and Grep ask
about the same names (`core.permissions.paths`).
"""

import re
import unicodedata
from fnmatch import fnmatchcase

_NAMES = frozenset({
    ".netrc", ".npmrc", ".pypirc", ".envrc", ".git-credentials", ".pgpass",
    ".env", ".yarnrc.yml", "_netrc", ".my.cnf", ".htpasswd", ".dockercfg", ".vault-token",
    ".boto", ".s3cfg", "rclone.conf", ".rclone.conf", ".terraformrc", "credentials.tfrc.json",
    "credentials", "credentials.json", "credentials.yml", "credentials.toml", "secrets.yml",
    "secrets.yaml", "secrets.json", "secrets.toml", "secret.yaml", "secret.yml", "secret.json",
    "authorized_keys", "shadow", "gshadow", "shadow-", "gshadow-", "master.passwd", "sudoers",
    "service-account.json", "kubeconfig",
    "admin.conf", "terraform.tfvars", "environ", "keyturn.toml",
})  # fmt: skip
_PATTERNS = (
    ".env.*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx",
    "*.ppk", "*.gpg", "*.tfstate", "*.tfstate.backup", "*.auto.tfvars", "id_rsa*", "id_dsa*",
    "id_ecdsa*", "id_ed25519*", "*_rsa", "*_ed25519", ".env[-_~]*", ".*_history", "fish_history",
    "*.ovpn",
)  # fmt: skip
_FOLDERS = frozenset({
    ".ssh", ".gnupg", ".aws", ".kube",
    ".azure", ".docker", ".password-store", ".gcloud", ".secrets", "secrets", "gcloud",
    "keyrings", "sudoers.d",
})  # fmt: skip
_EXPANDABLE = (
    ".env", ".env.local", ".envrc", ".npmrc", ".netrc", ".pypirc", ".pgpass",
    ".git-credentials", ".bash_history", ".ssh", ".aws", ".kube", ".docker", ".gnupg",
    "credentials", "id_rsa", "id_ed25519", "key.pem", "server.key", "key.p12",
    "terraform.tfstate", "kubeconfig", "shadow", "environ",
)  # fmt: skip
"""Names that a glob is tried against: the ones nobody reaches with a harmless ``*.json``."""
_HARMLESS_ENDINGS = (".example", ".sample", ".template", ".dist", ".pub")
_SEPARATORS = re.compile(r"[/\\:=]+")
_HOME_DOTFILE = re.compile(r"(?:~[\w.-]*|/root|/(?:home|users)/[^/]+)/+\.(?:[^/]+|config/.+)/*")
_RAW = re.compile(
    r"/dev/(?!(?:null|zero|full|u?random|tty|std(?:in|out|err)|fd/\d+)$)[\s\S]+"
    r"|/proc/(?:[\s\S]*/)?(?:kcore|mem|environ|auxv)"
)
"""Devices and memory: whole disks, what is typed, what other programs hold."""
_GLOB = re.compile(r"[*?\[{]")
_BRACES = re.compile(r"\{[^}]*\}?")


def names_a_secret(text: str) -> bool:
    """Whether `text`, a path or ``revision:path``, names (or as a glob may name) a secret file.

    Dot files of a home directory and what lies in its ``.config`` count: they hold tokens more
    often than not. ``.env.example`` and public keys don't.
    """
    # As forgiving file systems do.
    lowered = without_invisible(unicodedata.normalize("NFC", text).casefold())
    if _HOME_DOTFILE.fullmatch(lowered) or _RAW.fullmatch(re.sub(r"/+", "/", lowered)):
        return True
    segments = [segment for segment in _SEPARATORS.split(lowered) if segment]
    if not segments or segments[-1].endswith(_HARMLESS_ENDINGS):
        return False
    return any(_is_secret_name(segment) for segment in segments)


def without_invisible(text: str) -> str:
    """The text without characters that only format others, such as U+200C."""
    if text.isascii():
        return text
    return "".join(each for each in text if unicodedata.category(each) != "Cf")


def _is_secret_name(segment: str) -> bool:
    if segment in _NAMES or segment in _FOLDERS:
        return True
    if any(fnmatchcase(segment, pattern) for pattern in _PATTERNS):
        return True
    if _GLOB.search(segment) is None or not re.search(r"[a-z.]", segment):
        return False
    return any(_may_match(name, segment) for name in _EXPANDABLE)


def _may_match(name: str, glob: str) -> bool:
    """As the shell matches: a leading dot has to be written; braces are taken as a wildcard."""
    if name.startswith(".") and glob[0] in "*?[":
        return False
    return fnmatchcase(name, _BRACES.sub("*", glob))
