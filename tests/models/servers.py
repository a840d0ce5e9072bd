"""Loopback servers that speak the protocols of OpenAI and Anthropic, one scripted answer a call."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Piece = dict[str, Any]


@dataclass
class Answer:
    """One answer: a stream of pieces, or a refusal.

    Attributes:
        cut: break the connection after the pieces instead of ending the stream.
    """

    pieces: Sequence[Piece] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: Piece = field(default_factory=dict[str, Any])
    cut: bool = False


@dataclass
class Server:
    """What was asked, and what will be answered."""

    answers: list[Answer]
    url: str = ""
    asked: list[Piece] = field(default_factory=list[Piece])
    keys: list[str] = field(default_factory=list[str])

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(await request.json())
        self.keys.append(request.headers.get("x-api-key") or request.headers["Authorization"])
        answer = self.answers.pop(0)
        if answer.status != 200:
            return web.json_response(answer.body, status=answer.status, headers=answer.headers)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in answer.pieces:
            name = f"event: {piece['type']}\n" if "type" in piece else ""
            await response.write(f"{name}data: {json.dumps(piece)}\n\n".encode())
        if answer.cut:
            assert request.transport is not None
            request.transport.close()
        elif "openai" in request.path:
            await response.write(b"data: [DONE]\n\n")
        return response


@asynccontextmanager
async def serving(*answers: Answer) -> AsyncIterator[Server]:
    """A server on a free port of the loopback, for as long as it is needed."""
    server = Server(list(answers))
    app = web.Application()
    app.router.add_post("/openai/chat/completions", server.handle)
    app.router.add_post("/v1/messages", server.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


def openai(*deltas: Piece, finish: str | None = "stop", cut: bool = False) -> Answer:
    """A stream of chat completion chunks."""

    def chunk(choices: list[Piece], **more: Any) -> Piece:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": choices,
            **more,
        }

    pieces = [chunk([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]
    if finish:
        pieces.append(chunk([{"index": 0, "delta": {}, "finish_reason": finish}]))
        usage = {
            "prompt_tokens": 11,
            "completion_tokens": 7,
            "total_tokens": 18,
            "prompt_tokens_details": {"cached_tokens": 4},
        }
        pieces.append(chunk([], usage=usage))
    return Answer(pieces, cut=cut)


def tool(index: int, text: str, call_id: str | None = None, name: str | None = None) -> Piece:
    """A delta of a call in OpenAI's words; the first one has id and name."""
    function: Piece = {"arguments": text}
    call: Piece = {"index": index, "function": function}
    if call_id:
        call |= {"id": call_id, "type": "function"}
        function["name"] = name
    return {"tool_calls": [call]}


def anthropic(*blocks: Piece, stop: str | None = "end_turn", cut: bool = False) -> Answer:
    """A stream of messages events. A block is its start and its `deltas`."""
    usage = {"input_tokens": 11, "output_tokens": 1, "cache_read_input_tokens": 4}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "c", "content": []}
    start = {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}
    pieces: list[Piece] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(blocks):
        opening = {key: value for key, value in block.items() if key != "deltas"}
        pieces.append({"type": "content_block_start", "index": index, "content_block": opening})
        pieces += [
            {"type": "content_block_delta", "index": index, "delta": delta}
            for delta in block["deltas"]
        ]
        if not (cut and index == len(blocks) - 1):
            pieces.append({"type": "content_block_stop", "index": index})
    if stop and not cut:
        delta = {"stop_reason": stop, "stop_sequence": None}
        pieces.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}})
        pieces.append({"type": "message_stop"})
    return Answer(pieces, cut=cut)


def refusal(status: int, code: str, retry_after: str | None = None) -> Answer:
    """An error in the shape that both providers' clients read."""
    headers = {"Retry-After": retry_after} if retry_after else {}
    secret = "what was said to the model"
    body = {"type": "error", "error": {"type": code, "code": code, "message": secret}}
    return Answer(status=status, headers=headers, body=body)


Streamed = Callable[..., Answer]
