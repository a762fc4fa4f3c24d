"""The screen's English rules, over normalised text (see ``chat.safety.wording``).

Severities follow the ideation scale of the Columbia-Suicide Severity Rating Scale (docs/safety.md).
"""

from __future__ import annotations

from functools import partial

from chat.safety.enums import Category, Severity
from chat.safety.rule import rule_of

_OWN = r"my\s*sel(?:f|ves)|me\s*self"
_METHOD = (
    rf"(?:kill|murder|unalive|hang|shoot|stab|drown|poison|strangle|suffocate)(?:ing|ed"
    rf"|ning)?\s*(?:{_OWN})"
    rf"|(?:to|and|gonna|will|'ll) off (?:{_OWN})|offing (?:{_OWN})"
    r"|(?:end|ending|ended) (?:my (?:own )?(?:life|existence)|it all|things for good)"
    r"|(?:take|taking|took) my (?:own )?life(?! in(?:to)? my)|(?:commit|committing|committed"
    r"|attempt\w*) suicide"
    r"|(?:slit|slitting|slash\w*|cut|cutting) (?:my|open my) (?:wrists?|throat|veins)"
    r"|blow(?:ing)? my (?:brains|head) (?:out|off)"
    r"|(?:jump|jumping|leap|throw(?:ing)? myself)"
    r" (?:off|from|out of|in front of|into|under) (?:a |the |this |that |my )?"
    r"(?:bridge|roof|rooftop|building|balcony|window|cliff|train|truck|bus|traffic|subway|metro)"
    r"|(?:step|walk|run)(?:ping|ning|ing)? (?:off (?:a |the |this |that |my )?(?:bridge|roof"
    r"|rooftop|building|balcony|cliff)|(?:in front of|into|under) (?:a |the |this )?"
    r"(?:moving |oncoming )?(?:train|truck|bus|traffic|subway|metro)\b)"
)
_INTENT = (
    r"(?:i(?:'m| am)? ?(?:going to|gonna|about to|planning to|planning on|ready to|determined to)"
    r"|i(?:'ll| will| intend to| plan to| have decided to|'ve decided to| decided to)"
    r"|i've a plan to"
    r"|im (?:going to|gonna|about to|planning to))"
)
_NEAR = r"(?:tonight|tomorrow|today|right now|this (?:evening|weekend|week)|in a minute|soon as)"
_PILLS = (
    r"(?:pills?|tablets?|medication|meds|medicines?|paracetamol|tylenol|xanax|opioids"
    r"|insulin)"
)
_LAUGH = r"laugh\w*|lol\b|lmao|embarrass\w*|shame|cute|boredom|\bat the gym\b"
_STUDIED = (
    r"\b(?:squad|prevention|rates?|statistics|essays?|thesis|article|paper|seminar|lecture|course"
    r"|novel|books?|movie|films?|series|episode|song|lyrics|album|band|hamlet|romeo|juliet|werther"
    r"|political|career|social|commercial|economic|doors?|cells?|bombers?|bombing|awareness"
    r"|documentary|history|sociolog\w*|psychology (?:class|course|lecture|exam)|a topic|durkheim"
    r"|case study|study on|studies|law school|king)\b"
)
_GAME = (
    r"\b(?:games?|gaming|boss fight|level|raid|zombies|monsters?|chess|match|finals?|tournament"
    r"|elden|minecraft|fortnite|mario|lobby|server|tennis|cards|poker|marathon|race|quiz|league)\b"
)
_PERSON = (
    r"(?:him|her(?! (?:feelings|portrait|picture|a ))|them|you|everyone|everybody|someone|somebody"
    r"|people|others|strangers"
    r"|my (?:\w+ ){0,2}?(?:wife|husband|girlfriend|boyfriend|mom|mum|mother|dad|father|brother"
    r"|sister|boss|ex|neighbou?rs?|room ?mates?|flat ?mates?|classmates?|teacher|professor|kids?"
    r"|child(?:ren)?|baby|son|daughter|parents?|family|partner|colleagues?|co-?workers?|uncle"
    r"|aunt|stepdad|stepmom|stepfather|stepmother|supervisor|advisor|landlord|friends?)"
    r"|(?:that|this|these|those|the|every) (?:\w+ )?(?:guys?|man|men|woman|women|bitch|bastards?"
    r"|asshole|girls?|boys?|person|teachers?|kids?|students?|neighbou?rs?|idiots?|one of them))\b"
)
_VIOLENCE = (
    r"(?:kill|murder|stab|strangle|shoot|poison|behead|slaughter|torture|rape|suffocate|smother"
    r"|hurt|harm|attack|choke)(?:ing|ning|ting|bing)?|strangling|chok(?:e|ing)|rap(?:e|ing)"
)
_WANTS = (
    r"(?:(?:want|wanna|like|love|going|plan\w*|intend|decided|ready|about|have|need|tempted|able"
    r"|urge"
    r"|impulse|desire|how|will|gonna) to|wanna|gonna|i will|i'll|i'd|i could|i might"
    r"|(?:thinking|thoughts|dream\w*|fantas\w+|thought|think) (?:of|about)|feel like|imagin\w+"
    r"|how (?:do|can|could|should) i|stop myself from)"
)
_CLOSE = (
    r"(?:he|she|they|my (?:\w+ ){0,2}?(?:husband|wife|boyfriend|girlfriend|partner|dad|father|mom"
    r"|mum|mother|stepdad|stepfather|stepmom|stepmother|uncle|aunt|brother|sister|cousin"
    r"|grandfather|grandpa|boss|coach|teacher|priest|roommate|room mate|flatmate|ex|parents"
    r"|family|son|daughter|neighbou?r))"
)
_OFTEN = (
    r"(?: (?:keeps?|kept|started|begins?|has|have|had|been|is|was|always|sometimes|often|just"
    r"|still"
    r"|regularly|constantly|would|will|used to|drunkenly|also|even|then|once|again))*"
)


_rule = partial(rule_of, "en")
_SELF, _OTHERS = Category.SELF_HARM, Category.HARM_TO_OTHERS
_ABUSE, _DANGER = Category.ABUSE, Category.DANGER
_CONCERN, _SERIOUS, _ACUTE = Severity.CONCERN, Severity.SERIOUS, Severity.ACUTE

_NOT_MEANT = (
    r"(?:kill\w*|hang\w*|drown\w*|shoot\w*|end\w*) (?:myself|it all) "
    r"(?:laughing|in the foot|with (?:laughter|work|a|an|some|dessert)|in (?:work|homework|books"
    r"|tea"
    r"|coffee|paperwork|emails)|trying to|at the gym|over (?:this|the) (?:exam|deadline))"
)

SELF_HARM = (
    _rule(
        "self.intent",
        _SELF,
        _ACUTE,
        rf"\b(?:{_INTENT} (?:\w+ ){{0,3}}?(?:{_METHOD}|die\b(?! (?:of|if|for|from|laughing)))"
        rf"|(?:{_METHOD})[^,;]*\b{_NEAR})",
        unless=rf"{_NOT_MEANT}|{_LAUGH}|hungry|starving",
    ),
    _rule(
        "self.note",
        _SELF,
        _ACUTE,
        r"\bsuicide (?:note|letter)|\b(?:wr(?:ote|iting|itten|ite)|leav(?:e|ing)|left) "
        r"(?:a |my |some |you |the )*(?:goodbye|good-bye|farewell) (?:note|letter)s?\b"
        r"(?! (?:to|for|at) (?:\w+ ){0,2}?(?:colleagues|job|team|class|school|company|office|boss"
        r"|club|coach|work)\b)",
        unless=_STUDIED,
    ),
    _rule(
        "self.means",
        _SELF,
        _ACUTE,
        rf"\b(?:bought|got|have|found|stash\w*|sav(?:ed|ing)|hoard\w*|collect\w*|stor(?:ed|ing))"
        rf" .{{0,30}}\b(?:{_PILLS}|rope|gun|razor|blades?|poison)\b.{{0,30}}\b(?:to (?:end"
        rf"|die\b(?! for)|kill|hang|do it)"
        r"|enough|for when\b(?! i (?:travel|fly|can'?t sleep|get|have))|end it)"
        rf"|\bi(?:'ve| have| have got|'ve got) (?:all )?(?:the|my|enough) {_PILLS} (?:right )?"
        r"(?:here|next to me|beside me|in front of me|in my hands?|ready)",
    ),
    _rule(
        "self.overdose",
        _SELF,
        _ACUTE,
        rf"\b(?:took|swallow\w*|taken|take|taking|downed) (?:\w+ )?(?:all|a (?:whole "
        rf"|full )?(?:bottle"
        rf"|box|pack|lot|handful|bunch)|too many|the (?:whole|entire) (?:bottle|box|pack)"
        rf"|every one)"
        rf"(?: of| my| the| those| these| his| her)*.{{0,12}}\b{_PILLS}"
        r"|\b(?:took|taken|swallow(?:ed|ing)|downed) (?:\w+ )?(?:\d{2,3}|twenty|thirty|forty"
        rf"|fifty|sixty|a hundred|dozens of)(?: (?!mg\b|ml\b|mcg\b)\w+){{0,2}}? {_PILLS}"
        r"|\b(?:took|taken|taking|take) (?:an?|my|another|the) (?:\w+ )?overdose"
        r"|\bi (?:\w+ ){0,3}?(?:overdosed|od'?ed|od'd)|\b(?:going to|gonna|want to|wanna|will) "
        r"(?:overdose|od)\b",
        unless=r"vitamin|at (?:noon|breakfast)",
    ),
    _rule(
        "self.edge",
        _SELF,
        _ACUTE,
        r"\b(?:standing|sitting|i am|i'm|im|climbed) .{0,20}\b(?:edge|ledge|roof(?:top)?|bridge"
        r"|railing"
        r"|cliff|train tracks|tracks|balcony)\b.{0,40}\b(?:jump|end it|die|goodbye|let go)",
    ),
    _rule(
        "self.how",
        _SELF,
        _ACUTE,
        r"\bhow (?:many (?!people|soldiers|animals|characters|victims|calories|men\b|civilians"
        rf"|times)|much\b).{{0,40}}(?:{_PILLS}|alcohol|bleach|it take)?.{{0,30}}\b"
        rf"(?:to die\b"
        r"|to kill (?:my|your|one)self|is (?:lethal|fatal|deadly)|lethal dose|to overdose)"
        r"|\b(?:painless\w*|easiest|quickest|fastest|best|surest|least painful|simplest) (?:way"
        r"|method)s?"
        r" (?:to|of|for) (?:(?:die|dying)\b(?! in (?:this|the|that) game)"
        r"|kill(?:ing)? (?:my|your|one)self|suicide|end(?:ing)? (?:it(?: all)?\b(?! with)"
        r"|(?:my|your|one'?s) (?:own )?(?:life|existence|pain|suffering|misery)))"
        r"|\bhow (?:do i|can i|to|should i) (?:die\b|kill myself|end my life|hang myself"
        r"|tie a noose)",
        unless=_STUDIED,
    ),
    _rule(
        "self.farewell",
        _SELF,
        _SERIOUS,
        r"\b(?:goodbye forever|goodbye (?:cruel )?world|won'?t be alive|will be dead (?:by|when"
        r"|before)|will be gone (?:by the time|(?:when|before) you (?:read|find|wake|see|hear))"
        r"|by the time you read this|when i(?:'m| am) gone\b(?! (?:on|to|for (?:a|the|lunch))\b))",
        negatable=False,
    ),
    # The last conversation of a study may end in such words too: a card, and no pause.
    _rule(
        "self.last_words",
        _SELF,
        _CONCERN,
        r"\b(?:this is|these are) my (?:very )?(?:last|final) (?:message|words|goodbye)\b"
        r"(?! (?:for (?:today|now|tonight)|today|on (?:the|this|that))\b)",
        negatable=False,
    ),
    _rule("self.method", _SELF, _SERIOUS, rf"\b(?:{_METHOD})\b", unless=rf"{_NOT_MEANT}|{_LAUGH}"),
    _rule(
        "self.want",
        _SELF,
        _SERIOUS,
        r"\b(?:want|wanna|wanted|wanting|wish|need|hope|deserve|longing|long|ready|prefer|love)"
        r"(?: (?:to|i could|i would|just|really|that i|please))* (?:die\b(?! cut| in (?:this|the"
        r"|that)"
        r" (?:level|game|round))|be dead\b(?! (?:cent|last|serious))|stop existing"
        r"|(?:just )?sleep forever"
        r"|cease to exist|not exist|disappear forever|(?:just )?vanish forever|not wake up"
        r"|never wake up"
        r"|end (?:it(?: all)?(?! all)|my life|everything))(?! with a| if you)"
        r"|\bfeel(?:s|ing)? (?:just )?like (?:dying\b|ending (?:it all|my life|everything))"
        rf"|\b{_INTENT} (?:just )?end it (?:tonight|today|tomorrow|now|soon|for good"
        r"|once and for all)\b",
        unless=rf"{_LAUGH}|\bdie for\b|dye|of old age|hang-?over|hungover|workout",
    ),
    _rule(
        "self.wish",
        _SELF,
        _SERIOUS,
        r"\bi wish(?:ed)? (?:that )?i (?:was|were|am|'?d) (?:dead|gone\b(?! (?:on|to)\b)"
        r"|not alive|never been born|never born|not here\b(?! (?:at|but|in)\b))"
        r"|\bwish i(?:'d| had)? never (?:existed|lived)"
        r"|\bwish i (?:wasn'?t|weren'?t|hadn'?t been) (?:born|alive)|\bwish i(?:'d"
        r"| had) (?:never been born|died)|\bwish i (?:could|would) "
        r"(?:just )?"
        r"(?:die|not wake|never wake|go to sleep and (?:never|not)|fall asleep and (?:never|not)"
        r"|disappear)"
        r"|\b(?:rather|better off|happier|would be easier if i was|'d be better) (?:be )?dead\b"
        r"|\bi (?:should|ought to) (?:just )?(?:be dead\b(?! (?:tired|asleep|last))"
        r"|die\b(?! laugh))|\bi deserve (?:to (?:die|be dead)|death)\b"
        r"|\bi (?:don'?t|do not) deserve to (?:live|be alive|exist)\b"
        r"|\bi(?:'d| would) rather die\b(?! than (?:eat|watch|listen|go|wear|do))",
        negatable=False,
    ),
    _rule(
        "self.not_live",
        _SELF,
        _SERIOUS,
        r"\b(?:don'?t|do not|no longer|didn'?t|never|not|can'?t|cannot) (?:\w+ ){0,2}?(?:want"
        r"|wanna|wish|care|bear)"
        r"(?: to| if i)? (?:live(?! (?:in|at|with|near|on|there|here|next|under|far|abroad|alone"
        r"|together"
        r"|close|downtown|by|off|that)\b)|live (?:in|on) this (?:world|planet)|live with myself"
        r"|be alive"
        r"|exist|go on living|keep living|be here any ?more|wake up (?:tomorrow|any ?more|ever"
        r"|again)\b(?! (?:at|early|before|so|by)\b))"
        r"|\bdon'?t (?:think|know if|believe|see how|know whether) i (?:want to|wanna|can"
        r"|could) (?:live|go on|keep living)",
        negatable=False,
    ),
    _rule(
        "self.no_reason",
        _SELF,
        _SERIOUS,
        r"\b(?:no|any|see the|see a|what'?s the|isn'?t any|not a|without a) (?:reason|point|will"
        r"|purpose|sense) (?:left )?(?:for me )?(?:in |to |of |for )?"
        r"(?:keep |go(?:ing)? on )?(?:living|live|being alive|existing|exist|my life)\b"
        r"|\blost (?:the|my|all|any) (?:will|wish|desire|reason)s? to (?:live|go on|exist"
        r"|be alive)\b"
        r"|\bnothing (?:left )?to live for|\blife (?:is not|isn'?t|ain'?t|is no longer) worth "
        r"(?:living|it)"
        r"|\bnot worth living\b",
        negatable=False,
    ),
    _rule(
        "self.suicidal",
        _SELF,
        _SERIOUS,
        r"\b(?:i|i'm|im|i've|my|me|feel\w*|am)\b(?:(?!\bnot\b|\bnever\b|\bno\b"
        r"|n't)[^,;]){0,60}?\bsuicid\w*|\bthinking (?:of|about) (?:\w+ )?suicide",
        unless=_STUDIED,
    ),
    _rule(
        "self.coded",
        _SELF,
        _SERIOUS,
        r"(?<![\d,] )(?<!\d)(?<!five )(?<!ten )(?<!few )(?<!many )(?<!of )\bkms\b|\bunaliv\w+"
        r"|\bsewer ?slide\b",
        unless=r"\bkms? (?:per|an|away|from|run)\b",
    ),
    _rule(
        "self.told",
        _SELF,
        _SERIOUS,
        r"\bkys\b|\b(?:go|just|should|please|better) kill yo?ur ?self\b|\bkill yourself\b"
        r"|\b(?:go die|you should (?:just )?die|hope you die)\b",
    ),
    _rule(
        "self.injury",
        _SELF,
        _SERIOUS,
        r"\bi\b(?:(?!(?:\bnot|\bnever|n'?t)\b(?! (?:stop|help|resist|control|only|just)\b))"
        r"[^,;]){0,60}?\b(?:cut|cutting|burn|burn(?:ed|t|ing)|hurt|hurting|harm(?:ed|ing)?"
        r"|injur\w+|scratch\w*"
        r"|punish\w*|hit|hitting|slash\w*|starv\w+|carv\w+) (?:myself\b|(?:in ?to )?my "
        r"(?:own )?(?:wrists?|arms?"
        r"|thighs?|legs|skin|body)\b)"
        r"|\b(?:i've been|i have been|i started|i start|i relapsed and|i keep|i am|i'm)"
        r" cut(?:ting)?(?: again)?\W*$",
        unless=r"shav\w*|cook\w*|chopp\w*|kitchen|\bslack|football|soccer|basketball|play\w*"
        r"|running|gym"
        r"|fell\b|falling|accident\w*|\bstove\b|\boven\b|\biron\b|\bkettle\b|\bout\b|paper cut"
        r"|off from|sport\w*"
        r"|bike|skiing"
        r"|climb\w*|mosquito|while i was|sun\b|doctor",
    ),
    _rule(
        "self.harming", _SELF, _SERIOUS, r"\bself[- ]?(?:harm|injur|mutilat)\w*", unless=_STUDIED
    ),
    _rule(
        "self.burden",
        _SELF,
        _CONCERN,
        r"\b(?:everyone|everybody|family|they|people|kids|parents|world|friends|all"
        r"|you) [^,;]{0,25}\bbetter (?:off )?"
        r"(?:without me|if i (?:was|were|wasn'?t|weren'?t|am|died|disappeared|didn'?t|had never))"
        r"|\bi(?:'m| am) (?:just |only |such |nothing but )*a burden\b"
        r"|\b(?:nobody|no one|noone) (?:would|will|'d) (?:even |really |ever )*miss me\b"
        r"|\b(?:nobody|no one|noone)\b.{0,20}\b(?:notice|care|miss me)\b.{0,20}\bif i (?:died"
        r"|disappeared|was gone|were gone|vanished)"
        r"|\b(?:easier|better|happier) if i (?:was|were)(?:n'?t| not) (?:here|around|alive)",
        negatable=False,
    ),
    _rule(
        "self.tired_of_life",
        _SELF,
        _CONCERN,
        r"\b(?:tired|sick|exhausted|weary|done) (?:of|with|from) (?:living\b(?! (?:out|in|with"
        r"|at|on|near))|life\b(?! (?:in|on|at|admin|hacks|lessons)\b)|being alive|existing"
        r"|everything and everyone)"
        r"|\bcan(?:'?t|not) go on(?:\W*$|,| (?:like|living|any|alone|without"
        r"|with (?:this|life|my life|it all))\b)"
        r"|\bcan(?:'?t|not) live (?:like this|any ?more|with (?:this|the) pain)"
        r"|\bcan(?:'?t|not) do (?:this|it) any ?(?:more|longer)\b"
        r"|\bwant (?:it|it all|all of it|all this|everything|the pain|this pain|my life) (?:all )?"
        r"to (?:stop|end|be over)\b|\b(?:no|any) (?:other )?way out(?: for me| of this)?\W*$"
        r"|\bthink(?:ing)? (?:of|about) ending (?:things|it)\b(?! with)"
        r"|\bi(?:'m| am|'ve been| keep| often| always| sometimes)?\b[^,;]{0,15}\bthink(?:ing)?"
        r" (?:a lot )?(?:of|about) (?:my (?:own )?death|death|dying|being dead)\b"
        r"(?! (?:my|the|\w+ hair)\b)"
        r"|\bcan(?:'?t|not) (?:take|bear|stand) (?:it|this|life"
        r"|this life) any ?(?:more|longer)"
        r"|\bcan(?:'?t|not) keep (?:living|going like this)",
        unless=rf"{_STUDIED}|philosoph\w*|religio\w*|\b(?:maze|homework|workout|exercises?|diet)\b",
        negatable=False,
    ),
    _rule(
        "self.kill_me",
        _SELF,
        _CONCERN,
        r"\b(?:just |please |someone |somebody )*kill me (?:now|please|already)|^\W*(?:just "
        r"|please )*kill me\W*$"
        r"|\bdon'?t care if i (?:die|live|wake up)",
        negatable=False,
    ),
    _rule(
        "self.other_person",
        _SELF,
        _CONCERN,
        r"\b(?:kill|killing|killed|hang|hanged|harm|harming|hurt|hurting|cut|cutting) (?:himself"
        r"|herself|themsel(?:f|ves))\b"
        r"|\bkilling yourself\b|\b(?:his|her|their|your) (?:own )?suicide\b"
        r"|\b(?:take|taking|took|end|ending|ended) (?:his|her|their) (?:own )?li(?:fe|ves)\b",
        unless=rf"{_STUDIED}|{_LAUGH}|shav\w*|cook\w*|slack|\b(?:play\w*|football|character|hero"
        rf"|scene|kitchen)\b",
    ),
    _rule(
        "self.mention",
        _SELF,
        _CONCERN,
        r"\bsuicid(?:e|al)\b"
        r"|\boverdosed\b(?! on (?:sugar|coffee|caffeine|chocolate|candy|sweets|cake|tv))",
        unless=_STUDIED,
    ),
)

HARM_TO_OTHERS = (
    _rule(
        "others.weapon",
        _OTHERS,
        _ACUTE,
        r"\b(?:bring|bringing|take|taking|carry\w*|brought|buy|bought) .{0,15}\b(?:gun|knife"
        r"|rifle|weapon|bomb|machete)\b"
        r".{0,20}\b(?:to|into) (?:the |my |his |her )?(?:school|work|class|campus|office|church"
        r"|mosque|house|party)"
        r"|\b(?:shoot up|blow up|burn down|bomb) (?:the|my|this|a|his|her|our"
        r"|that)? ?(?:\w+ )?(?:school|office|church|mosque"
        r"|synagogue|hospital|campus|building|university|house|mall|place)",
        unless=rf"{_GAME}|\b(?:cake|cheese|bread|fruit|picnic|balloons|bath bombs?)\b",
    ),
    _rule(
        "others.violence",
        _OTHERS,
        _SERIOUS,
        rf"\b{_WANTS} (?:\w+ ){{0,3}}?(?:{_VIOLENCE}|beat(?:ing)?|burn(?:ing)?|hit(?:ting)?"
        rf"|smash\w*) (?:\w+ )?{_PERSON}"
        rf"(?<!beat him)(?<!beat her)(?<!beat them)(?<!hit you)(?!')",
        unless=rf"{_GAME}|kindness|\bhit(?:ting)? (?:\w+ ){{1,3}}up\b|black and white"
        rf"|natural light|\b(?:e-?mail|message|text|a note|photos?|pictures?|portraits?"
        rf"|camera|arrow)\b"
        rf"|{_LAUGH}|feelings",
    ),
    _rule(
        "others.beat",
        _OTHERS,
        _SERIOUS,
        rf"\b{_WANTS} (?:\w+ ){{0,2}}?beat(?:ing)? (?:the (?:shit|crap|hell) out of )?{_PERSON}"
        rf"(?: (?:up|to death|senseless|to a pulp|badly)|.{{0,12}}\bup\b)",
        unless=_GAME,
    ),
    _rule(
        "others.deserve",
        _OTHERS,
        _SERIOUS,
        r"\b(?:they|he|she|all of them|those people|you)(?: all)? (?:deserves? to (?:die|suffer"
        r"|be killed)|must die|need to die)"
        r"|\bhomicidal\b|\b(?:urge|want|need) to (?:kill|murder)\b(?! (?:time|some time"
        r"|for|two birds|it\b|the (?!man|men|woman|women|guy|girl|boy|kid|child|people|person"
        r"|teacher"
        r"|bastard|bitch|idiot|neighbo)))",
        unless=rf"{_GAME}|{_STUDIED}",
    ),
)

ABUSE = (
    _rule(
        "abuse.violence",
        _ABUSE,
        _SERIOUS,
        rf"\b{_CLOSE}{_OFTEN} (?:hits?|hitting|beats?|beating|beaten|chok(?:es?|ed|ing)|strangl"
        rf"(?:es?|ed|ing)"
        r"|punch(?:es|ed|ing)?|slap(?:s|ped|ping)?|kick(?:s|ed|ing)?|burn(?:s|ed|t)?|rap(?:es?"
        r"|ed|ing)"
        r"|molest(?:s|ed|ing)?|grop(?:es?|ed|ing)|assault(?:s|ed|ing)?|abus(?:es?|ed|ing)|hurts?"
        r"|hurting|attack(?:s"
        r"|ed)?"
        r"|whip(?:s|ped)|stalk(?:s|ed|ing)?) (?:me|us|my (?:kids?|child(?:ren)?|mom|mum|mother"
        r"|son|daughter|sister|brother|baby))\b",
        unless=r"\b(?:hit|hits|hitting) me up\b|\bme out of (?:the )?(?:\w+ )?(?:chat|game"
        r"|server|lobby|meeting|zoom|call|band|team)"
        r"|\b(?:hit|hits|hitting) me with (?:an? |the |some |another )*(?:questions?|lot|facts?"
        r"|ideas?|news|bill|deadlines?|tasks?)\b"
        r"|\bwith (?:\w+ )?(?:kisses|hugs|cuddles|love|compliments)\b"
        rf"|\bbeats? (?:me|us) (?:at|in|by|to|every)\b|\bjoke|{_GAME}|\bby (?:two|three|one|\d)",
    ),
    _rule(
        "abuse.threat",
        _ABUSE,
        _ACUTE,
        rf"\b(?:{_CLOSE}|someone|somebody|a man|who){_OFTEN} (?:threaten\w*|said|says|swore"
        rf"|swears|want\w*|tr(?:y|ied|ies|ying)|going) "
        r"(?:to |that he |that she |(?:that )?(?:he|she|they)'(?:ll|d) |he |she |would |will "
        r"|wants to |'d |'ll )*(?:kill|hurt|hit"
        r"|beat|shoot|stab|murder|rape|strangle) (?:me|us|my (?:kids?|children|mother|family))\b"
        r"|\bthreat\w* (?:me|us|my (?:kids?|children|family)) with (?:a |an |his |her )?(?:knife"
        r"|gun"
        r"|weapon|violence|bat|axe|hammer)",
        unless=rf"{_GAME}|\b(?:mom|mum|mother|dad|father|parents|boss|wife|teacher|sister|roommate)"
        rf" says? (?:she|he|they)'(?:ll|d) kill (?:me|us) (?:when|if|for|because|over)\b"
        rf"|\bgoing to kill (?:me|us) (?:when|if|for|because|over)\b",
    ),
    _rule(
        "abuse.control",
        _ABUSE,
        _SERIOUS,
        rf"\b{_CLOSE}{_OFTEN} (?:forc(?:es?|ed|ing) me to|mak(?:es?|ing) me|made me) .{{0,12}}\b"
        rf"(?:sex|sleep with|touch|undress|naked|strip)"
        rf"|\b{_CLOSE}[^,;]{{0,30}}\b(?:touch(?:es|ed)? me (?:inappropriately|without|down there"
        rf"|at night|in bed"
        rf"|where|sexually|under)"
        r"|lock(?:s|ed)? me (?:in|up|inside)|won'?t let me (?:leave|out of the)|held me down"
        r"|forced (?:him|her)self on me)",
    ),
    _rule(
        "abuse.suffered",
        _ABUSE,
        _SERIOUS,
        r"\b(?:i|i'm|i've|im|ive) (?:(?!not\b|never\b)\w+ ){0,4}?(?:raped|molested|(?:sexually "
        r"|physically "
        r"|emotionally )?(?:assaulted|abused)"
        r"|stalked|trafficked|kidnapped|held (?:hostage|captive)|strangled|groomed(?! at)|drugged"
        r"|blackmailed)\b"
        r"|\b(?:i|i'm|i've) (?:\w+ ){0,2}?(?:was|got|get|been|being) (?:\w+ )?(?:beaten(?! (?:at"
        r"|in|to|by (?:the |an? |\d|one|two|three)))|bullied)\b",
        unless=rf"{_GAME}|\bdog\b|\bcat\b",
    ),
    _rule(
        "abuse.fear",
        _ABUSE,
        _CONCERN,
        r"(?<!not )(?<!never )\b(?:afraid|scared|terrified|frightened) (?:to go home"
        r"|for my (?:life|safety)|of "
        r"(?:him|her|my (?:husband|wife|boyfriend|girlfriend|partner|dad|father|mother|mom"
        r"|stepdad|stepfather|ex|uncle|brother)))\b"
        r"|\b(?:don'?t|not|do not) feel safe\b|\bi(?:'m| am) not safe\b",
        negatable=False,
    ),
    _rule(
        "abuse.mention",
        _ABUSE,
        _CONCERN,
        r"\b(?:domestic|sexual) (?:violence|abuse)\b|\bchild abuse\b|\babusive (?:relationship"
        r"|husband|wife|partner|parents?|father|mother|home)\b",
        unless=_STUDIED,
    ),
)

DANGER = (
    _rule(
        "danger.intruder",
        _DANGER,
        _ACUTE,
        r"\b(?:someone|somebody|a man|a stranger|he|they)\b.{0,20}\b(?:break(?:s|ing)? in"
        r"(?:to)? (?:my|our|the)|broke into my (?:house|flat|room)|is following me)"
        r"|\bthere(?:'s| is) (?:someone|somebody|a man|a stranger|an intruder|a burglar)"
        r" (?:in|inside) my (?:house|home|flat|apartment|room)\b(?! who)"
        r"|\b(?:he|she|they|man|somebody|someone|guy) (?:\w+ ){0,3}?(?:a |the |his "
        r"|her )?(?:knife|gun|weapon|machete|axe)\b.{0,30}\b(?:outside|here|door|house|building"
        r"|at me|school|room)",
        unless=rf"{_GAME}|\b(?:movie|film|novel|series|dream|tackled|cabinet|collection|crafts)\b"
        r"|\blast (?:year|month|summer|winter|spring|autumn)\b|\b(?:years?|months?) ago\b",
    ),
    _rule(
        "danger.medical",
        _DANGER,
        _ACUTE,
        r"\bbleeding (?:out|badly|heavily|a lot|to death)|\bcan'?t stop the bleeding"
        r"|\bbleeding\b.{0,30}\b(?:won'?t|doesn'?t) stop|\b(?:won'?t|doesn'?t) stop bleeding"
        r"|\bi(?:'ve| have| was|'ve just)? been poisoned|\bi was poisoned"
        r"|\bcan'?t breathe\b.{0,30}\bchest\b|\bchest\b.{0,30}\bcan'?t breathe\b"
        r"|\bi (?:\w+ )?(?:drank|swallowed|ingested) (?:\w+ )?(?:bleach|poison|pesticide"
        r"|antifreeze|rat poison|drain cleaner)"
        r"|\b(?:i'm|i am|i think i'm|i might be) (?:having a (?:heart attack|stroke)|overdosing)",
        unless=r"\bnose\b|\bmy heart (?:is|keeps) bleeding",
        negatable=False,
    ),
    _rule(
        "danger.help",
        _DANGER,
        _ACUTE,
        r"\b(?:my life is in danger|i(?:'m| am) in danger\b(?! of (?:failing|losing|missing"
        r"|becoming|being late|getting|falling|running|forgetting|sounding))"
        r"|help me\b.{0,20}\b(?:he|she"
        r"|they)\b.{0,20}\b(?:kill|hurt|coming)"
        r"|call (?:911|999|112|the police|an ambulance)\b)",
        unless=rf"{_LAUGH}|first aid|\b(?:learned|learnt|class|training|drill)\b",
    ),
)

RULES = (*SELF_HARM, *HARM_TO_OTHERS, *ABUSE, *DANGER)
