"""A loopback provider with DashScope's and OpenAI's wire formats and every fault on order."""

from tests.standin.script import Answer, Fault, ScriptedCall
from tests.standin.server import RecordedRequest, StandIn

__all__ = ["Answer", "Fault", "RecordedRequest", "ScriptedCall", "StandIn"]
