"""Names that try to be more than names: one for each way a text has escaped from a page before.

Each sets `window.hacked`, fetches, or breaks a parser where it succeeds.
"""

RUN = "window.hacked=1"

INJECTIONS = (
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"</title></style></textarea><script>{RUN}</script>",
    "<!--<script>",
    f"--><script>{RUN}</script><!--",
    f"]]><script>{RUN}</script><![CDATA[",
    f"<img src=x onerror={RUN}>",
    f"<svg onload={RUN}>",
    f'"><svg/onload={RUN}>',
    f"' onmouseover='{RUN}' x='",
    f'" autofocus onfocus="{RUN}" x="',
    f"javascript:{RUN}",
    f"<a href='javascript:{RUN}'>link</a>",
    "<iframe src='https://example.com'></iframe>",
    "<link rel=stylesheet href=https://example.com/x.css><base href='https://example.com/'>",
    "<meta http-equiv=refresh content='0;url=https://example.com'>",
    "}</style><style>*{display:none;background:url(https://example.com/x)}",
    "x; background: url(https://example.com/x); width: expression(alert(1))",
    "{{ 7 * 7 }}{% raw %}{# x #}${7*7}<%= 7*7 %>",
    "%{x}<extra></extra>%{customdata[0]} %s %n {0.__class__} {x!r}",
    f"&lt;script&gt;{RUN}&lt;/script&gt;&#x3c;b&#x3e;",
    f"\\u003cscript\\u003e{RUN}\\u003c/script\\u003e\\",
    "\u2028window.hacked=1\u2029//",
    "\u202egpj.exe\u202c \u2066evil\u2069",
    r"$\frac{1}{$ $\undefined$ $x^{$ $$",
    "_nolegend_",
    "../../../../etc/passwd",
    "..\\..\\CON.svg:stream\x00.png",
    "nul\x00 bell\x07 escape\x1b[31m delete\x7f next\x85 half\ud800 last\uffff",
    "x" * 20_000 + "<b>",
    "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>&e;",
    '<b>bold</b><br><span style="color:red">red</span><sup>2</sup>',
    "var(--series-1)",
    "",
)
