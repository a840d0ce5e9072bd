"""Profiles of programs that describe the machine: processes, units, logs, disks, network state."""

from core.permissions.profiles.profile import Style, profile

_UNITS = (
    "-laqr -tno= --no-pager --full --all --type= --state= --failed --no-legend --plain --lines="
    " --output= --user --system --quiet --recursive --reverse --legend="
)
_PS_LETTERS = r"[A-DF-Za-df-z]+|\d+(?:,\d+)*"
"""BSD option letters or process ids; ``e`` would show the environment of every process."""
_PS_FORMAT = r"(?!(?i:[\s\S]*environ))[\s\S]*"
_NO_ENVIRONMENT = r"(?!(?i:.*environ))[\w,]+"
_IP_SHOW = r"show|list|ls|get"
_IP_WORD = r"[a-zA-Z0-9][\w.:/@-]*"
_PACKAGE = r"[A-Za-z0-9*][\w.+:*-]*"
_FORMULA = r"(?![\s\S]*\.rb$)[A-Za-z0-9][\w.+@-]*"
"""No path, URL or tap: Homebrew loads those as Ruby. Source: the manual of brew."""

PROCESSES = (
    profile(
        "ps",
        "-AaedfFjlLTyMHwxc -CGgkopqstuU= --no-headers --no-heading --sort= --forest --format="
        " --pid= --ppid= --user= --headers --cols= --width=",
        operand=_PS_LETTERS,
        values={"-o": _PS_FORMAT, "--format": _PS_FORMAT},
    ),
    profile("top", "-bcHiS1 -dnopuUw=", requires="-b", operands=0),
    profile("pgrep", "-acflnovwxi -dgGPstuU= --list-name --list-full --full --count --exact"),
    profile("pstree", "-aAcglnNpsStTuU -H="),
    profile("tasklist", operand=r"/(?i:v|svc|nh|m|fo|fi)|(?i:csv|list|table)|[\w ]+"),
    profile(
        "lsof",
        "-aCbhlnNPRtUvVwX -cdgpuTs= -i[=] -F[=] -s[=]",
        operand=r"\+[DdL]\d*|(?!\+)[\s\S]+",
    ),
    profile("uptime", "-psV --pretty --since", operands=0),
    profile("free", "-bkmghltvw -cs= --human --mega --giga --total --wide --si", operands=0),
    profile("vmstat", "-afimnstdDwV -pS=", operand=r"\d+"),
    profile("iostat", "-cdhkmNstxyz -jop=", operand=r"[\w.-]+"),
    profile("nproc", "--all --ignore=", operands=0),
    profile("w", "-hsfiou", operands=1),
    profile("who", "-abdHlmpqrstTu --all --boot --count", operands=0),
    profile("last", "-adFiRwxo -nstp= -NUM", operand=r"[\w./:-]+"),
)

MACHINE = (
    profile("uname", "-asnrvmpio --all --kernel-name --kernel-release --machine", operands=0),
    profile("arch", operands=0),
    profile("sw_vers", "-productName -productVersion -buildVersion", style=Style.WHOLE, operands=0),
    profile("whoami", operands=0),
    profile("id", "-ugGnrzp --user --group --groups --name --real --zero", operands=1),
    profile("groups", operands=1),
    profile(
        "hostname", "-fsdiIA --fqdn --short --domain --ip-address --all-ip-addresses", operands=0
    ),
    profile(
        "date",
        "-uRj -dv= -I[=] --utc --universal --rfc-email --iso-8601[=] --rfc-3339= --date=",
        operand=r"\+[\s\S]*",
        values={"-v": r"[+-]?\d+[A-Za-z]+"},
    ),
    profile("cal", "-13jmyswhn -ABdHm=", operand=r"\w+"),
    profile("timedatectl status", "--no-pager", operands=0),
    profile("hostnamectl status", "--no-pager", operands=0),
    profile("locale", "-a", operands=1),
    profile("getconf", "-a", operands=2, operand=r"[\w/.]+"),
    profile("sysctl", "-anNeb --all --values --names", operand=r"[\w.*/-]+"),
    profile("lscpu", "-abcJxpe --all --online --json", operands=0),
    profile("lsblk", "-abdDfhiJlmMnOpPrStz -eIoxw= --all --bytes --fs --json --output="),
    profile("lsusb", "-tv -sd=", operands=0),
    profile("lspci", "-vnkmtD -sd=", operands=0),
    profile("lsmod", operands=0),
    profile("findmnt", "-abDefiklnrRuJ -oTtSM= --json --output=", operands=1),
    profile("mount", "-lv -t=", operands=0),
    profile(
        "hyprctl",
        "-j",
        operand=r"[\w:.-]+",
        script=r"monitors|clients|workspaces|activewindow|activeworkspace|devices|binds|version"
        r"|getoption|layers|instances|systeminfo",
    ),
)

UNITS_AND_LOGS = (
    profile("systemctl status", _UNITS),
    profile("systemctl is-active", _UNITS),
    profile("systemctl is-enabled", _UNITS),
    profile("systemctl is-failed", _UNITS),
    profile("systemctl is-system-running", _UNITS, operands=0),
    profile("systemctl list-units", _UNITS),
    profile("systemctl list-unit-files", _UNITS),
    profile("systemctl list-timers", _UNITS),
    profile("systemctl list-sockets", _UNITS),
    profile("systemctl list-jobs", _UNITS),
    profile("systemctl list-dependencies", _UNITS),
    profile("systemctl get-default", _UNITS, operands=0),
    profile("systemctl cat", _UNITS),
    profile(
        "systemctl show",
        f"{_UNITS} -p= --property= --value",
        requires="-p --property",
        values={"-p": _NO_ENVIRONMENT, "--property": _NO_ENVIRONMENT},
    ),
    profile(
        "journalctl",
        "-efxrqkaNm -nuotpSUgF= -b[=] -NUM --no-pager --unit= --user-unit= --lines= --follow"
        " --boot[=] --output= --output-fields= --since= --until= --priority= --identifier="
        " --grep= --dmesg"
        " --reverse --utc --no-hostname --quiet --all --list-boots --disk-usage --user --system"
        " --no-full --case-sensitive[=] --catalog --no-tail --merge --field= --fields --pager-end",
        operand=r"[A-Z_][A-Z0-9_]*=[\s\S]*|\+|/[\w./-]+|\d+|[0-9a-f]{32}",
    ),
    profile(
        "dmesg",
        "-TtHkuxrweSPh -lf= -L[=] --ctime --human --kernel --level= --facility= --decode --follow"
        " --since= --until= --nopager --color[=] --time-format=",
        operands=0,
    ),
    profile("loginctl list-sessions", "--no-pager --no-legend", operands=0),
    profile("coredumpctl list", "-r -n= --no-pager --no-legend --since= --until="),
)

NETWORK_STATE = (
    profile(
        "ss",
        "-tulnpaeimoswx46rHOdbz0 -fA= --tcp --udp --listening --numeric --processes --all"
        " --extended --summary --no-header --info --options --memory --family= --query=",
    ),
    profile("netstat", "-tulnpaeorsgicWv46w -fI= --tcp --udp --listening --numeric --programs"),
    *(
        profile(f"ip {thing}", script=_IP_SHOW, operand=_IP_WORD)
        for thing in ("addr", "address", "a", "link", "l", "route", "r", "neigh", "rule", "maddr")
    ),
    profile("ifconfig", "-asv", operands=1, operand=r"[\w.:-]+"),
    profile("arp", "-anev", operands=0),
    profile("resolvectl status", "--no-pager", operands=1),
)

PACKAGES = (
    profile(
        "dpkg",
        "-lLsSpV --list --listfiles --status --search --get-selections --print-avail --verify",
        operand=r"[A-Za-z0-9*/][\w.+:*/-]*",
        requires="-l -L -s -S -p -V --list --listfiles --status --search --get-selections"
        " --print-avail --verify",
    ),
    profile("dpkg-query", "-lLsSW -f= --list --show --showformat= --status", operand=_PACKAGE),
    profile("apt list", "-a --installed --upgradable --all-versions", operand=_PACKAGE),
    profile("apt show", "-a", operand=_PACKAGE),
    *(
        profile(f"apt-cache {verb}", "-n --names-only", operand=_PACKAGE)
        for verb in ("policy", "show", "search", "depends", "rdepends", "madison")
    ),
    profile(
        "rpm",
        "-qailRdcf --query --all --info --list --requires --provides --changelog --last",
        operand=r"[A-Za-z0-9*/][\w.+:*/-]*",
        requires="-q --query",
    ),
    profile("brew list", "-1l --versions --cask --formula", operand=_FORMULA),
    profile("brew info", "--json[=] --cask --formula", operand=_FORMULA),
)

PROFILES = PROCESSES + MACHINE + UNITS_AND_LOGS + NETWORK_STATE + PACKAGES
