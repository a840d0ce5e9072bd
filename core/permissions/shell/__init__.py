"""Shell commands: what an allow rule may cover, what a deny rule must catch, what is safe.

- `words`: `read_commands`, a command as bash would see it, or `NotPlain` with the reason
- `rules`: `check_rule`, `AllowRules` (every part of a command must be covered)
- `denial`: `DenyRules`, for deny rules, ask rules and gates (any part of a command is enough)
- `programs`: every program that a command could start, read liberally
- `safety`: `safety_reason`, `edits_inside`; `readonly`: `is_read_only`

Import from these modules; this package imports none of them, so that profiles can use `words`.
"""
