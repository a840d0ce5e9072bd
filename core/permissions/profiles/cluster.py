"""Profiles of kubectl, helm, docker and podman: what lists and describes."""

from core.permissions.profiles.profile import Offer, Profile, profile

_NO_SECRETS = r"(?i:(?!(?:[\s\S]*,)?secrets?(?:[.,/]|$)))[\s\S]+"
"""``kubectl get pods,secrets`` and ``secret/x`` print what nobody meant to show."""
_KUBE_OUTPUT = (
    r"json|yaml|wide|name|(?:custom-columns|jsonpath|jsonpath-as-json|go-template)=[\s\S]*"
)
_KUBE_SCOPE = " -n= -A --namespace= --all-namespaces[=]"
_KUBE_SELECT = " -l= --selector= --field-selector="
_KUBE_VALUES = {"-o": _KUBE_OUTPUT, "--output": _KUBE_OUTPUT}
_SEARCHED = r"(?!localhost/)[A-Za-z0-9][\w-]*(?:/[\w.-]+)?"
"""No registry before the name: any host could be asked. Source: docker's manual of image names."""
_LIST = "-a -q -f= -n= --all --quiet --no-trunc --filter= --format="

KUBECTL = (
    profile(
        "kubectl get",
        "-w -oL= --output= --watch[=] --watch-only[=] --no-headers[=]"
        " --show-labels[=] --show-kind[=] --label-columns= --sort-by= --ignore-not-found[=]"
        f" --chunk-size= --subresource= --output-watch-events[=]{_KUBE_SCOPE}{_KUBE_SELECT}",
        operand=_NO_SECRETS,
        values=_KUBE_VALUES,
        offered_operands=1,
    ),
    profile(
        "kubectl describe",
        f"--show-events[=] --chunk-size={_KUBE_SCOPE}{_KUBE_SELECT}",
        operand=_NO_SECRETS,
        offered_operands=1,
    ),
    profile(
        "kubectl logs",
        "-fp -c= -l= -n= --follow[=] --previous[=] --container= --all-containers[=] --tail="
        " --since= --since-time= --timestamps[=] --prefix[=] --selector= --namespace="
        " --max-log-requests= --ignore-errors[=] --limit-bytes= --pod-running-timeout=",
        operands=2,
    ),
    profile(
        "kubectl top",
        f"--containers[=] --sort-by= --no-headers[=] --sum[=]{_KUBE_SCOPE}{_KUBE_SELECT}",
        operands=2,
    ),
    profile(
        "kubectl events",
        f"-w -o= --output= --watch[=] --for= --types= --no-headers[=]{_KUBE_SCOPE}",
        operands=0,
        values=_KUBE_VALUES,
    ),
    profile("kubectl explain", "--recursive[=] --api-version= --output=", operands=1),
    profile("kubectl version", "-o= --client[=] --output=", operands=0),
    profile("kubectl cluster-info", operands=0),
    profile(
        "kubectl api-resources",
        "-o= --output= --namespaced[=] --verbs= --api-group= --no-headers[=] --sort-by="
        " --categories=",
        operands=0,
    ),
    profile("kubectl api-versions", operands=0),
    profile(
        "kubectl rollout status",
        "-w -n= --watch[=] --timeout= --namespace= --revision=",
        operands=2,
    ),
    profile("kubectl rollout history", "-n= --revision= --namespace=", operands=2),
    profile(
        "kubectl auth can-i", f"--list[=] --quiet[=] -q --no-headers[=]{_KUBE_SCOPE}", operands=3
    ),
    profile("kubectl auth whoami", "-o= --output=", operands=0),
    profile("kubectl config current-context", operands=0),
    profile("kubectl config get-contexts", "-o= --output= --no-headers[=]", operands=1),
    profile("kubectl config get-clusters", operands=0),
    profile("kubectl config view", "-o= --output= --minify[=]", operands=0, values=_KUBE_VALUES),
)

_HELM_SCOPE = " -n= -o= --namespace= --output="
HELM = (
    *(
        profile(
            f"helm {verb}",
            f"-aAdqrf -m= --all --all-namespaces --date --deployed --failed --filter="
            f" --max= --offset= --pending --reverse --short --superseded{_HELM_SCOPE}",
            operands=0,
        )
        for verb in ("list", "ls")
    ),
    profile("helm status", f"--revision= --show-resources{_HELM_SCOPE}", operands=1),
    profile("helm history", f"--max={_HELM_SCOPE}", operands=1),
    profile("helm version", "--short --template=", operands=0),
    profile("helm repo list", "-o= --output=", operands=0),
    profile("helm search repo", "-l -o= --versions --version= --devel --output= --regexp -r"),
)


def _containers(program: str) -> tuple[Profile, ...]:
    """Docker's reading commands; podman has the same."""
    return (
        profile(f"{program} ps", f"{_LIST} -sl --size --latest --last=", operands=0),
        profile(f"{program} container ls", f"{_LIST} -sl --size --latest --last=", operands=0),
        profile(f"{program} images", f"{_LIST} --digests --tree", operands=1),
        profile(f"{program} image ls", f"{_LIST} --digests --tree", operands=1),
        profile(f"{program} history", "-qH --quiet --no-trunc --human[=] --format=", operands=1),
        profile(
            f"{program} logs",
            "-ft -n= --follow --timestamps --tail= --since= --until= --details",
            operands=1,
        ),
        profile(f"{program} stats", "-a --all --no-stream --no-trunc --format="),
        profile(f"{program} top", operands=2, operand=r"[\w.,-]+"),
        profile(f"{program} port", operands=2),
        profile(f"{program} diff", operands=1),
        profile(f"{program} version", "-f= --format=", operands=0),
        profile(f"{program} info", "-f= --format=", operands=0),
        profile(
            f"{program} search",
            "-f= --filter= --format= --limit= --no-trunc",
            operands=1,
            operand=_SEARCHED,
        ),
        profile(f"{program} network ls", _LIST, operands=0),
        profile(f"{program} network inspect", "-v -f= --format= --verbose"),
        profile(f"{program} volume ls", _LIST, operands=0),
        profile(f"{program} volume inspect", "-f= --format="),
        profile(f"{program} system df", "-v --verbose --format=", operands=0),
        profile(f"{program} context ls", "-q --quiet --format=", operands=0),
        profile(f"{program} context show", operands=0),
        # A container's environment holds keys more often than not.
        profile(f"{program} inspect", "-s -f= --format= --size --type=", offer=Offer.NOTHING),
    )


def _compose(command: str) -> tuple[Profile, ...]:
    return (
        profile(
            f"{command} ps", "-aq --all --quiet --services --format= --filter= --status= --no-trunc"
        ),
        profile(
            f"{command} logs",
            "-ft -n= --follow --timestamps --tail= --since= --until= --no-color --no-log-prefix"
            " --index=",
        ),
        profile(f"{command} images", "-q --quiet --format="),
        profile(f"{command} top"),
        profile(f"{command} ls", "-aq --all --quiet --format= --filter=", operands=0),
        profile(f"{command} version", "-f= --format= --short", operands=0),
        # Prints the file with every variable filled in, secrets included.
        profile(
            f"{command} config",
            "-q --quiet --services --images --volumes --profiles --hash= --format=",
            offer=Offer.EXACT,
        ),
    )


PROFILES = (
    *KUBECTL,
    *HELM,
    *_containers("docker"),
    *_containers("podman"),
    *_compose("docker compose"),
    *_compose("docker-compose"),
)
