/** A reply's Markdown as safe nodes: no raw HTML, no images, no remote content, http(s) links only. */

import DOMPurify from "../vendor/dompurify/purify.es.js";
import { Marked } from "../vendor/marked/marked.esm.js";

const TAGS = [
  "a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p",
  "pre", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
];
const LINK_RELATION = "noopener noreferrer nofollow";

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    // What looks like HTML is something the assistant wrote, not part of the page.
    html: ({ text }) => escaped(text),
    // The words of an image are kept; its address is never fetched.
    image: ({ text }) => escaped(text),
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
    // A reply's headings stand below the page's own.
    heading({ tokens, depth }) {
      const level = Math.min(depth + 2, 6);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
  },
});

function escaped(text) {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** Render `source` to a DocumentFragment. */
export function renderMarkdown(source) {
  const fragment = DOMPurify.sanitize(marked.parse(source), {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "start"],
    ALLOWED_URI_REGEXP: /^https?:\/\//i,
    // Not an address, so the expression above is not for it.
    ADD_URI_SAFE_ATTR: ["start"],
    ALLOW_ARIA_ATTR: false,
    ALLOW_DATA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of fragment.querySelectorAll("a")) fixLink(link);
  return fragment;
}

function fixLink(link) {
  if (!link.hasAttribute("href")) {
    link.replaceWith(...link.childNodes);
    return;
  }
  link.rel = LINK_RELATION;
  link.target = "_blank";
}
