"""Anthropic's models. Needs the extra `anthropic`."""

from anthropic import AsyncAnthropic
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from adapters.models.pydantic_ai import Opened


def opened(model: str, key: str, base_url: str | None) -> Opened:
    """A client and its model. The client does not retry: we do, and count."""
    client = AsyncAnthropic(api_key=key, base_url=base_url, max_retries=0)
    return Opened(
        AnthropicModel(model, provider=AnthropicProvider(anthropic_client=client)), client.close
    )
