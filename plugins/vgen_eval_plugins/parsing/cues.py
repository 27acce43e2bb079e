"""Words that announce an answer, in ten languages."""

from __future__ import annotations

import re

__all__ = [
    "ALL",
    "CONTINUES",
    "EDGE_AFTER",
    "EDGE_BEFORE",
    "FINAL",
    "NAMED",
    "NAMESAKE",
    "NONE",
    "ORDINALS",
    "PRAISED",
    "ordinal",
]

_CJK = r"\u2e80-\u9fff\uac00-\ud7af"
# \b sees no edge between a letter and a Chinese, Japanese or Korean character, and there is one
EDGE_BEFORE = rf"(?<![^\W{_CJK}])"
EDGE_AFTER = rf"(?![^\W{_CJK}])"

_NOUN = (
    r"(?:answer|choice|option|selection|response|solution|verdict"
    r"|antwort|lösung|auswahl|wahl|réponse|reponse|choix|respuesta|opción|opcion|risposta|opzione"
    r"|scelta|resposta|opção|opcao|alternativa|ответ|вариант)"
)
_EASTERN = (
    r"(?:答案|正确选项|正確答案|选择|選擇|选|選|答|正解|答え|回答|解答|選択肢"
    r"|정답|답변|답안|답|선택)"
)
_FILL = (
    r"(?:\s+(?:to|for|of|in|here|choice|option|letter|the|this|that|my|your|question|image|picture"
    r"|photo|case|correct|right|best|final|therefore|thus|then|most|likely|probably|clearly|zur"
    r"|auf|die|frage|richtige|à|la|cette|correcte|bonne|a|pregunta|correcta|alla|domanda|corretta"
    r"|pergunta|correta|certa|на|вопрос|правильный)\b){0,8}"
)
_IS = (
    r"(?:\s*[:=]\s*|\s+(?:is|are|was|would be|should be|must be|will be|has to be"
    r"|ist|wäre|lautet|est|serait|es|sería|è|sarebbe|é|seria|это|-)(?:\s*:)?(?!\w)"
    r"|\s*->\s*)"
)
_LEAD = (
    r"[\s\"'(\[:=]{0,8}"
    r"(?:(?:therefore|thus|then|clearly|definitely|most likely|probably|simply|just)\b[\s,:]*){0,2}"
    r"(?:(?:the|die|la|l'|a|el|o|lo)?\s?(?:option|choice|letter|answer|antwort|opción|opzione"
    r"|opção|letra|lettre|lettera|buchstabe|вариант)\b[\s\"'(\[:]{0,4})?"
    r"[\"'(\[]{0,3}"
)
_EASTERN_IS = r"[\s]*(?:应该是|應該是|是|为|為|应为|選|选|は|が|은|는|이)?\s*[:=]?\s*[\"'(\[]{0,3}"

NAMED = re.compile(
    rf"{EDGE_BEFORE}{_NOUN}{EDGE_AFTER}{_FILL}{_IS}{_LEAD}"
    rf"|{_EASTERN}{_EASTERN_IS}"
    r"|\b(?:i|we)(?:'d|'ll| would| will| must)? (?:choose|pick|select|say|answer|go with|opt for"
    rf"|go for|vote for){EDGE_AFTER}{_LEAD}"
    rf"|\bich (?:wähle|nehme){EDGE_AFTER}{_LEAD}|\bje (?:choisis|dirais){EDGE_AFTER}{_LEAD}"
    rf"|\b(?:elijo|escojo|scelgo|escolho|выбираю){EDGE_AFTER}{_LEAD}"
    rf"|\b(?:it|that|this|which)(?:'s| is| must be| would be) (?:therefore |clearly |definitely )?"
    r"[\"'(\[]{0,3}(?=[A-Z](?!\w))",
    re.IGNORECASE,
)
"""Ends where the answer begins. Its last branch leads to letters alone: "it is B"."""

FINAL = re.compile(
    rf"\bfinal (?:{_NOUN}|decision){EDGE_AFTER}(?:{_IS})?{_LEAD}"
    rf"|\bendgültige antwort{EDGE_AFTER}(?:{_IS})?{_LEAD}"
    rf"|\bréponse finale{EDGE_AFTER}(?:{_IS})?{_LEAD}"
    rf"|\b(?:respuesta|risposta|resposta) final[e]?{EDGE_AFTER}(?:{_IS})?{_LEAD}"
    rf"|\bокончательный ответ{EDGE_AFTER}(?:{_IS})?{_LEAD}"
    rf"|(?:最终答案|最終答案|最終的な答え|最終回答|최종 ?답변?|최종 정답){_EASTERN_IS}",
    re.IGNORECASE,
)

PRAISED = re.compile(
    r"[)\].:\"']{0,3}\s+(?:is|ist|est|es|è|é|would be|must be|seems|looks|appears)\s+"
    r"(?:(?:the|most|clearly|probably|definitely|die|der|das|la|le|el|il|o|a)\s+){0,3}"
    r"(?:correct|right|best|answer|accurate|appropriate|suitable|true|richtig|richtige|korrekt"
    r"|bonne|juste|correcte|correcta|corretta|correta|certa|respuesta|risposta|resposta|réponse)"
    rf"{EDGE_AFTER}",
    re.IGNORECASE,
)
"""What follows a letter or an option's text that is named as the answer."""

NAMESAKE = re.compile(
    r"\b(?:plan|vitamin|grade|type|class|group|figure|fig\.|image|photo|point|line|part|section"
    r"|channel|camera|hepatitis|team|series|room|gate|block|version|appendix|exhibit|model|region"
    r"|area|label|side|zone|person|object|item|note|key|size|level)\s$",
    re.IGNORECASE,
)
"""Before a letter that is a part of a name: "vitamin C"."""
NONE = re.compile(
    r"^\W*(?:none|neither|nothing|keine?|aucune?|ninguna?|nessuna?|nenhuma?)\W*$"
    r"|\b(?:none|neither|keine[rs]?|aucune?|ninguna?|nessuna?|nenhuma?) (?:of|von|der|des?|das?"
    r"|delle)\b|\bneither (?:option|answer|one|is|fits|applies)\b"
    r"|\bno (?:option|answer) (?:is|fits|applies)\b|都不|以上皆非|해당 없음|該当なし|ни один",
    re.IGNORECASE,
)
ALL = re.compile(
    r"^\W*(?:both|all|alle|beide|toutes|ambas|todas|tutte)\W*$"
    r"|\b(?:both|all)(?: of)?(?: the)? (?:above|options|answers|choices|them|these)\b"
    r"|\bboth (?:are|apply|fit)\b|都是|以上皆是",
    re.IGNORECASE,
)
CONTINUES = re.compile(
    r"\s*(?:[,;:(\[{.!?\n)\]}\"'-]|$)|\s+(?:because|since|as|for|due|based|given|is|was|would|and|or"
    r"|which|where|that|with|but|not|weil|denn|da|parce|car|porque|perché|pois|так|потому)\b"
    rf"|\s*[{_CJK}]",
    re.IGNORECASE,
)
"""What may follow a letter that is a word as well: `A`, but not the article of "A photo"."""

_ORDINAL_WORDS = (
    *("first", "second", "third", "fourth", "fifth"),
    *("sixth", "seventh", "eighth", "ninth", "tenth"),
)
ORDINALS = re.compile(
    rf"\bthe (?P<word>{'|'.join(_ORDINAL_WORDS)}) (?:option|choice|answer|one)\b"
    rf"|\b(?:option|choice|answer)\s*[:#(]?\s*(?P<number>\d{{1,2}})(?![\w.]*\d)",
    re.IGNORECASE,
)


def ordinal(match: re.Match[str]) -> int:
    """The place, from 1, that a match of ORDINALS names."""
    if match["number"]:
        return int(match["number"])
    return 1 + _ORDINAL_WORDS.index(match["word"].casefold())
