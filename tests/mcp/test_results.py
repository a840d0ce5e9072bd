"""Results of MCP tools become chunks: bounded, and nothing is fetched."""

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from adapters.mcp.results import MAX_DATA, MAX_TEXT, chunk
from core.messages import DataBlock, TextBlock, ToolResultState


def test_every_kind_of_content_has_its_block() -> None:
    """Text and embedded text, recordings and embedded files; a link stays an address."""
    result = chunk(
        CallToolResult(
            content=[
                TextContent(text="one"),
                AudioContent(data="aGk=", mime_type="audio/wav"),
                EmbeddedResource(resource=TextResourceContents(uri="file:///a", text="two")),
                EmbeddedResource(
                    resource=BlobResourceContents(uri="file:///b", blob="aGk=", mime_type="x/y")
                ),
                ResourceLink(name="three", uri="http://example.invalid/"),
            ]
        )
    )

    assert [block.text for block in result.content if isinstance(block, TextBlock)] == [
        "one",
        "two",
        "[three at http://example.invalid/]",
    ]
    data = [block for block in result.content if isinstance(block, DataBlock)]
    assert [block.source.media_type for block in data] == ["audio/wav", "x/y"]
    assert result.state is ToolResultState.SUCCESS


def test_structured_content_is_text_when_there_is_nothing_else() -> None:
    """The model gets to read it, and the metadata has it as data."""
    result = chunk(CallToolResult(content=[], structured_content={"a": "é"}, is_error=True))

    assert [block.text for block in result.content if isinstance(block, TextBlock)] == [
        '{"a": "é"}'
    ]
    assert result.metadata == {"structured_content": {"a": "é"}}
    assert result.state is ToolResultState.ERROR


def test_a_huge_result_is_cut_and_says_so() -> None:
    """Text over all blocks, and each piece of data."""
    result = chunk(
        CallToolResult(
            content=[
                TextContent(text="x" * MAX_TEXT),
                TextContent(text="yy"),
                AudioContent(data="A" * (MAX_DATA + 4), mime_type="audio/wav"),
            ]
        )
    )

    shown = "".join(block.text for block in result.content if isinstance(block, TextBlock))
    assert len(shown) < MAX_TEXT + 200
    assert "characters left out here" in shown
    assert not any(isinstance(block, DataBlock) for block in result.content)
