"""The fields of a study's page: title, fields and description of each part, in order."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

Part = tuple[Any, list[str | tuple[str, ...]], Any]

#: What everybody sees who may see studies.
GENERAL: tuple[Part, ...] = (
    (
        _("General"),
        [
            "title",
            ("status", "language"),
            ("time_zone", "public_id"),
            ("target_size", "preregistration_url"),
        ],
        None,
    ),
    (
        _("Texts"),
        ["assistant_name", "persona", "information", "consent"],
        _("The same in all arms."),
    ),
    (
        _("Debriefing and payment"),
        [
            "debriefing",
            "debriefing_hold",
            "debriefing_after",
            "debriefing_consent",
            "currency",
        ],
        _("What is paid stands with each stage."),
    ),
    (
        _("Reminders"),
        ["reminder_channel", "webhook_url"],
        _("When, stands with each stage. The webhook's secret is made by a button above."),
    ),
    (
        _("Safety"),
        [
            ("safety_contact_name", "safety_contact_email"),
            "hotlines",
            ("risk_asks_model", "risk_pauses"),
        ],
        _("Without a contact and a hotline the study doesn't open."),
    ),
)
#: What belongs to the design of the experiment: relevance, keys and blocks among it.
DESIGN: tuple[Part, ...] = (
    (
        _("Models"),
        [
            ("talking_provider", "talking_model"),
            ("talking_key", "talking_calls_tools"),
            ("fallback_provider", "fallback_model"),
            "fallback_key",
            ("extraction_provider", "extraction_model"),
            "extraction_key",
            ("embedding_provider", "embedding_model"),
            "embedding_key",
            "sampling",
            "context_tokens",
        ],
        None,
    ),
    (
        _("Shared factors"),
        [
            ("within_session", "within_session_turns"),
            "instruction",
            "provenance_in_prompt",
            "relevance",
            ("pacing", "pacing_first_token_ms", "pacing_tokens_per_second"),
        ],
        _("What all arms have in common, so that they differ in memory and nothing else."),
    ),
    (
        _("Entry"),
        [
            ("minimum_age", "excludes_earlier"),
            "sensitive_consent",
            "abroad_consent",
            "telemetry_consent",
            ("asks_email", "passwords"),
            "screen_out",
        ],
        _("Who may take part, and what they are asked before the first stage."),
    ),
    (
        _("Allocation"),
        [
            ("allocation_time", "allocation_method"),
            ("block_multiples", "minimisation_probability"),
            "strata",
        ],
        _("Concealed, on the server; sealed until the study closes."),
    ),
)
