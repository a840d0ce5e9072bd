"""Tools from Python functions: the schema from the signature, the words from the docstring."""

import asyncio
import inspect
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ParamSpec, TypeGuard, TypeVar, cast, get_type_hints, overload

import griffe
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation

from core.agent.stamps import whole
from core.errors import SetupRefused, ToolFailed
from core.messages import DataBlock, TextBlock, ToolResultState
from core.permissions.functions import FunctionPermissions
from core.tools import Chunk, Input, Run, ToolPermissions, Traits

_ANY: TypeAdapter[Any] = TypeAdapter(Any)
_END = object()
_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A Python function as a tool. Calling it calls the function.

    The function is given real objects: what the annotations say, made from the JSON. It may be
    sync (it then runs in a thread), async, or a generator of either kind, which streams its result
    in pieces. What it raises becomes an error result. A parameter annotated `Run` is not part of
    the schema; it is given which run of which call this is.
    """

    function: Callable[..., Any]
    name: str
    description: str
    input_schema: Mapping[str, Any]
    traits: Traits
    permissions: ToolPermissions
    _arguments: type[BaseModel] = field(repr=False)
    _run_parameter: str | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function as if it were no tool."""
        return self.function(*args, **kwargs)

    async def run(self, value: Input, run: Run) -> AsyncIterator[Chunk]:
        """Do it.

        Raises:
            ToolFailed: the arguments do not fit.
        """
        arguments = self._read(value)
        if self._run_parameter is not None:
            arguments[self._run_parameter] = run
        async for piece in _pieces(partial(self.function, **arguments)):
            yield _chunk(piece)

    def _read(self, value: Input) -> dict[str, Any]:
        try:
            # As JSON, so that strict fields accept what JSON can't write otherwise (dates, sets).
            read = self._arguments.model_validate_json(json.dumps(dict(value)))
        except ValidationError as error:
            raise ToolFailed(_words(self.name, error)) from None
        fields = type(read).model_fields
        return {info.alias or name: getattr(read, name) for name, info in fields.items()}


@overload
def tool(function: Callable[_P, _R], /) -> FunctionTool: ...
@overload
def tool(
    *,
    name: str | None = None,
    permissions: ToolPermissions | None = None,
    **traits: Any,
) -> Callable[[Callable[..., Any]], FunctionTool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    permissions: ToolPermissions | None = None,
    **traits: Any,
) -> FunctionTool | Callable[[Callable[..., Any]], FunctionTool]:
    """Make a tool of a function, as a decorator with or without arguments: `@tool`,
    `@tool(read_only=True, title="Refund {amount}")`. The keywords are those of `core.tools.Traits`.

    Raises:
        SetupRefused: the function can't be described to a model.
    """

    def made(function: Callable[..., Any]) -> FunctionTool:
        return function_tool(function, name=name, traits=Traits(**traits), permissions=permissions)

    return made if function is None else made(function)


def function_tool(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    traits: Traits | None = None,
    permissions: ToolPermissions | None = None,
) -> FunctionTool:
    """Make a tool of a function.

    Raises:
        SetupRefused: it takes `*args`, `**kwargs` or positional-only arguments, or an annotation
            has no JSON schema.
    """
    called = name or str(getattr(function, "__name__", ""))
    traits = traits or Traits()
    summary, described = _docstring(function)
    hints = _hints(function, called)
    run_parameter = next((each for each, hint in hints.items() if hint is Run), None)
    arguments = _arguments(function, called, hints, described)
    schema = _without_titles(arguments.model_json_schema(by_alias=True))
    return FunctionTool(
        function,
        called,
        summary,
        schema,
        traits,
        permissions or FunctionPermissions(called, read_only=traits.read_only),
        arguments,
        run_parameter,
    )


def _hints(function: Callable[..., Any], called: str) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise SetupRefused(f"The annotations of {called} can't be read: {error}.") from error


def _arguments(
    function: Callable[..., Any],
    called: str,
    hints: Mapping[str, Any],
    described: Mapping[str, str],
) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    refused = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.VAR_KEYWORD,
    )
    for number, (name, parameter) in enumerate(inspect.signature(function).parameters.items()):
        if parameter.kind in refused:
            raise SetupRefused(f"{called} takes {parameter}, which can't be told to a model.")
        if hints.get(name) is Run:
            continue
        required = parameter.default is inspect.Parameter.empty
        # By alias, because pydantic keeps some names (`model_…`, `_…`) for itself.
        fields[f"argument_{number}"] = (
            hints.get(name, Any),
            Field(
                default=... if required else parameter.default,
                alias=name,
                description=described.get(name),
            ),
        )
    try:
        return create_model(called, __config__=ConfigDict(extra="forbid"), **fields)
    except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation) as error:
        raise SetupRefused(f"An annotation of {called} has no JSON schema: {error}") from error


def _docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """What it says of the function, and of each parameter (Google style)."""
    text = inspect.getdoc(function)
    if not text:
        return "", {}
    words: list[str] = []
    parameters: dict[str, str] = {}
    for section in griffe.Docstring(text, lineno=1).parse("google", warnings=False):
        if isinstance(section, griffe.DocstringSectionText):
            words.append(section.value)
        elif isinstance(section, griffe.DocstringSectionParameters):
            parameters |= {each.name: each.description for each in section.value}
    return "\n\n".join(words), parameters


def _without_titles(schema: Any, *, names: bool = False) -> Any:
    """Titles that pydantic makes of names only repeat them; a property called `title` stays."""
    if _is_list(schema):
        return [_without_titles(each) for each in schema]
    if not _is_dict(schema):
        return schema
    return {
        key: _without_titles(value, names=not names and key in ("properties", "$defs"))
        for key, value in schema.items()
        if names or not (key == "title" and isinstance(value, str))
    }


def _words(tool_name: str, error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [f"- /{'/'.join(map(str, each['loc']))}: {each['msg']}" for each in faults]
    return f"The input does not fit {tool_name}:\n" + "\n".join(lines)


async def _pieces(call: Callable[[], Any]) -> AsyncGenerator[Any]:
    """What a function gives, whatever kind of function it is."""
    function = cast("partial[Any]", call).func
    if inspect.isasyncgenfunction(function):
        async for piece in call():
            yield piece
    elif inspect.iscoroutinefunction(function):
        yield await call()
    else:
        async for piece in _from_thread(call):
            yield piece


async def _from_thread(call: Callable[[], Any]) -> AsyncGenerator[Any]:
    given = await asyncio.to_thread(call)
    if inspect.isawaitable(given):  # a callable object whose call is async
        given = await given
    if not hasattr(given, "__next__"):
        yield given
        return
    while (piece := await asyncio.to_thread(next, given, _END)) is not _END:
        yield piece


def _chunk(piece: Any) -> Chunk:
    if isinstance(piece, Chunk):
        return piece
    if piece is None:
        return Chunk()
    return Chunk(tuple(_blocks(piece)), ToolResultState.RUNNING)


def _blocks(piece: Any) -> Iterable[TextBlock | DataBlock]:
    if isinstance(piece, TextBlock | DataBlock):
        return (piece,)
    if isinstance(piece, str):
        return (TextBlock(text=whole(piece)),)
    if _is_list(piece) and piece and all(map(_is_block, piece)):
        return piece
    return (TextBlock(text=_ANY.dump_json(piece).decode()),)


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _is_dict(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_block(part: Any) -> bool:
    return isinstance(part, TextBlock | DataBlock)
