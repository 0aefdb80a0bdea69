"""When a line is a question that a page answers, and when words around it promise such questions."""

from __future__ import annotations

import re

_MARKS = ("?", "？", "؟", ";")  # the last is Greek, and counts only where Greek letters are
_GREEK = re.compile(r"[\u0370-\u03ff]")
_PREFIX = re.compile(
    r"^(?:q(?:uestion)?\s?\d{0,3}\s?[.:)\-–]|f(?:rage)?\s?\d{0,3}\s?[.:)]|\(?\d{1,3}[.):])\s*", re.IGNORECASE
)

_FIRST = """
what|what's|whats|how|how's|why|when|when's|where|where's|who|who's|whose|which|can|could|do|does|did|is|are|am|was|will|would|should|may|must|has|have
|was|wie|warum|wieso|weshalb|wann|wo|woher|wohin|wer|wem|wen|welche[rsmn]?|kann|können|darf|muss|müssen|gibt|ist|sind|hat|haben|wird|werden|soll
|que|qu'est-ce|quel|quelle|quels|quelles|comment|pourquoi|quand|où|qui|combien|est-ce|puis-je|peut-on|faut-il|dois-je|y a-t-il
|qué|cómo|cuál|cuáles|cuándo|dónde|quién|quiénes|cuánto|cuánta|cuántos|por qué|puedo|se puede|hay|es|tengo
|che|cosa|cos'è|come|quale|quali|quando|dove|chi|quanto|quanta|quanti|perché|posso|si può|è|devo|c'è
|o que|como|qual|quais|onde|quem|por que|preciso|existe
|wat|hoe|waarom|wanneer|waar|wie|welke?|kan|kunnen|mag|moet|is|zijn|heeft
|co|jak|jaki|jaka|jakie|dlaczego|kiedy|gdzie|kto|który|która|które|czy|ile
|что|как|какой|какая|какие|какое|почему|когда|где|кто|который|можно|сколько|есть ли|нужно ли|зачем
|vad|hur|varför|när|var|vem|vilken|vilka|vilket|kan|får|hvad|hvordan|hvorfor|hvornår|hvor|hvem|hvilke[nt]?
"""
_QUESTION_WORD = re.compile(f"(?:{_FIRST.replace(chr(10), '')})\\b", re.IGNORECASE)

# A question that sells or signs in, and is answered by a button.
_CALL = re.compile(
    r"(?:next ?:|previous ?:|prev ?:|how are we|how did we|ready|need|want|looking|interested|curious|still (?:have|need|not)|have (?:a|any|more|questions)|got (?:a|any|questions)"
    r"|already|new (?:to|here|customer|user)|forgot|lost|not (?:a|sure|yet|what|finding)|don't have|no account|any questions"
    r"|questions\?|did (?:you|this)|was this|is this (?:page|article|answer)|would you like|are you (?:sure|ready|looking|a|an|interested|over|still)"
    r"|do you (?:want|need|have|like|agree|accept)|can't find|can we help|how can we help|what can we|what are you (?:looking|waiting)"
    r"|why not|enjoy|like this|love|thinking|searching|feeling|confused|help\?|hungry|haben sie (?:noch )?fragen|noch fragen|passwort"
    r"|besoin|des questions|mot de passe|déjà|necesitas|tienes|olvidaste|¿necesitas|¿tienes|¿olvidaste|hai (?:bisogno|domande)|vuoi"
    r"|password|precisa|esqueceu|vragen\?|wachtwoord|masz pytania|остались вопросы|забыли|har du)\b",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"\bfaqs?\b|frequently asked|common(?:ly)? (?:asked )?questions|popular questions|top questions|questions (?:and|&) answers|\bq ?(?:&|and|n) ?a\b"
    r"|questions?\b.{0,30}\banswer|\bquestions$|^questions\b|people also ask|your questions|have questions|häufig|oft gestellte|\bfragen\b|fragen und antworten"
    r"|foire aux questions|questions fréquentes|vos questions|preguntas|domande|perguntas|veel ?gestelde|meest gestelde|vragen\b"
    r"|najczęściej zadawane|pytania|вопрос|vanliga frågor|frågor och svar|ofte stillede|spørgsmål|よくある(?:ご)?質問|常见问题|常見問題|자주 묻는",
    re.IGNORECASE,
)

LONGEST = 300
SHORTEST = 7


def unnumbered(text: str) -> str:
    """The question without `Q:` or a number before it."""
    return _PREFIX.sub("", text, count=1).strip()


def is_question(text: str) -> bool:
    """Whether the whole text is one question with its mark."""
    text = unnumbered(text)
    if not SHORTEST <= len(text) <= LONGEST or "\n" in text:
        return False
    last = text.rstrip(" \"'”’»)*.")[-1:]
    if last == ";":
        return _GREEK.search(text) is not None
    return last in _MARKS[:3] and last != ""


def could_be_question(text: str) -> bool:
    """Whether the text opens as questions do, with or without a mark: enough inside a FAQ."""
    text = unnumbered(text).lstrip("¿¡\"'“„«( ")
    return SHORTEST <= len(text) <= LONGEST and "\n" not in text and _QUESTION_WORD.match(text) is not None


def is_call(text: str) -> bool:
    """Whether the question is a call to act ("Ready to start?"), which the page does not answer."""
    text = unnumbered(text).lstrip("¿¡ ")
    return len(text) < 70 and _CALL.match(text) is not None


def promises_questions(text: str) -> bool:
    """Whether a heading or name says that questions and answers follow."""
    return len(text) <= 120 and _CONTEXT.search(text) is not None
