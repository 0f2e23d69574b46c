# ruff: noqa: E501 (markup)
"""The page around an article, with the layout of today's Wikipedia."""

import html
from urllib.parse import quote

_MENU = ("Main page", "Contents", "Random article", "Help", "Recent changes")
_LANGUAGES = (("de", "Deutsch"), ("fr", "Français"), ("ja", "日本語"), ("pl", "Polski"))


def render_page(title: str, page_id: int, revision_id: int, content: str) -> str:
    """The whole HTML page of one article; ``content`` goes inside ``.mw-parser-output``."""
    name, address = html.escape(title), quote(title.replace(" ", "_"), safe="/:")
    menu = "".join(
        f'<li class="mw-list-item"><a href="/wiki/Portal"><span>{item}</span></a></li>' for item in _MENU
    )
    languages = "".join(
        f'<li class="interlanguage-link interwiki-{code} mw-list-item"><a href="https://{code}.sample.invalid/" '
        f'lang="{code}"><span>{label}</span></a></li>'
        for code, label in _LANGUAGES
    )
    return f"""<!DOCTYPE html>
<html class="client-nojs vector-feature-language-in-header-enabled skin-theme-clientpref-day" lang="en" dir="ltr">
<head>
<meta charset="UTF-8">
<title>{name} - Embedded sample</title>
<script>(function(){{document.documentElement.className="client-js";}}());RLCONF={{"wgArticleId":{page_id},\
"wgRevisionId":{revision_id},"wgNamespaceNumber":0,"wgIsArticle":true}};</script>
<link rel="stylesheet" href="/w/load.php?lang=en&amp;modules=site.styles&amp;only=styles&amp;skin=vector-2022">
<meta name="generator" content="MediaWiki 1.39.17">
<link rel="canonical" href="/wiki/{address}">
</head>
<body class="skin--responsive skin-vector skin-vector-search-vue mediawiki ltr ns-0 ns-subject action-view">
<a class="mw-jump-link" href="#bodyContent">Jump to content</a>
<div class="vector-header-container"><header class="vector-header mw-header no-font-mode-scale">
<div class="vector-main-menu-landmark"><nav aria-label="Site"><div class="vector-menu-heading">Navigation</div>
<ul class="vector-menu-content-list">{menu}</ul></nav></div>
<div class="vector-search-box"><form action="/w/index.php"><input type="search" name="search" \
placeholder="Search the sample"></form></div></header></div>
<div class="mw-page-container"><div class="mw-page-container-inner">
<div class="vector-column-start"><nav id="mw-panel-toc" aria-label="Contents"><div class="vector-toc">
<h2 class="vector-pinnable-header-label">Contents</h2><ul class="vector-toc-contents"><li><a href="#">(Top)</a></li>
</ul></div></nav></div>
<div class="mw-content-container"><main id="content" class="mw-body">
<header class="mw-body-header vector-page-titlebar"><h1 id="firstHeading" class="firstHeading mw-first-heading">\
<span class="mw-page-title-main">{name}</span></h1>
<div id="p-lang-btn" class="vector-dropdown mw-portlet mw-portlet-lang"><ul>{languages}</ul></div></header>
<div class="vector-page-toolbar"><nav aria-label="Namespaces"><ul><li id="ca-nstab-main"><a href="/wiki/{address}">\
<span>Article</span></a></li><li id="ca-talk"><a href="/wiki/Talk:{address}"><span>Talk</span></a></li></ul></nav></div>
<div id="bodyContent" class="vector-body"><div id="siteSub" class="noprint">From the embedded sample</div>
<div id="contentSub"><div id="mw-content-subtitle"></div></div>
<div id="mw-content-text" class="mw-body-content"><div class="mw-content-ltr mw-parser-output" lang="en" dir="ltr">
{content}</div>
<div class="printfooter" data-nosnippet="">Retrieved from "<a href="/wiki/{address}">{name}</a>"</div></div>
<div id="catlinks" class="catlinks"><div id="mw-normal-catlinks"><a href="/wiki/Special:Categories">Categories</a>: \
<ul><li><a href="/wiki/Category:Embedded_sample">Embedded sample</a></li></ul></div></div>
</div></main></div>
<footer id="footer" class="mw-footer"><ul id="footer-info"><li id="footer-info-lastmod">This page was last edited \
on 3 May 2024.</li><li id="footer-info-copyright">Text is available under the Creative Commons licence.</li></ul>
</footer></div></div></body></html>
"""
