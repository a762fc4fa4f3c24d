from django.urls import path

from questionnaires import views

app_name = "questionnaires"

urlpatterns = [
    path("questionnaire/<uuid:response_id>/", views.answer, name="answer"),
    path("questionnaire/<uuid:response_id>/save/", views.save, name="save"),
    path("questionnaire/returned/", views.returned, name="returned"),
]
