"""The chat's one socket."""

from django.urls import path

from chat.consumers import ChatConsumer

websocket_urlpatterns = [path("ws/chat/<uuid:session>/", ChatConsumer.as_asgi())]
