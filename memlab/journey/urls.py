from django.urls import path

from memlab.journey import correspondence, ending, home, safety, stopping, views, visit, withdrawal
from memlab.journey.entry import contact, documents, join, returning

app_name = "journey"

urlpatterns = [
    path("", views.front, name="front"),
    path("join/<str:token>/", join.join, name="join"),
    path("return/", returning.come_back, name="return"),
    path("journey/forget/", returning.forget_browser, name="forget"),
    path("journey/age/", documents.age, name="age"),
    path("journey/information/", documents.information, name="information"),
    path("journey/consent/", documents.consent, name="consent"),
    path("journey/contact/", contact.contact, name="contact"),
    path("journey/code/", contact.code, name="code"),
    path("journey/", home.home, name="home"),
    path("reminders/stop/<str:token>/", stopping.stop_reminders, name="stop_reminders"),
    path("journey/onward/", visit.onward, name="onward"),
    path("journey/end/", ending.end, name="end"),
    path("journey/skip/", home.skip, name="skip"),
    path("journey/stage/<slug:key>/", visit.stage, name="stage"),
    path("journey/after/<uuid:session_id>/", visit.after, name="after"),
    path("journey/done/<slug:key>/", visit.done, name="done"),
    path("journey/paused/", safety.paused, name="paused"),
    path("journey/debriefing/", ending.read_debriefing, name="debriefing"),
    path("journey/messages/", correspondence.messages, name="messages"),
    path("journey/withdraw/", withdrawal.withdraw, name="withdraw"),
    path("journey/withdrawn/", withdrawal.withdrawn, name="withdrawn"),
]
