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

_FRAME = """
cookies?\\b|privacy policy|terms (?:of|and|&)|all rights reserved|©|\\(c\\) ?(?:19|20)\\d\\d|copyright|skip to|log ?in\\b|sign ?in\\b|sign ?up\\b|log ?out\\b|register\\b|subscribe|newsletter|unsubscribe|follow us|share (?:this|on)|tweet\\b|facebook|twitter|linkedin|pinterest|whatsapp|instagram|add to (?:cart|bag|basket|wish ?list|compare)|checkout|view cart|your cart|shopping cart|my account|wish ?list|read more|learn more|show more|load more|see (?:all|more)|view (?:all|more)|back to top|previous|next\\b|leave a (?:reply|comment)|your email address|required fields|powered by|javascript|enable|print\\b|e-?mail this|report (?:abuse|this)|menu\\b|search\\b|close\\b|toggle|advertis|sponsored|min(?:ute)? read|recaptcha
|datenschutz|impressum|agb\\b|alle rechte|anmelden|registrieren|warenkorb|mehr (?:erfahren|lesen)|weiterlesen|teilen\\b|mentions légales|tous droits|connexion|panier|en savoir plus|lire la suite|partager|todos los derechos|iniciar sesión|carrito|leer más|compartir|aviso legal|tutti i diritti|accedi|carrello|leggi tutto|condividi|direitos reservados|entrar\\b|carrinho|saiba mais|leia mais|inloggen|winkelwagen|lees (?:meer|verder)|privacybeleid|zaloguj|koszyk|czytaj więcej|polityka|войти|корзин|подробнее|читать далее|политика|logga in|varukorg|läs mer|log ind|læs mere
"""
_FRAME_LINE = re.compile(f"(?:{_FRAME.replace(chr(10), '')})", re.IGNORECASE)

PRICE = re.compile(
    r"(?:[€$£¥₹₽]|\b(?:EUR|USD|GBP|CHF|NOK|SEK|DKK|AUD|CAD|PLN|RUB|CZK|INR|zł|kr|руб)\b\.?)\s?\d"
    r"|\d(?:[.,]\d{1,2}|,-|\.-)?\s?(?:[€$£¥₹₽]|\b(?:EUR|USD|GBP|CHF|NOK|SEK|DKK|AUD|CAD|PLN|RUB|CZK|INR)\b|zł\b|kr\b|руб)"
)
SKU = re.compile(
    r"\b(?:sku|item (?:no|number|code|id|#)|item ?#|model (?:no|number|#)?|mpn|upc|ean|gtin|isbn|asin|part (?:no|number|#)|p/n"
    r"|product (?:code|no|number|id|#)|art(?:ikel)?(?:\.|-)? ?(?:nr|no|nummer)|article (?:no|number)|référence|réf|referencia|ref"
    r"|codice|código|catalog(?:ue)? (?:no|number|#)|style (?:no|number|#)?|stock (?:no|number|code|#)|артикул|код товара)"
    r"\b[\s.:#№]*",
    re.IGNORECASE,
)


def is_tail_heading(text: str) -> bool:
    """Whether a heading opens what follows a page's own content: related pages, sharing, comments."""
    return len(text) <= 80 and _TAIL_HEADING.fullmatch(text.strip()) is not None


def is_frame_line(text: str) -> bool:
    """Whether a short line holds words of the frame: accounts, carts, consent, sharing, legal."""
    return _FRAME_LINE.search(text) is not None
