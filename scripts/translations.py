"""The Chinese catalogue, kept with Python alone: a newcomer's machine has no gettext programs.

``scripts/translations.py check``    fail where a text has no Chinese, or the .mo is old
``scripts/translations.py update``   add what is missing to the .po, empty, and drop what is unused
``scripts/translations.py compile``  write the .mo, which is committed beside its .po

Texts are found by reading the code as Python reads it and the templates as Django does: ours, and
those of packages whose pages our users see and that have no Chinese themselves.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import django
import polib
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("chat", "experiments", "memlab", "memory", "questionnaires", "templates")
# Packages whose texts reach our pages, below site-packages; of them, what is switched on.
SITE_PACKAGES = Path(django.__file__).parents[1]
BORROWED = ("axes", "django/db", "unfold")
NOT_BORROWED = re.compile(r"axes/(?!conf)|unfold/(contrib/(?!filters/)|templates/unfold_crispy/)")
# Whose own Chinese is loaded: what these say, we need not say again.
SPEAKING = ("axes", "django/conf", "django/contrib/admin", "django/contrib/auth", "unfold")
CATALOGUE = ROOT / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
COMPILED = CATALOGUE.with_suffix(".mo")

# How many texts each function takes, the context first where it has one.
PLAIN = {"_", "gettext", "gettext_lazy", "gettext_noop"}
PLURAL = {"ngettext", "ngettext_lazy"}
CONTEXT = {"pgettext", "pgettext_lazy"}
CONTEXT_PLURAL = {"npgettext", "npgettext_lazy"}

LITERAL = r"""u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
TEMPLATE_CALL = re.compile(rf"\b(\w*gettext|_)\(({LITERAL}(?:,\s*{LITERAL})*)")
PLACEHOLDER = re.compile(r"%\((\w+)\)[sdr]|\{(\w*)\}|%[sd]")

EMPTY_HEADER = {
    "Content-Type": "text/plain; charset=UTF-8",
    "Content-Transfer-Encoding": "8bit",
    "Language": "zh_Hans",
    "Plural-Forms": "nplurals=1; plural=0;",
}


@dataclass(frozen=True)
class Text:
    """One text to translate; ``where`` is its first place, for messages."""

    context: str | None
    singular: str
    plural: str | None = None
    where: str = field(default="", compare=False)


def main(command: str) -> int:
    """Carry out one command; returns the exit code."""
    match command:
        case "check":
            return check()
        case "update":
            return update()
        case "compile":
            COMPILED.write_bytes(read_catalogue().to_binary())
            return 0
    print(__doc__)
    return 2


def check() -> int:
    """Print every trouble with its place; the exit code says whether there was one."""
    catalogue = read_catalogue()
    wanted = texts() | borrowed_texts()
    entries = by_text(catalogue)
    troubles = [
        f"{text.where}: {trouble}: {text.singular!r}"
        for text in sorted(wanted, key=lambda text: text.where)
        if (trouble := trouble_with(text, entries.get((text.context, text.singular))))
    ]
    troubles += [
        f"{entry.msgid!r}: nothing says this any more" for entry in unused(catalogue, wanted)
    ]
    if not COMPILED.exists() or COMPILED.read_bytes() != catalogue.to_binary():
        troubles.append(
            f"{COMPILED.relative_to(ROOT)}: older than its .po; run scripts/translations.py compile"
        )
    print(*troubles or ["every text has its Chinese"], sep="\n")
    return int(bool(troubles))


def update() -> int:
    """Add the missing texts to the .po without a translation, drop the unused; say how many."""
    catalogue = read_catalogue()
    wanted = texts() | borrowed_texts()
    dropped = unused(catalogue, wanted)
    for entry in dropped:
        catalogue.remove(entry)
    entries = by_text(catalogue)
    missing = [text for text in wanted if (text.context, text.singular) not in entries]
    for text in sorted(missing, key=lambda text: (text.where, text.singular)):
        catalogue.append(
            polib.POEntry(
                msgctxt=text.context,
                msgid=text.singular,
                msgid_plural=text.plural or "",
                msgstr_plural={0: ""} if text.plural else {},
                occurrences=[(text.where.rsplit(":", 1)[0], "")],
                flags=["python-format"] if "%(" in text.singular else [],
            )
        )
    CATALOGUE.parent.mkdir(parents=True, exist_ok=True)
    catalogue.save(str(CATALOGUE))
    print(f"{CATALOGUE.relative_to(ROOT)}: {len(missing)} added, {len(dropped)} dropped")
    return 0


def unused(catalogue: polib.POFile, wanted: set[Text]) -> list[polib.POEntry]:
    """The entries that no text of ``wanted`` asks for."""
    keys = {(text.context, text.singular) for text in wanted}
    return [entry for entry in catalogue if (entry.msgctxt, entry.msgid) not in keys]


def trouble_with(text: Text, entry: polib.POEntry | None) -> str | None:
    """What is wrong with the translation of ``text``, or None."""
    if entry is None:
        return "not in the catalogue"
    if entry.fuzzy:
        return "marked fuzzy"
    if (entry.msgid_plural or None) != text.plural:
        return "its plural differs from the catalogue's"
    translations = list(entry.msgstr_plural.values()) if text.plural else [entry.msgstr]
    if not all(translations):
        return "not translated"
    allowed = placeholders(text.singular) | placeholders(text.plural or "")
    needed = allowed if not text.plural else placeholders(text.plural)
    for translation in translations:
        if not needed <= placeholders(translation) <= allowed:
            return f"the placeholders of {translation!r} differ"
    return None


def placeholders(text: str) -> set[str]:
    return {found.group(0) for found in PLACEHOLDER.finditer(text.replace("%%", ""))}


def read_catalogue() -> polib.POFile:
    if CATALOGUE.exists():
        return polib.pofile(str(CATALOGUE), wrapwidth=96)
    catalogue = polib.POFile(wrapwidth=96)
    catalogue.metadata = dict(EMPTY_HEADER)
    return catalogue


def by_text(catalogue: polib.POFile) -> dict[tuple[str | None, str], polib.POEntry]:
    """The entries by context and text: the same text may stand there with and without a context."""
    return {(entry.msgctxt, entry.msgid): entry for entry in catalogue}


def texts() -> set[Text]:
    """Every text that our code and templates mark for translation."""
    return {text for source in SOURCES for text in texts_below(ROOT / source, ROOT)}


def borrowed_texts() -> set[Text]:
    """What packages say on our pages and have no Chinese for."""
    spoken = {
        (entry.msgctxt, entry.msgid)
        for package in SPEAKING
        for path in (SITE_PACKAGES / package).rglob("locale/zh_Hans/LC_MESSAGES/django.mo")
        for entry in polib.mofile(str(path))
    }
    return {
        text
        for package in BORROWED
        for text in texts_below(SITE_PACKAGES / package, SITE_PACKAGES, skip=NOT_BORROWED)
        if (text.context, text.singular) not in spoken
    }


def texts_below(folder: Path, root: Path, *, skip: re.Pattern[str] | None = None) -> Iterator[Text]:
    """The texts of every module and template below ``folder``, with places from ``root``."""
    for path in sorted(folder.rglob("*")):
        where = str(path.relative_to(root))
        if skip and skip.match(where):
            continue
        if path.suffix == ".py" and "migrations" not in path.parts:
            yield from texts_in_code(path.read_text(encoding="utf-8"), where)
        elif path.suffix in {".html", ".txt"} and "templates" in path.parts:
            yield from texts_in_template(path.read_text(encoding="utf-8"), where)


def texts_in_code(source: str, where: str) -> Iterator[Text]:
    """The texts of a Python module; raises on one that is put together at run time."""
    tree = ast.parse(source)
    real_names = aliases(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else None
        name = function.id if isinstance(function, ast.Name) else name
        name = real_names.get(name or "", name)
        if name not in PLAIN | PLURAL | CONTEXT | CONTEXT_PLURAL:
            continue
        place = f"{where}:{node.lineno:04d}"
        if any(isinstance(argument, ast.JoinedStr | ast.BinOp) for argument in node.args):
            raise SystemExit(f"{place}: a text to translate must be one literal; use %(name)s")
        literals = [
            argument.value
            for argument in node.args
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        ]
        if literals:
            yield text_of_call(name, literals, place)


def aliases(tree: ast.Module) -> dict[str, str]:
    """What a module calls Django's functions, to their real names: ``_now`` to ``gettext``."""
    return {
        name.asname: name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation"
        for name in node.names
        if name.asname
    }


def texts_in_template(source: str, where: str) -> Iterator[Text]:
    """The texts of a Django template, in the form that Django asks the catalogue for."""
    for call in TEMPLATE_CALL.finditer(templatize(source, origin=where)):
        literals = [ast.literal_eval(literal) for literal in re.findall(LITERAL, call.group(2))]
        yield text_of_call(call.group(1), literals, where)


def text_of_call(name: str, literals: list[str], where: str) -> Text:
    context = literals.pop(0) if name in CONTEXT | CONTEXT_PLURAL else None
    plural = literals[1] if name in PLURAL | CONTEXT_PLURAL else None
    return Text(context=context, singular=literals[0], plural=plural, where=where)


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:])))
