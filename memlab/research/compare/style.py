"""The page's own style and its one switch: nothing is loaded from anywhere."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c2530; --quiet: #5b6470; --line: #d8dde3; --paper: #fff;
  --card: #f5f7f9; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaee; --quiet: #a2abb5; --line: #3a434d;
  --paper: #14191f; --card: #1d242c; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem 1rem 4rem; color: var(--ink);
  background: var(--paper); font: 16px/1.5 system-ui, "PingFang SC", "Microsoft YaHei",
  "Noto Sans CJK SC", sans-serif; }
header { position: relative; padding-right: 6rem; }
h1 { font-size: 1.6rem; margin: 0 0 .5rem; }
h2 { margin: 2.5rem 0 1rem; font-size: 1.25rem; border-bottom: 1px solid var(--line);
  padding-bottom: .3rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .5rem; }
h4 { font-size: .95rem; margin: 0 0 .25rem; }
h5 { font-size: .85rem; margin: .6rem 0 .2rem; color: var(--quiet); font-weight: 600; }
#language { position: absolute; top: 0; right: 0; font: inherit; padding: .35rem .8rem;
  border: 1px solid var(--line); border-radius: .4rem; background: var(--card); color: inherit;
  cursor: pointer; min-height: 2.5rem; }
.note { color: var(--quiet); font-size: .875rem; margin: .25rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; width: 100%; }
th, td { padding: .4rem .6rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: bottom; }
thead th { font-weight: 600; color: var(--quiet); min-width: 5rem; }
thead details p { font-weight: 400; min-width: 14rem; }
.figure { text-align: right; font-variant-numeric: tabular-nums; }
tbody th { white-space: nowrap; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr));
  gap: 1.5rem; margin-top: 1.5rem; }
figure { margin: 0; }
figcaption { font-weight: 600; margin-bottom: .4rem; }
svg { max-width: 100%; height: auto; font-size: 12px; }
svg text { fill: var(--ink); }
svg .none { fill: var(--quiet); }
svg .axis { stroke: var(--line); }
details > summary { cursor: pointer; }
.dialogue { border: 1px solid var(--line); border-radius: .5rem; padding: .6rem 1rem;
  margin-bottom: .75rem; }
.dialogue > summary { font-weight: 600; }
.probe { margin: .25rem 0; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr));
  gap: .75rem; margin: .6rem 0 1rem; }
article { background: var(--card); border-radius: .5rem; padding: .75rem; overflow-wrap: anywhere;
  font-size: .875rem; }
article ul { margin: 0; padding-left: 1.1rem; }
dd { margin: 0 0 .75rem; color: var(--quiet); overflow-wrap: anywhere; }
[data-language="en"] [lang="zh-Hans"], [data-language="zh-Hans"] [lang="en"] { display: none; }
"""

SCRIPT = """
const page = document.documentElement;
const speak = (language) => { page.dataset.language = language; page.lang = language; };
speak(navigator.language.startsWith("zh") ? "zh-Hans" : "en");
document.getElementById("language").addEventListener("click", () =>
  speak(page.dataset.language === "en" ? "zh-Hans" : "en"));
"""
