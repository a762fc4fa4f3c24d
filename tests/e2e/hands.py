"""How somebody works a page: with a mouse, with a finger, or with the keyboard alone."""

from __future__ import annotations

from typing import Protocol

from playwright.sync_api import Locator, Page

MOST_STOPS = 80  # of the Tab key until something has to have been reached
#: What a page shows of where the focus is: computed styles of the element and of what stands for
#: it, for many radio buttons are drawn by their labels.
WATCH = """
window.focusWatch ??= {
  last: null,
  around(node) {
    const near = new Set([node, ...(node.labels ?? [])]);
    const drawn = [...(node.labels ?? [])].flatMap((label) => [...label.querySelectorAll("*")]);
    drawn.forEach((part) => near.add(part));
    let outer = node.parentElement;
    for (let step = 0; outer && step < 3; step += 1, outer = outer.parentElement) near.add(outer);
    return [...near];
  },
  styles(nodes) {
    return nodes.flatMap((node) => ["", "::before", "::after"].map((pseudo) => {
      const style = getComputedStyle(node, pseudo);
      return [style.outline, style.boxShadow, style.border, style.backgroundColor].join("|");
    })).join("\\n");
  },
  inView(node) {
    const { top, left, bottom, right, width, height } = node.getBoundingClientRect();
    const inside = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
    return inside && width > 2 && height > 2;
  },
  /** Where the focus is; and whether it could be seen where it was before. */
  look(target) {
    const now = document.activeElement;
    const told = { lost: !now || now === document.body, unseen: "", there: now === target };
    if (this.last && this.last.node !== now && this.last.node.isConnected) {
      const { node, near, styles } = this.last;
      if (this.styles(near) === styles) told.unseen = node.outerHTML.slice(0, 300);
    }
    this.last = null;
    if (told.lost) return told;
    const near = this.around(now);
    const inView = [now, ...(now.labels ?? [])].some(this.inView);
    if (!inView) told.unseen ||= now.outerHTML.slice(0, 300);
    this.last = { node: now, near, styles: this.styles(near) };
    told.same = target instanceof HTMLInputElement && target.type === "radio"
      && now instanceof HTMLInputElement && now.name === target.name;
    return told;
  },
};
"""


class Hands(Protocol):
    """Three things that one can do on a page."""

    def press(self, target: Locator) -> None: ...

    def choose(self, target: Locator) -> None: ...

    def write(self, target: Locator, text: str) -> None: ...


class Pointer:
    """A mouse, or a finger on a screen that is touched: only what is in view can be hit."""

    def __init__(self, page: Page, *, touches: bool) -> None:
        self.touches = touches

    def press(self, target: Locator) -> None:
        if self.touches:
            target.tap()
        else:
            target.click()

    def choose(self, target: Locator) -> None:
        """A radio button or a checkbox, by what is drawn for it."""
        self.press(target.locator("xpath=ancestor::label[1]"))

    def write(self, target: Locator, text: str) -> None:
        self.press(target)
        target.fill(text)


class Keyboard:
    """Tab, arrows, Space and Enter. The focus must be visible at every stop, and never lost."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, target: Locator) -> None:
        self._reach(target)
        self.page.keyboard.press("Enter")

    def choose(self, target: Locator) -> None:
        self._reach(target)
        if not target.is_checked():
            self.page.keyboard.press("Space")
        assert target.is_checked()

    def write(self, target: Locator, text: str) -> None:
        self._reach(target)
        self.page.keyboard.press("ControlOrMeta+A")
        self.page.keyboard.type(text)

    def _reach(self, target: Locator) -> None:
        """Move the focus there: by Tab, and within a group of radio buttons by the arrows."""
        element = target.element_handle()
        self.page.evaluate(WATCH)
        key = None
        for _stop in range(MOST_STOPS):
            told = self.page.evaluate("target => focusWatch.look(target)", element)
            assert not told["unseen"], f"focus can't be seen on {told['unseen']}"
            if told["there"]:
                return
            # Past the last element the focus leaves the page and comes back at its first.
            assert not told["lost"] or key in (None, "Tab"), "the focus is lost"
            key = "ArrowDown" if told.get("same") else "Tab"
            self.page.keyboard.press(key)
        raise AssertionError(f"no key leads to {target}")
