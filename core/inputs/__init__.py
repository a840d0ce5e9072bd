"""The `input` of a call: read strictly, checked against the tool's schema, compared."""

from core.inputs.changes import Change, changes, pointer_part, pointer_parts
from core.inputs.closing import Schema, is_schema, local_target
from core.inputs.reading import (
    MAX_DEPTH,
    MAX_INPUT_BYTES,
    MAX_INTEGER,
    Json,
    canonical_input,
    parse_input,
)
from core.inputs.validation import FieldError, check_schema, validate_input

__all__ = [
    "MAX_DEPTH",
    "MAX_INPUT_BYTES",
    "MAX_INTEGER",
    "Change",
    "FieldError",
    "Json",
    "Schema",
    "canonical_input",
    "changes",
    "check_schema",
    "is_schema",
    "local_target",
    "parse_input",
    "pointer_part",
    "pointer_parts",
    "validate_input",
]
