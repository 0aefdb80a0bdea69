"""What headings and lines of the frame around a page say, in eleven languages.

English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Swedish, Danish.
"""

from __future__ import annotations

import re

_TAIL = """
related|related (?:posts?|articles?|products?|content|stories|news|links|topics|reading|items|questions)|you (?:may|might) (?:also )?(?:like|be interested.*)
|you'll also love|(?:more|latest|recent|popular|top|trending|featured|similar|recommended|other|further|suggested) (?:posts?|articles?|stories|news|products?|items|reading|topics|from .*|in .*|like this|content|questions|threads)
|recommended(?: for you)?|customers (?:also|who) .*|people also .*|frequently bought together|recently viewed.*|read (?:more|next|also)|see also|more (?:from|in|on|about|to) .*|up next|most (?:read|popular|viewed|shared)|trending(?: now)?|don't miss|explore more.*|keep reading|what to read next
|share(?: this.*)?|share on.*|follow us.*|connect with us|stay (?:connected|in touch|up to date|informed|tuned).*|join (?:our|the) .*(?:list|newsletter|community)|subscribe.*|sign up.*|newsletter.*|get (?:the latest|updates|our newsletter).*|leave a (?:comment|reply).*|(?:post|add|write) a comment.*|(?:\\d+ )?comments?(?: \\(\\d+\\))?|join the (?:conversation|discussion)|about the authors?|about author|author|written by|tags?|categories|archives?|recent comments|advertisement|sponsored.*|quick links|useful links|navigation|menu|search|sitemap|my account|customer service|company|legal|follow|social|table of contents|on this page|in this article|contents
|ähnliche .*|verwandte .*|das könnte (?:sie|dich|ihnen) .*|weitere (?:artikel|beiträge|themen|produkte).*|mehr (?:zum thema|aus .*|artikel)|meistgelesen.*|neueste (?:beiträge|artikel)|teilen.*|folgen sie uns|folge uns|newsletter|kommentare?|schreibe einen kommentar|kommentar (?:schreiben|hinterlassen)|kunden kauften auch|zuletzt angesehen|schlagwörter|kategorien
|articles? (?:similaires?|liés?|connexes?|récents?)|à lire aussi|lire aussi|vous aimerez aussi.*|produits (?:similaires|associés)|sur le même (?:sujet|thème)|partager.*|suivez[- ]nous|commentaires?|laisser un commentaire|les plus lus
|artículos relacionados|noticias relacionadas|productos relacionados|relacionad[oa]s|también (?:te )?puede.*|te puede interesar.*|lo más (?:leído|visto)|compart[ei]r?.*|síguenos|síganos|comentarios?|deja (?:un comentario|una respuesta)|últimas noticias|entradas recientes
|articoli (?:correlati|simili|recenti)|prodotti correlati|potrebbe(?:ro)? (?:anche )?(?:interessarti|piacerti).*|leggi anche|condividi.*|seguici.*|commenti|lascia un commento|i più letti
|artigos relacionados|notícias relacionadas|produtos relacionados|leia (?:também|mais)|veja também|você (?:também )?pode .*|compartilh[ae]r?.*|siga-nos|comentários?|deixe (?:um comentário|uma resposta)|mais lidas
|gerelateerde .*|lees ook.*|meer (?:over|nieuws|lezen).*|ook interessant.*|delen|volg ons|reacties|reageer|geef een reactie|meest gelezen
|podobne .*|powiązane .*|czytaj (?:także|też|również).*|zobacz (?:także|też|również).*|polecane.*|udostępnij.*|komentarze|dodaj komentarz|najczęściej czytane|najnowsze wpisy
|похожие .*|читайте также.*|рекомендуем.*|смотрите также.*|поделиться.*|комментарии.*|оставить комментарий.*|добавить комментарий.*|популярн.*|последние (?:новости|записи)|вам (?:также )?может понравиться
|relaterade? .*|läs (?:också|även|mer).*|liknande .*|dela.*|följ oss|kommentarer|mest lästa|relaterede .*|læs også.*|del|følg os|mest læste
"""
_TAIL_HEADING = re.compile(f"(?:{_TAIL.replace(chr(10), '')})[\\s:.…!>»→]*", re.IGNORECASE)

PRICE = re.compile(
    r"(?:[€$£¥₹₽]|\b(?:EUR|USD|GBP|CHF|NOK|SEK|DKK|AUD|CAD|PLN|RUB|CZK|INR|zł|kr|руб)\b\.?)\s?\d"
    r"|\d(?:[.,]\d{1,2}|,-|\.-)?\s?(?:[€$£¥₹₽]|\b(?:EUR|USD|GBP|CHF|NOK|SEK|DKK|AUD|CAD|PLN|RUB|CZK|INR)\b|zł\b|kr\b|руб)"
)
SKU = re.compile(
    r"\b(?:sku|(?:item|model|part|product|article|catalog|catalogue|style|stock|order|web|manufacturer) ?(?:no|number|code|id|nr|ref|#)"
    r"|mpn|upc|ean(?: code)?|gtin(?:-?1[234])?|isbn(?:-1[03])?|asin|p/n|art(?:ikel)?[.-]? ?(?:nr|no|nummer)|bestell(?:nummer|nr)|référence|réf"
    r"|referencia|referência(?: d[oe])?(?: produto)?|ref|codice(?: articolo| prodotto)?|código(?: do produto| de producto)?|cód|artikelnummer|artnr"
    r"|numer katalogowy|kod produktu|артикул|код товара|קוד מוצר|品番|商品コード)(?!\w)[\s.:#№\u200e\u200f]*",
    re.IGNORECASE,
)


_DIGIT = re.compile("[0-9]")
_SIGN = re.compile("[$€£¥₹₽]|EUR|USD|GBP|CHF|kr|zł|NOK|SEK|DKK|CAD|AUD|PLN|руб|RUB|CZK|INR")


def holds_price(text: str) -> bool:
    """Whether an amount with a currency stands in the text; looks for a digit and a sign first, which is faster."""
    return _DIGIT.search(text) is not None and _SIGN.search(text) is not None and PRICE.search(text) is not None


def is_tail_heading(text: str) -> bool:
    """Whether a heading opens what follows a page's own content: related pages, sharing, comments."""
    return len(text) <= 80 and _TAIL_HEADING.fullmatch(text.strip()) is not None
