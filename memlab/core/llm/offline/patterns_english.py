"""The offline model's extraction patterns for English, dimension by dimension.

Named groups fill a pattern's template; `what` stops at punctuation and at words
that begin another thought.
"""

from __future__ import annotations

import re

from memlab.core.llm.offline.rule import Rule

_EN_STOP = r"(?=[,.;!?]|\s(?:but|because|so|and i|and my|although|though|when|since)\b|\s[-–—]|$)"
_EN = rf"(?P<what>[^,.;!?]{{2,60}}?){_EN_STOP}"
_EN_ITEM = r"(?!my |i |he |she |they |we |you |but |because |which )[^,.;!?]{2,25}?"
# A list keeps together: "painting, playing the piano and tea".
_EN_LIST = rf"(?P<what>[^,.;!?]{{2,60}}?(?:(?:, {_EN_ITEM}){{1,4}},? and {_EN_ITEM})?){_EN_STOP}"
_VERY_EN = r"(?:(?:really|also|just|absolutely|still|always|truly|do|so) )*"
_KIN_EN = (
    r"mother|mom|mum|father|dad|parents|grandmother|grandma|grandfather|grandpa|sister|brother"
    r"|daughter|son|kids|husband|wife|boyfriend|girlfriend|partner|roommate|best friend|friend"
    r"|colleague|boss|supervisor"
)
_PET_EN = r"cats?|kittens?|dogs?|puppy|puppies|rabbits?|hamsters?|parrots?|turtles?|fish"
_JOB_EN = (
    r"teacher|doctor|nurse|programmer|engineer|designer|student|accountant|lawyer|driver|cook|chef"
    r"|journalist|editor|salesperson|writer|painter|actor|manager|freelancer|police officer"
    r"|researcher|translator|developer|librarian|baker|carpenter|scientist|artist|musician"
)
_TRAIT_EN = (
    r"introvert(?:ed)?|extrovert(?:ed)?|shy|sensitive|optimist(?:ic)?"
    r"|pessimist(?:ic)?|perfectionist"
    r"|stubborn|quiet|independent|careless|careful|impatient|patient|anxious person|outgoing"
    r"|night owl|early bird|procrastinator|rational|emotional person|disciplined|organi[sz]ed"
)
_EVENT_EN = (
    r"broke up|got divorced|divorced|passed away|died|got married|pregnant|lost my job|laid off"
    r"|got fired|graduated|promoted|hospitali[sz]ed|surgery|moved (?:house|out|to)|quit my job"
    r"|was rejected|got rejected|diagnosed|car accident|got engaged|was accepted|got accepted"
    r"|failed my|passed my|had a (?:big )?fight"
)
_FELT_EN = (
    r"hopeless|overwhelmed|afraid|scared|terrified|angry|furious|sad|heartbroken|lost|anxious"
    r"|nervous|lonely|ashamed|guilty|worthless|stressed|disappointed|depressed|worried|thrilled"
    r"|proud|moved|burn(?:ed|t) out"
)


def _en(
    dimension: str, pattern: str, template: str, key: str | None = None, *, felt: bool = False
) -> Rule:
    return Rule(dimension, re.compile(pattern, re.IGNORECASE), template, key, "en", felt)


ENGLISH: tuple[Rule, ...] = (
    _en(
        "basic_info",
        r"\bmy name(?: is|'s) (?P<what>[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?)",
        "{what}",
        "name",
    ),
    _en("basic_info", r"\b(?:you can )?call me (?P<what>(?-i:[A-Z])[\w'-]+)", "{what}", "name"),
    _en(
        "basic_info",
        r"\bi(?: am|'m) (?P<what>\d{1,3})(?: years old)?(?=[,.;!?]|\s(?:years|and)|$)",
        "{what}",
        "age",
    ),
    _en(
        "basic_info",
        r"\bi(?: am|'m) (?:currently )?(?:working as )?an? "
        rf"(?P<what>(?:[\w-]+ ){{0,3}}?(?:{_JOB_EN}))\b",
        "{what}",
        "occupation",
    ),
    _en("basic_info", rf"\bi work as an? {_EN}", "{what}", "occupation"),
    _en("basic_info", rf"\bi (?:work|study) (?:at|for|in) {_EN}", "{what}", "workplace"),
    _en("basic_info", rf"\bi (?:currently |now )?live in {_EN}", "{what}", "residence"),
    _en("basic_info", rf"\bi(?: am|'m| come) (?:originally )?from {_EN}", "{what}", "hometown"),
    _en(
        "preferences",
        rf"\bi {_VERY_EN}(?P<verb>like|love|enjoy|prefer|adore) (?!you\b"
        rf"|it\b|that\b|this\b|to (?:thank|ask)){_EN_LIST}",
        "{verb}s {what}",
    ),
    _en(
        "preferences",
        rf"\bi {_VERY_EN}(?:don't|do not) (?:really )?(?:like|enjoy) (?!it\b|that\b|this\b){_EN}",
        "dislikes {what}",
    ),
    _en(
        "preferences",
        rf"\bi {_VERY_EN}(?:hate|dislike|can't stand) (?!it\b|that\b|this\b|when){_EN}",
        "dislikes {what}",
    ),
    _en("preferences", r"\bi(?: am|'m|'ve been) (?:an? )?(?P<what>vegetarian|vegan)\b", "{what}"),
    _en(
        "preferences", rf"\bmy favou?rite (?P<what>[^,.;!?]{{2,60}}?){_EN_STOP}", "favourite {what}"
    ),
    _en(
        "constraints",
        rf"\bi(?: am|'m) {_VERY_EN}(?:\w+ly )?allergic to {_EN}",
        "allergic to {what}",
    ),
    _en(
        "constraints",
        rf"\bi (?:can't|cannot|can not|am not allowed to|must not) "
        rf"(?P<act>eat|drink|have|run|lift|do) {_EN}",
        "cannot {act} {what}",
    ),
    _en(
        "constraints",
        r"\bi have (?P<what>(?:[\w-]+ ){0,2}(?:asthma|diabetes|insomnia"
        r"|migraines?|allerg(?:y|ies)|intolerance|disorder|arthritis"
        r"|anemia))\b",
        "has {what}",
    ),
    _en(
        "goals",
        rf"\bi(?: am|'m) (?:also )?(?:planning|going|hoping|trying|preparing|determined) to {_EN}",
        "wants to {what}",
    ),
    _en(
        "goals",
        rf"\bi {_VERY_EN}(?:want|plan|hope|intend|would love|'d love"
        rf"|aim) to (?!thank|ask|say|know|be \w+ed\b|be understood|feel ){_EN}",
        "wants to {what}",
    ),
    _en(
        "goals",
        rf"\bi(?:'d| would) (?:love|like) to (?!thank|ask|say|know|share"
        rf"|be \w+ed\b|be understood|feel ){_EN}",
        "wants to {what}",
    ),
    _en("goals", rf"\bmy (?:dream|goal) is (?:to )?{_EN}", "wants to {what}"),
    _en("goals", rf"\bi(?: am|'m) preparing for {_EN}", "preparing for {what}"),
    _en(
        "personality",
        rf"\bi(?: am|'m|'ve always been) (?:(?:a|an|very|quite|pretty"
        rf"|rather|really|kind of|a bit|such a|more of an?|somewhat"
        rf"|always) )*(?P<what>{_TRAIT_EN})\b",
        "{what}",
    ),
    _en(
        "social",
        rf"\bi(?: have|'ve got| got| own| adopted) (?P<what>(?:an? "
        rf"|two |three |my )?(?:[\w-]+ ){{0,3}}?(?:{_PET_EN}))\b",
        "has {what}",
    ),
    _en(
        "social",
        rf"\bi have (?P<what>(?:an? |one |two |three )?(?:(?:younger"
        rf"|older|little|big|twin) )?(?:{_KIN_EN})s?)\b",
        "has {what}",
    ),
    _en(
        "social",
        rf"\bmy (?P<who>(?:(?:younger|older|little|big) )?(?:{_KIN_EN}))"
        rf"(?P<verb> is| lives| works|'s name is| likes| loves) (?!not "
        rf"|going ){_EN}",
        "{who} {verb} {what}",
    ),
    _en("social", rf"\bi live with my (?P<what>{_KIN_EN})\b", "lives with {what}"),
    _en(
        "emotional_needs",
        rf"\bi {_VERY_EN}(?:want|need|wish|long|hope) (?:to (?:be|feel) "
        rf"|(?:for )?(?:someone|somebody) (?:to |who |would )?)(?P<what>(?:understood"
        rf"|accepted|seen|heard|loved|supported|appreciated|recogni[sz]ed"
        rf"|needed|listen\w*|understand\w*|talk|support|care)[^,.;!?]{{0,30}}?){_EN_STOP}",
        "needs: {what}",
    ),
    _en(
        "emotional_needs",
        r"\b(?:no one|nobody) (?:really |ever )?(?P<what>understands"
        r"|listens to|cares about|gets|hears) me\b",
        "feels that nobody {what} me",
    ),
    _en(
        "core_values",
        r"(?P<what>[^,.;!?]{2,40}?) (?:is|are|means?) (?P<qualifier>the most important(?: thing)?"
        r"|everything|what matters most|very important) (?:to|for) me\b",
        "{what}: {qualifier}",
    ),
    _en(
        "core_values",
        rf"\bi {_VERY_EN}(?P<verb>value|treasure) (?!you\b|it\b){_EN}",
        "{verb}s {what}",
    ),
    _en("core_values", rf"\bi {_VERY_EN}care about (?!you\b|it\b){_EN}", "cares about {what}"),
    _en("core_values", rf"\bi {_VERY_EN}believe in (?!you\b|it\b){_EN}", "believes in {what}"),
    _en(
        "significant_events",
        rf"\bi(?: am|'m| was|'ve been| have been| feel| felt| get| got) "
        rf"(?P<what>(?:(?:so|very|really|pretty|a bit|quite|too|completely"
        rf"|totally|deeply|feeling|always|been) )*(?:{_FELT_EN})\b[^,.;!?]{{0,50}}?){_EN_STOP}",
        "{what}",
        felt=True,
    ),
    _en(
        "significant_events",
        rf"(?:\b(?:i|we) |\bmy (?=(?:{_KIN_EN})\b))(?!.{{0,25}}(?:\bnot\b"
        rf"|\bnever\b|n't\b))(?P<what>[^,.;!?]{{0,25}}?\b(?:{_EVENT_EN})\b[^,.;!?]{{0,40}}?){_EN_STOP}",
        "{what}",
        felt=True,
    ),
)
