"""Puts the labs' back office in the place of Django's default admin site."""

from django.contrib.admin.apps import AdminConfig


class BackOfficeConfig(AdminConfig):
    default_site = "memlab.admin_site.BackOffice"
