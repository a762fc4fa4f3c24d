"""The web process: HTTP by Django, sockets by Channels, and a loop of our own.

The loop looks after replies whose maker died and sessions whose time has come. Django refuses
ASGI's lifespan events, so they are handled here.
"""

import asyncio
import gc
import os
import sys
import warnings
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memlab.settings.development")
http = get_asgi_application()  # before anything that needs the apps

# WhiteNoise hands out files by synchronous iterators: they are small, and cached by browsers.
warnings.filterwarnings(
    "ignore", message="StreamingHttpResponse must consume synchronous iterators"
)

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.sessions import CookieMiddleware  # noqa: E402

from chat.makers import makers  # noqa: E402
from chat.routing import websocket_urlpatterns  # noqa: E402

# Database threads and the loop share one interpreter. A thread that comes back from the database
# waits this long (in seconds) for its turn, some forty times a turn of a conversation: at Python's
# 5 ms a first token took five times as long with a hundred chats under way (docs/performance.md).
sys.setswitchinterval(0.001)

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

routed = ProtocolTypeRouter(
    {"http": http, "websocket": CookieMiddleware(URLRouter(websocket_urlpatterns))}
)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
    else:
        await routed(scope, receive, send)


async def lifespan(receive: Receive, send: Send) -> None:
    """Start the watch with the process and stop it with the process."""
    await receive()
    # What is loaded by now stays. A full collection that walks it stops every chat for 0.1 s.
    gc.collect()
    gc.freeze()
    watching = asyncio.create_task(makers().watch())
    await send({"type": "lifespan.startup.complete"})
    await receive()
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    await makers().aclose()
    await send({"type": "lifespan.shutdown.complete"})
