"""Results of MCP tools as the chunks that Keyturn streams."""

import json
from collections.abc import Iterator

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from core.messages import Base64Source, DataBlock, TextBlock, ToolResultState
from core.tools import Chunk

MAX_TEXT = 256 * 1024
"""Characters of text in one result."""

MAX_DATA = 5 * 1024 * 1024
"""Characters of one picture or recording, in base64."""


def chunk(result: CallToolResult) -> Chunk:
    """The whole result. Structured content is given as JSON text if there is nothing else to read,
    and is kept in the metadata either way, unless it is too long."""
    blocks = list(_cut([block for part in result.content for block in _blocks(part)]))
    metadata: dict[str, object] = {}
    if result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
        if not blocks:
            blocks = list(_cut([TextBlock(text=text)]))
        if len(text) <= MAX_TEXT:
            metadata["structured_content"] = result.structured_content
    state = ToolResultState.ERROR if result.is_error else ToolResultState.SUCCESS
    return Chunk(tuple(blocks), state, metadata)


def _blocks(part: ContentBlock) -> Iterator[TextBlock | DataBlock]:
    match part:
        case TextContent():
            yield TextBlock(text=part.text)
        case ImageContent() | AudioContent():
            yield _data(part.data, part.mime_type)
        case EmbeddedResource(resource=BlobResourceContents() as blob):
            yield _data(blob.blob, blob.mime_type or "application/octet-stream", str(blob.uri))
        case EmbeddedResource(resource=TextResourceContents() as text):
            yield TextBlock(text=text.text)
        case ResourceLink():
            yield TextBlock(text=f"[{part.name} at {part.uri}]")


def _data(data: str, media_type: str, name: str | None = None) -> TextBlock | DataBlock:
    if len(data) > MAX_DATA:
        return TextBlock(text=f"[{media_type} of {len(data)} characters left out: too long]")
    return DataBlock(source=Base64Source(data=data, media_type=media_type), name=name)


def _cut(blocks: list[TextBlock | DataBlock]) -> Iterator[TextBlock | DataBlock]:
    """The blocks until the text is used up."""
    room = MAX_TEXT
    left_out = 0
    for block in blocks:
        if isinstance(block, TextBlock):
            kept = block.text[:room]
            left_out += len(block.text) - len(kept)
            room -= len(kept)
            if not kept and block.text:
                continue
            yield TextBlock(text=kept) if len(kept) < len(block.text) else block
        else:
            yield block
    if left_out:
        yield TextBlock(text=f"\n[{left_out} characters left out here]")
