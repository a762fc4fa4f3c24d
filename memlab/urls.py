"""Where every address leads."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from memlab.health import health

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("memlab.journey.urls")),
    path("", include("questionnaires.urls")),
    path("", include("memlab.research.urls")),
    path("", include("chat.urls")),
    path("admin/", admin.site.urls),
    path("health/", health, name="health"),
    path("i18n/", include("django.conf.urls.i18n")),
]
