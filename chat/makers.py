"""The reply makers of one process: one task a session, alive apart from any socket."""

from __future__ import annotations

import asyncio
import logging
from uuid import UUID

from django_q.tasks import async_task

from chat import claims, doorbell, sessions
from chat.claims import Claim
from chat.conversation import Said, SessionRef, over_frame
from chat.generation import make_reply
from experiments.doors import DoorKeeper
from experiments.models import Session
from memlab.core.clock import wall_now
from memlab.core.due import Due, DueKind, handler_of
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit

logger = logging.getLogger(__name__)

LOOK_EVERY = 1.0  # seconds between two looks at the due table
LOOKED_AFTER = (
    DueKind.SESSION,
    DueKind.STEPS,
    DueKind.REPLY,
    DueKind.ALERT,
    DueKind.SCREEN,
)


class Makers:
    """Makes the pending replies of sessions, in order, and looks after what others left behind."""

    def __init__(self, keeper: DoorKeeper | None = None) -> None:
        self.keeper = keeper or DoorKeeper()
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._again: set[UUID] = set()
        self._storing: set[asyncio.Task[Said]] = set()
        self._telling: set[asyncio.Task[None]] = set()
        self._claims: dict[UUID, Claim] = {}  # by reply: begun here, and not yet being made

    async def say(self, reference: SessionRef, *, client_id: UUID, text: str) -> Said:
        """Store a message and see to its reply, even if the socket that brought it goes away
        meanwhile. Raises Refused, NoSuchSession."""
        storing = asyncio.create_task(self._say(reference, client_id, text))
        self._storing.add(storing)
        storing.add_done_callback(self._storing.discard)
        return await asyncio.shield(storing)

    async def _say(self, reference: SessionRef, client_id: UUID, text: str) -> Said:
        said, claim = await unit(
            claims.say, reference, client_id=client_id, text=text, wall=wall_now()
        )
        if claim is not None:
            self._claims[said.reply] = claim
        telling = asyncio.create_task(self._tell_and_start(reference, said))
        self._telling.add(telling)
        telling.add_done_callback(self._telling.discard)
        return said

    async def _tell_and_start(self, reference: SessionRef, said: Said) -> None:
        """Other tabs see the message before they see that its reply is being made."""
        try:
            if not said.repeated:
                frames = (said.message_frame(), *said.followed_by)
                await doorbell.ring(reference.session, *frames)
        finally:
            self.start(reference.lab_id, reference.session, said.reply)

    def start(self, lab_id: int, session: UUID, reply: UUID | None = None) -> None:
        """See to it that the session's pending replies get made; returns at once.

        ``reply`` is the one that was just stored, most likely the next: it saves a look.
        """
        if session in self._tasks:
            self._again.add(session)  # its task looks once more before it ends
            return
        task = asyncio.create_task(
            self._make_all(lab_id, session, reply), name=f"session {session}"
        )
        self._tasks[session] = task
        task.add_done_callback(lambda done: self._ended(lab_id, session, done))

    async def _make_all(self, lab_id: int, session: UUID, likely: UUID | None) -> None:
        others: UUID | None = None
        if likely is not None:
            await self._make(lab_id, likely)
        while True:
            asked_again = session in self._again
            self._again.discard(session)
            reply = await unit(claims.next_pending, lab_id, session)
            if reply is None or (reply == others and not asked_again):
                return
            made = await self._make(lab_id, reply)
            others = None if made else reply  # unless it turns out to be settled: then go on

    async def _make(self, lab_id: int, reply: UUID) -> bool:
        return await make_reply(lab_id, reply, self.keeper, claim=self._claims.pop(reply, None))

    def _ended(self, lab_id: int, session: UUID, task: asyncio.Task[None]) -> None:
        del self._tasks[session]
        if not task.cancelled() and task.exception() is not None:
            # Another attempt is planned already, or the reply's lease runs out.
            logger.error("session %s: making a reply failed", session, exc_info=task.exception())
        elif session in self._again:
            self.start(lab_id, session)

    async def watch(self) -> None:
        """Take over replies whose maker died and close sessions whose time has come, for ever."""
        while True:
            try:
                await self.look()
            except Exception:  # the database may be away for a while; the watch goes on
                logger.exception("looking at the due table failed")
            await asyncio.sleep(LOOK_EVERY)

    async def look(self) -> None:
        """One look at the due table. Maintenance is the minute's tick's: a turn that needs it asks
        for it, and what comes due within a minute is done together."""
        for row in await unit(Due.objects.hand_out, wall=wall_now(), kinds=LOOKED_AFTER):
            try:
                await self._attend(row)
            except Exception:  # it comes back; the rows behind it don't wait for that
                logger.exception("%s %s could not be attended to", row.kind, row.subject)

    async def _attend(self, row: Due) -> None:
        match row.kind:
            case DueKind.SESSION:
                await close_due_session(row.lab_id, row.subject)
            case DueKind.STEPS | DueKind.ALERT | DueKind.SCREEN:
                # The cluster's work; it need not wait for the tick.
                await unit(async_task, handler_of(row.kind), row.lab_id, str(row.subject))
            case DueKind.REPLY:
                session = await unit(claims.session_of, row.lab_id, row.subject)
                if session is not None:
                    self.start(row.lab_id, session)

    async def aclose(self) -> None:
        """Stop everything; pending replies are taken over after their leases."""
        await asyncio.gather(*self._storing, return_exceptions=True)
        await asyncio.gather(*self._telling, return_exceptions=True)
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.keeper.aclose()


async def close_due_session(lab_id: int, session: UUID) -> None:
    """Close a session whose time has come, and tell its tabs."""
    frame = await unit(_close, lab_id, session)
    if frame is not None:
        await doorbell.ring(session, frame)


def _close(lab_id: int, session_id: UUID) -> claims.Frame | None:
    with lab_scope(lab_id):
        if not Session.objects.filter(lab_id=lab_id, pk=session_id).exists():
            Due.objects.settle(lab_id=lab_id, kind=DueKind.SESSION, subject=session_id)
            return None
        sessions.close_if_due(session_id, wall=wall_now())
        return over_frame(Session.objects.get(pk=session_id))


_of_loop: dict[asyncio.AbstractEventLoop, Makers] = {}


def makers(keeper: DoorKeeper | None = None) -> Makers:
    """The makers of the running event loop; whoever asks first may bring the doors."""
    loop = asyncio.get_running_loop()
    if loop not in _of_loop:
        for dead in [each for each in _of_loop if each.is_closed()]:
            del _of_loop[dead]
        _of_loop[loop] = Makers(keeper)
    return _of_loop[loop]
