from django.urls import path

from chat import views

app_name = "chat"

urlpatterns = [
    path("chat/<uuid:session_id>/", views.conversation, name="conversation"),
    path("chat/<uuid:session_id>/writing/", views.writing, name="writing"),
]
