"""Opens a provider's model by its name, such as ``openai:gpt-5``.

The client libraries are extras (`keyturn[openai]`, `keyturn[anthropic]`) and are imported only
when a model of theirs is opened.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from core.errors import SetupRefused
from core.ports import Clock

if TYPE_CHECKING:
    from adapters.models.pydantic_ai import ProviderModel

PROVIDERS = ("openai", "anthropic")
"""Providers we have a client for. Anything that speaks OpenAI's protocol is "openai" with a
`base_url`."""

NO_KEY = "unused"
"""What is sent where a key is expected to a local server that wants none."""


def open_model(
    name: str,
    *,
    clock: Clock,
    chance: Callable[[], float],
    api_key: str | None = None,
    base_url: str | None = None,
) -> "ProviderModel":
    """A model that is ready to be asked; nothing is sent yet. Its `close` gives connections back.

    Args:
        name: provider and model, "openai:gpt-5" or "anthropic:claude-sonnet-4-5".
        clock: for the pauses between tries.
        chance: a random number from 0 to 1 for each pause.
        api_key: required unless `base_url` is given.
        base_url: of a server that speaks the provider's protocol, without the path of a call.

    Raises:
        SetupRefused: an unknown provider, no key, or the extra is not installed.
    """
    provider, _, model = name.partition(":")
    if provider not in PROVIDERS or not model:
        raise SetupRefused(
            f'The model "{name}" is unknown. Write one of '
            + ", ".join(f'"{known}:MODEL"' for known in PROVIDERS)
            + "."
        )
    if not api_key and not base_url:
        raise SetupRefused(
            f"{name} needs a key. Set {provider.upper()}_API_KEY, or base_url for a local server."
        )
    ours = _imported("adapters.models.pydantic_ai", provider)
    opened = _imported(f"adapters.models.{provider}", provider).opened
    made: ProviderModel = ours.ProviderModel(
        name, opened(model, api_key or NO_KEY, base_url), clock, chance
    )
    return made


def _imported(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise SetupRefused(
            f"Models of {extra} need a library that is not installed: "
            f'pip install "keyturn[{extra}]".'
        ) from error
