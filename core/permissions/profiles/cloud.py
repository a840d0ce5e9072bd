"""Profiles of the AWS command line and of Terraform and OpenTofu.

The AWS names follow one convention: ``describe-`` and ``list-`` read. Values that begin with
``file://`` or ``https://`` are fetched and sent by the program, so no value may hold ``://``; a
configuration profile or endpoint chosen in the line is outside (``--profile``, ``--endpoint-url``).
"""

from core.permissions.profiles.profile import Offer, Profile, Style, profile

_READS = {
    "ec2": "instances vpcs subnets security-groups volumes snapshots images regions key-pairs"
    " availability-zones addresses nat-gateways route-tables internet-gateways network-interfaces"
    " instance-status instance-types launch-templates tags vpc-endpoints",
    "eks": "clusters nodegroups addons fargate-profiles updates cluster nodegroup addon"
    " addon-versions update insights",
    "ecs": "clusters services tasks task-definitions task-definition container-instances",
    "ecr": "repositories images",
    "elbv2": "load-balancers target-groups target-health listeners rules",
    "rds": "db-instances db-clusters db-snapshots",
    "lambda": "functions aliases versions-by-function",
    "cloudformation": "stacks stack-events stack-resources change-sets",
    "logs": "log-groups log-streams",
    "cloudwatch": "alarms metrics",
    "autoscaling": "auto-scaling-groups scaling-activities policies",
    "route53": "hosted-zones resource-record-sets",
    "iam": "roles users policies attached-role-policies",
    "sqs": "queues",
    "sns": "topics subscriptions",
    "dynamodb": "tables table",
    "s3api": "buckets",
    "acm": "certificates certificate",
}
_NAMES = (
    "region output query max-items page-size starting-token filters filter names name ids arn"
    " arns cluster-name nodegroup-name addon-name kubernetes-version cluster clusters service"
    " services service-name tasks task-definition family-prefix launch-type desired-status"
    " instance-ids vpc-ids subnet-ids group-ids group-names volume-ids snapshot-ids image-ids"
    " owners image-id repository-name repository-names registry-id load-balancer-arn"
    " load-balancer-arns target-group-arn target-group-arns listener-arn db-instance-identifier"
    " db-cluster-identifier function-name stack-name stack-status-filter log-group-name"
    " log-group-name-prefix log-stream-name-prefix order-by limit alarm-names alarm-name-prefix"
    " state-value namespace metric-name auto-scaling-group-names hosted-zone-id role-name"
    " user-name path-prefix scope topic-arn queue-name-prefix table-name region-names"
    " instance-types certificate-arn certificate-statuses update-name"
)
_FLAGS = (
    " ".join(f"--{name}=" for name in _NAMES.split())
    + " --no-cli-pager --no-paginate --no-include-email --descending --all-regions"
    " --include-deleted --only-attached"
)
_LITERAL = r"(?![\s\S]*://)[\s\S]*"
_VALUES = {f"--{name}": _LITERAL for name in _NAMES.split()}
_OPERAND = r"(?![\s\S]*://)[\s\S]+"

AWS = (
    *(
        profile(f"aws {service} {verb}-{thing}", _FLAGS, operand=_OPERAND, values=_VALUES)
        for service, things in _READS.items()
        for thing in things.split()
        for verb in ("describe", "list")
    ),
    profile("aws sts get-caller-identity", _FLAGS, operands=0, values=_VALUES),
    profile("aws s3 ls", f"{_FLAGS} --recursive --human-readable --summarize", values=_VALUES),
    profile(
        "aws logs tail",
        f"{_FLAGS} --follow --since= --format= --filter-pattern= --log-stream-names=",
        operands=1,
        operand=_OPERAND,
        values=_VALUES,
        offered_operands=1,
    ),
    profile(
        "aws ssm get-parameters-by-path",
        f"{_FLAGS} --path= --recursive",
        operands=0,
        values={**_VALUES, "--path": "/aws/service/.+"},  # public, and never encrypted
    ),
    profile("aws configure list", operands=0),
)


def _terraform(program: str) -> tuple[Profile, ...]:
    return (
        profile(f"{program} version", "-json", style=Style.WHOLE, operands=0),
        # Named outputs and -json print sensitive values; the plain list hides them.
        profile(f"{program} output", "-no-color", style=Style.WHOLE, operands=0),
        profile(f"{program} state list", "-id=", style=Style.WHOLE),
        profile(f"{program} workspace show", style=Style.WHOLE, operands=0),
        profile(f"{program} workspace list", style=Style.WHOLE, operands=0),
        profile(
            f"{program} fmt",
            "-check -diff -recursive -no-color",
            style=Style.WHOLE,
            requires="-check",
        ),
        *(
            profile(
                f"{program} {verb}",
                "-no-color",
                style=Style.WHOLE,
                operands=1,
                offer=Offer.EXACT,
            )
            for verb in ("show", "state show", "providers")
        ),
        *(
            profile(
                f"{program} {verb}",
                "-no-color -input= -lock-timeout= -detailed-exitcode -refresh= -compact-warnings",
                style=Style.WHOLE,
                operands=0,
                offer=Offer.EXACT,  # providers of the checkout run
            )
            for verb in ("plan", "validate")
        ),
    )


PROFILES = (*AWS, *_terraform("terraform"), *_terraform("tofu"))
