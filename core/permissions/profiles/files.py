"""Profiles of programs that list, describe and compare files."""

from core.permissions.profiles.profile import RELATIVE, Globs, Offer, Style, profile

_CHECKSUM = "-bctz --binary --check --ignore-missing --quiet --status --strict --tag --text --warn"

PROFILES = (
    profile(
        "ls",
        "-aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 -ITw= --all --almost-all --author --escape --si"
        " --block-size= --color[=] --classify[=] --directory --file-type --format= --full-time"
        " --group-directories-first --no-group --human-readable --dereference --hide= --help"
        " --hyperlink[=] --indicator-style= --inode --ignore= --kibibytes --numeric-uid-gid"
        " --literal --quote-name --quoting-style= --reverse --recursive --size --sort= --time="
        " --time-style= --width= --zero --version",
        globs=Globs.ANY,
    ),
    profile(
        "tree",
        "-adfxlpugshDFNqQirtcUvnCASJX -LPI= --du --dirsfirst --filesfirst --noreport --gitignore"
        " --prune --matchdirs --filelimit= --charset= --inodes --device --timefmt= --sort= --si"
        " --ignore-case --nolinks --metafirst --version --help",
        loose_values=True,  # in `tree -Pox y f`, o is a flag, and writes f
    ),
    profile(
        "find",
        "-H -L -P -maxdepth= -mindepth= -depth -xdev -mount -follow -daystart -noleaf -name="
        " -iname= -path= -ipath= -wholename= -iwholename= -regex= -iregex= -regextype= -lname="
        " -ilname= -type= -xtype= -size= -empty -mtime= -atime= -ctime= -mmin= -amin= -cmin="
        " -newer= -anewer= -cnewer= -newermt= -newerat= -newerct= -newermm= -user= -group= -uid="
        " -gid= -nouser -nogroup -perm= -readable -writable -executable -links= -inum= -samefile="
        " -fstype= -true -false -prune -print -print0 -printf= -ls -quit -not -and -or -o -a",
        style=Style.WHOLE,
        values={"-perm": r"[-/]?[0-7ugoa=+rwxXst,-]+"},
    ),
    profile("stat", "-LtfxslnFr -c= --format= --printf= --dereference --terse --file-system"),
    profile(
        "file",
        "-bikLhNnrsvE -F= --brief --mime --mime-type --mime-encoding --dereference --version",
    ),
    profile(
        "du",
        "-abcDhHklLmPsSx0 -dtB= --all --apparent-size --bytes --total --dereference --max-depth="
        " --human-readable --si --summarize --one-file-system --threshold= --exclude= --time[=]"
        " --time-style= --block-size= --separate-dirs --inodes",
    ),
    profile(
        "df",
        "-aHhiklmPTv -BFtx= --all --human-readable --si --inodes --local --portability --sync"
        " --print-type --output[=] --total --type= --exclude-type= --block-size=",
    ),
    profile("pwd", "-LP --logical --physical", operands=0),
    profile("cd", operands=1, operand=RELATIVE, offer=Offer.EXACT),
    profile("basename", "-az -s= --multiple --suffix= --zero"),
    profile("dirname", "-z --zero"),
    profile(
        "realpath",
        "-eLmPqsz --canonicalize-existing --canonicalize-missing --no-symlinks --relative-to="
        " --relative-base= --strip --zero --quiet",
    ),
    profile(
        "readlink",
        "-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline",
    ),
    profile("xattr", "-lrsvx"),
    profile("getfacl", "-acenpRLPt --access --default --numeric --omit-header --recursive"),
    profile("lsattr", "-RVadlpv"),
    profile("mountpoint", "-qdx"),
    profile(
        "diff",
        "-abBcdeEinNpqrstTuwyZ -CDFIUWxS= --brief --report-identical-files --side-by-side"
        " --unified[=] --context[=] --recursive --new-file --ignore-case --ignore-all-space --text"
        " --ignore-space-change --ignore-blank-lines --exclude= --color[=] --minimal --width="
        " --strip-trailing-cr --suppress-common-lines --label= --no-dereference",
        reads_files=True,
    ),
    profile(
        "cmp",
        "-bls -in= --print-bytes --verbose --quiet --silent --bytes= --ignore-initial=",
        reads_files=True,
    ),
    profile(
        "comm",
        "-123z --check-order --nocheck-order --output-delimiter= --total",
        reads_files=True,
    ),
    profile("wc", "-lwcmL --lines --words --chars --bytes --max-line-length --total="),
    profile("md5sum", _CHECKSUM),
    profile("sha1sum", _CHECKSUM),
    profile("sha224sum", _CHECKSUM),
    profile("sha256sum", _CHECKSUM),
    profile("sha384sum", _CHECKSUM),
    profile("sha512sum", _CHECKSUM),
    profile("b2sum", _CHECKSUM),
    profile("shasum", "-bcptUs -a= --algorithm= --check --status"),
    profile("cksum", "-a= --algorithm="),
    profile(
        "test",
        "-b -c -d -e -f -g -h -k -L -n -N -O -G -p -r -s -S -t -u -w -x -z -a -o -eq -ne -lt -le"
        " -gt -ge -nt -ot -ef",
        style=Style.WHOLE,
        globs=Globs.NONE,
    ),
)
