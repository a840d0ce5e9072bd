"""Letters that pose as other letters.

A Cyrillic letter in an English word looks like a Latin one. Words that mix scripts like this are
drawn with the foreign letters as tokens; a text in another script is left alone.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_ASCII_LETTER = re.compile(r"[A-Za-z]")
_WORD = re.compile(r"\w+")
_CHAIN = re.compile(r"[\w.@:/-]+")

# Scripts that are written together with Latin and do not look like it.
# Source: Unicode Technical Standard 39, section 5.2 ("Highly Restrictive").
_BESIDE_LATIN = frozenset(
    ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HALFWIDTH", "HANGUL", "BOPOMOFO")
)
_LATIN = frozenset(("LATIN", "FEMININE", "MASCULINE", "MICRO"))

# Letters of other scripts that most fonts draw like an ASCII letter, in alphabets where people
# also write with them: Cyrillic, Greek, Armenian.
# Source: Unicode Technical Standard 39, confusables, reduced to the plainest.
_LOOK_ALIKES = frozenset("аеіјорсухѕһԁԛԝӏАВЕЗІЈКМНОРСТУХЅԌԚԜҮνορϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϺաոսօցհյքգզւՏՍՕԼ")


@lru_cache(maxsize=4096)
def script_of(letter: str) -> str:
    """The script of a letter or digit, as the first word of its Unicode name.

    ``LATIN`` only for ASCII and the accented letters of living alphabets: phonetic, fullwidth and
    mathematical forms count as scripts of their own, because they pose as plain letters.
    """
    script = unicodedata.name(letter, "UNNAMED").split(" ", 1)[0]
    code = ord(letter)
    plain = code < 0x250 or 0x1E00 <= code <= 0x1EFF
    if script == "LATIN" and (not plain or 0x1C0 <= code <= 0x1C3):
        return "LATIN-LIKE"
    return "LATIN" if script in _LATIN else script


def foreign_letters(text: str) -> Iterator[int]:
    """Positions of letters and digits that pose as others: to be drawn as tokens."""
    if text.isascii():
        return
    posing = _scripts_that_only_pose(text)
    for chain in _CHAIN.finditer(text):
        if chain[0].isascii():
            continue
        in_ascii = _ASCII_LETTER.search(chain[0]) is not None
        for word in _WORD.finditer(chain[0]):
            offset = chain.start() + word.start()
            yield from (offset + i for i in _foreign_in_word(word[0], in_ascii, posing))


def _foreign_in_word(word: str, in_ascii: bool, posing: frozenset[str]) -> Iterator[int]:
    others = [
        (match.start(), script_of(match[0]))
        for match in _NOT_ASCII.finditer(word)
        if _is_letter(match[0]) and script_of(match[0]) not in _BESIDE_LATIN | {"LATIN"}
    ]
    mixed = _ASCII_LETTER.search(word) is not None or len({name for _, name in others}) > 1
    look_alike = in_ascii and all(word[place] in _LOOK_ALIKES for place, _ in others)
    for place, name in others:
        if mixed or look_alike or (name in posing and len(word) > 1):
            yield place


def _is_letter(character: str) -> bool:
    return unicodedata.category(character) in ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl")


def _scripts_that_only_pose(text: str) -> frozenset[str]:
    """Scripts of which the whole text has look-alike letters only: nobody writes in them here."""
    scripts: dict[str, set[str]] = {}
    for letter in set(text):
        if letter > "\x7f" and _is_letter(letter):
            scripts.setdefault(script_of(letter), set()).add(letter)
    found = {name for name, letters in scripts.items() if letters <= _LOOK_ALIKES}
    found |= {"MATHEMATICAL"} & scripts.keys()
    if not scripts.keys() & _BESIDE_LATIN:
        found |= {"FULLWIDTH"} & scripts.keys()
    return frozenset(found)
