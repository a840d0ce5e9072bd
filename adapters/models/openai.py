"""Models of OpenAI, and of any server with its chat protocol. Needs the extra `openai`."""

from openai import AsyncOpenAI
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers import Provider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from adapters.models.pydantic_ai import Opened


def opened(model: str, key: str, base_url: str | None) -> Opened:
    """A client and its model. The client does not retry: we do, and count."""
    client = AsyncOpenAI(api_key=key, base_url=base_url, max_retries=0)
    provider: Provider[AsyncOpenAI] = (
        OpenAICompatibleProvider("openai-compatible", openai_client=client)
        if base_url
        else OpenAIProvider(openai_client=client)
    )
    # A stream that just ends is a broken one: what came may be half of a call.
    whole = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    return Opened(OpenAIChatModel(model, provider=provider, profile=whole), client.close)
