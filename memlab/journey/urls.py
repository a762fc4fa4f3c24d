from django.urls import path

from memlab.journey import views

app_name = "journey"

urlpatterns = [
    path("", views.front, name="front"),
    path("join/<str:token>/", views.join, name="join"),
    path("journey/", views.home, name="home"),
    path("journey/consent/", views.consent, name="consent"),
    path("journey/skip/", views.skip, name="skip"),
    path("journey/stage/<slug:key>/", views.stage, name="stage"),
    path("journey/after/<uuid:session_id>/", views.after, name="after"),
]
