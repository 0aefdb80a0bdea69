"""What class names and ids say, in the words that site builders use for them.

A name is cut into words (`siteHeader`, `site-header` and `site_header` are two words each); a word, or two
neighbours written as one, is looked up. No pattern is searched: a page has hundreds of names.
"""

from __future__ import annotations

import re
from functools import lru_cache

from crawler.reading.boxes import Mark

_LISTS: dict[Mark, str] = {
    Mark.NAV: "nav navs navbar navigation menu menus submenu megamenu topbar toolbar sitemap skiplink skiplinks toc drawer "
    "offcanvas mainnav menubar topnav sidenav subnav navi menue breadcrumbnav langswitcher languageswitcher",
    Mark.HEADER: "siteheader pageheader masthead header topheader banner",
    Mark.FOOTER: "footer sitefooter colophon bottombar copyright",
    Mark.ASIDE: "sidebar sidebars side aside rail widget widgets rightcol leftcol",
    Mark.DIALOG: "modal modals popup popups popover dialog dialogs lightbox overlay flyout toast tooltip minicart cartdrawer "
    "offcanvasmenu interstitial",
    Mark.CONSENT: "cookie cookies consent gdpr ccpa onetrust cookiebot cky cmplz ccwindow privacybanner didomi usercentrics "
    "cookielaw cookiebar cookienotice borlabs iubenda trustarc",
    Mark.BREADCRUMB: "breadcrumb breadcrumbs crumbs crumb",
    Mark.SHARE: "share sharing social socials addtoany sharedaddy sociallinks socialmedia socialicons followus sharebar "
    "addthis shareable",
    Mark.RELATED: "related recommend recommended recommendation recommendations recirc recirculation alsolike youmay upsell "
    "upsells crosssell crosssells moreposts morestories morenews morefrom morearticles readmore readnext trending popular "
    "similar suggested suggestion suggestions recentposts latestposts outbrain taboola nextprev prevnext postnav "
    "postnavigation recent recentlyviewed mostread upnext",
    Mark.COMMENT: "comment comments respond reply replies disqus commentlist",
    Mark.HIDDEN: "hidden hide visuallyhidden sronly screenreader collapse dnone ishidden invisible",
    Mark.META: "byline meta author authors date timestamp postedon tag tags category categories credit credits caption "
    "published postmeta entrymeta",
    Mark.PROMO: "ad ads advert adverts advertisement advertising adsense adslot sponsor sponsored sponsors promo promos "
    "promotion promoted newsletter subscribe subscription signup bannerad cta calltoaction callaction paywall donate "
    "donation optin mailchimp",
    Mark.FILTER: "filter filters facet facets sort sorting sortby pagination pager paging refine refinement refinements "
    "paginate",
    Mark.LOGIN: "login signin register account password logout",
    Mark.PRODUCT: "product products price prices pricing buybox sku pdp addtocart itemprice addcart",
    Mark.CONTENT: "content contents main article post entry body story text rte prose markdown wysiwyg description "
    "entrycontent postcontent maincontent articlebody",
    Mark.FORUM: "forum forums thread threads topic topics discussion discussions bbpress phpbb vbulletin xenforo discourse "
    "message messages bbs messageboard posttext postbody posts replycontent crawlerpost lia",
    Mark.FAQ: "faq faqs accordion accordions question questions answer answers qanda qa collapse collapsible toggle toggles "
    "akkordeon frage antwort",
}
_MARKS: dict[str, int] = {}
for _mark, _list in _LISTS.items():
    for _word in _list.split():
        _MARKS[_word] = _MARKS.get(_word, 0) | int(_mark)

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[a-z]+")
_LONG = 300  # characters of class names looked at: utility classes go on for kilobytes and say nothing


@lru_cache(maxsize=16384)
def marks_of(name: str) -> int:
    """The marks that class and id together give."""
    name = name[:_LONG]
    if not name.islower():
        name = _CAMEL.sub("-", name).lower()
    found = 0
    last = ""
    for word in _WORD.findall(name):
        found |= _MARKS.get(word, 0) | _MARKS.get(last + word, 0)
        last = word
    return found
