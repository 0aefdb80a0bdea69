"""The words by which a page says what it is for, in five languages, in the order an email assistant needs.

Business mail asks for the same few things everywhere: how to reach somebody, when they are open, whether it
was sent, how it goes back, what it costs. A stem ends in `*`.
"""

from __future__ import annotations

from enum import IntEnum


class Topic(IntEnum):
    """What a page is for; a smaller number is asked for earlier."""

    CONTACT = 0
    HOURS = 1
    DELIVERY = 2
    RETURNS = 3
    FAQ = 4
    PRICES = 5
    TERMS = 6
    BOOKING = 7
    COMPANY = 8
    OFFER = 9
    OTHER = 20
    NEWS = 30  # dated: seldom what a letter asks for
    LEGAL_NOISE = 31  # cookie and privacy notices
    ACCOUNT = 40  # carts, log-ins, searches: nothing to read


_TABLE: dict[Topic, str] = {
    # English | Italian | German | French | Spanish
    Topic.CONTACT: """
        contact* kontakt* contatt* contacto* contactez* coordonnees reachus getintouch writeus
        dovesiamo comeraggiungerci wherewefind findus location* directions anfahrt standort* acces
        nousrejoindre noustrouver comollegar dondeestamos ubicacion* sedi filiali customerservice
        customercare kundenservice kundendienst serviceclient servizioclienti assistenza
        atencionalcliente helpdesk support impressum
        """,
    Topic.HOURS: """
        openinghours openingtimes businesshours hours openingstijden orari orario oraridiapertura
        apertura oeffnungszeiten offnungszeiten sprechzeiten geschaftszeiten horaire horaires
        horairesdouverture horario horarios whenweareopen
        """,
    Topic.DELIVERY: """
        deliver* shipping shipment* postage consegn* spedizion* versand* liefer* zustellung
        livraison* expedition* envio envios gastosdeenvio entrega entregas tracking trackorder
        """,
    Topic.RETURNS: """
        return returns refund* exchange* warrant* guarantee* reso resi recesso rimbors* garanzia
        garanzie ruckgabe rueckgabe rucksendung ruecksendung retoure* widerruf* umtausch
        reklamation* garantie* gewahrleistung retour retours remboursement* retractation devolucion*
        reembolso* garantia* cambios cancellation* stornierung
        """,
    Topic.FAQ: """
        faq faqs help helpcenter helpcentre questions frequentlyaskedquestions howto howitworks
        domandefrequenti domande aiuto comefunziona haufigefragen haeufigefragen fragen hilfe
        fragenundantworten questionsfrequentes aide foireauxquestions commentcamarche
        preguntasfrecuentes preguntas ayuda comofunciona
        """,
    Topic.PRICES: """
        price prices pricing pricelist rates fees tariff* cost costs prezz* listino tariffe costi
        preis* gebuhren kosten prix tarif tarifs precio precios tarifas payment* pagament* zahlung*
        bezahlung paiement* pago pagos menu speisekarte carte carta
        """,
    Topic.TERMS: """
        terms termsandconditions conditions termsofservice termsofuse termsofsale agb
        nutzungsbedingungen condizioni condizionidivendita terminiecondizioni geschaftsbedingungen
        cgv cgu conditionsgenerales mentionslegales condiciones terminos avisolegal notelegali
        """,
    Topic.BOOKING: """
        book booking* reserv* appointment* prenot* appuntament* buchung* buchen reservier* termin
        termine rendezvous cita citas reservas
        """,
    Topic.COMPANY: """
        about aboutus whoweare team ourteam chisiamo azienda uberuns ueberuns unternehmen apropos
        quisommesnous entreprise quienessomos sobrenosotros nosotros empresa company staff
        """,
    Topic.OFFER: """
        service services product products servizi servizio prodott* leistung* produkt* prestation*
        produits servicios productos rooms camere zimmer chambres habitaciones treatments
        behandlungen shop store negozio boutique tienda
        """,
    Topic.NEWS: """
        blog news press notizie novita aktuelles neuigkeiten presse actualites actualite noticias
        prensa archive archives archivio archiv tag tags author authors autore category categoria
        kategorie events eventi veranstaltungen evenements eventos feed comments
        """,
    Topic.LEGAL_NOISE: """
        privacy privacypolicy cookie* datenschutz* informativaprivacy confidentialite privacidad
        gdpr rgpd politicadecookies accessibility barrierefreiheit
        """,
    Topic.ACCOUNT: """
        login signin logon register signup account cart basket checkout wishlist search accedi
        registrati carrello cerca anmelden registrieren warenkorb kasse suche konto connexion panier
        recherche moncompte iniciarsesion registro carrito buscar micuenta wpadmin wplogin print
        share
        """,
}

FILLERS = frozenset(
    # Words beside which a topic word still is the whole meaning: "how to contact us".
    """
    a an and at by for from how i in info information informations informationen infos of on or our
    page pages site the to us use we with you your e ed con da dei del della delle di gli i il la le
    lo nostra nostre nostri nostro per un una und der die das den fur fuer im in mit unser unsere
    von zu zum zur au aux avec ce ces chez d de des du en et l les nos notre nous par pour sur un
    une vos votre el ella las los nuestra nuestras nuestro nuestros o para por sobre su y html htm
    php asp aspx index default en it fr es uk online web general generali generales allgemeine
    policy policies politica richtlinie politique
    """.split()  # noqa: SIM905 - a wrapped text reads better than a hundred quoted words
)


def _split() -> tuple[dict[str, Topic], dict[str, list[tuple[str, Topic]]]]:
    """Exact words, and stems by their first three letters: forty comparisons a word would be felt."""
    exact: dict[str, Topic] = {}
    stems: dict[str, list[tuple[str, Topic]]] = {}
    for topic, words in _TABLE.items():
        for word in words.split():
            if word.endswith("*"):
                stems.setdefault(word[:3], []).append((word[:-1], topic))
            else:
                exact[word] = topic
    return exact, stems


_EXACT, _STEMS = _split()


def topic_of_phrase(words: str) -> Topic | None:
    """The topic of several folded words written together; no stem may swallow what follows it."""
    return _EXACT.get(words)


def topic_of(word: str) -> Topic | None:
    """The topic of one folded word."""
    topic = _EXACT.get(word)
    if topic is None:
        topic = next((t for stem, t in _STEMS.get(word[:3], ()) if word.startswith(stem)), None)
    return topic
