"""Last step before a surface: its own syntax must find nothing to parse in shown text.

Only for text drawn by `core.text.display`, and only for places where a surface parses at all;
Slack's `rich_text` text elements take drawn text as it is.
"""

import re

_SLACK = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_SLACK_SPECIAL = re.compile(r"[&<>]")

# Mentions, channels, emoji, timestamps, commands, guides and suppressed links start with "<";
# a masked link has its address in round brackets.
_DISCORD_ENTITY = re.compile(
    r"<(?=[@#]|a?:\w{1,64}:\d|t:-?\d|id:\w|/[^>\n]{1,100}:\d|https?://|discord:"
    r"|!(?:channel|here|everyone|subteam|date))"
)
_DISCORD_MASS_MENTION = re.compile(r"@(?=everyone|here)", re.IGNORECASE)
_DISCORD_LINK = re.compile(r"(?<=\])\((?=[^)\n]{0,10}[a-z]{2,12}:)", re.IGNORECASE)


def for_slack(shown: str) -> str:
    """Escape shown text for a text object of Slack (`plain_text`, or `mrkdwn` of our own).

    Source: Slack's published rule: exactly these three characters are entities, in this order.
    """
    return _SLACK_SPECIAL.sub(lambda match: _SLACK[match[0]], shown)


def for_discord(shown: str) -> str:
    """Escape shown text for the inside of a code block of Discord.

    Nothing escapes a backtick there, so each becomes a visible token; mentions, links and the like
    lose their first character to one. Never an invisible character: Discord strips some of them
    after our escaping, and people would not see what we changed.
    """
    text = shown.replace("`", "<U+0060>")
    text = _DISCORD_ENTITY.sub("<U+003C>", text)
    text = _DISCORD_MASS_MENTION.sub("<U+0040>", text)
    return _DISCORD_LINK.sub("<U+0028>", text)


def discord_block(shown: str) -> str:
    """A code block of Discord with shown text in it."""
    return f"```\n{for_discord(shown)}\n```"
