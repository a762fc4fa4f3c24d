"""Pages of participants that need everything."""

from django.urls import path

from memlab.research import my_data

app_name = "research"

urlpatterns = [path("journey/my-data/", my_data.my_data, name="my_data")]
