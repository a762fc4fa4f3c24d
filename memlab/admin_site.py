"""The back office: one admin site in which every view runs inside the active lab."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, cast
from zoneinfo import ZoneInfo

from csp.decorators import csp_update
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.sites import UnfoldAdminSite

from experiments.back_office import Menu, TenantModelAdmin
from experiments.enums import AuditAction
from experiments.middleware import memberships_of, switch_lab
from experiments.models import AuditEntry, Lab, LabDirectory, User
from experiments.rights import Area, blind_again, viewer_of
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.research.dashboard import enrolment, needs

View = Callable[..., HttpResponseBase]

#: Views that a member of staff reaches before a lab is chosen.
WITHOUT_LAB = frozenset(
    {"logout", "password_change", "password_change_done", "i18n_javascript", "choose_lab"}
)
MENUS = {
    Menu.STUDIES: _("Studies"),
    Menu.PEOPLE: _("Participants"),
    Menu.EVIDENCE: _("Unblinded"),
    Menu.LAB: _("Lab"),
    Menu.WORK: _("Background work"),
}
# Alpine evaluates expressions, and Unfold writes its colours into the page. On this path only.
relaxed = csp_update({"script-src": ["'unsafe-eval'"], "style-src": ["'unsafe-inline'"]})


class BackOffice(UnfoldAdminSite):
    """Runs each view inside its lab's scope, and shows nothing that is no lab's own."""

    site_header = "Memlab"
    index_title = _("Today")
    enable_nav_sidebar = True

    def register(
        self,
        model_or_iterable: type[Model] | Iterable[type[Model]],
        admin_class: Any = None,
        **options: Any,
    ) -> None:
        """Take tenant-scoped pages only: the tables of installed packages know no lab.

        ``options``, with which others adapt a class on the fly, belong to none of ours.
        """
        if admin_class is not None and issubclass(admin_class, TenantModelAdmin):
            super().register(model_or_iterable, admin_class)

    def admin_view(self, view: View, cacheable: bool = False) -> View:
        return relaxed(super().admin_view(_inside_lab(view), cacheable))

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        answer = super().login(request, extra_context)
        return cast(HttpResponse, relaxed(lambda _request: answer)(request))

    def get_urls(self) -> list[URLPattern]:
        own = [
            path("lab/", self.admin_view(self.choose_lab), name="choose_lab"),
            path("blind/", self.admin_view(self.blind), name="blind"),
        ]
        return own + super().get_urls()

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        viewer = viewer_of(request)
        assert viewer is not None
        lab_id = viewer.member.lab_id
        context = {
            **self.each_context(request),
            "title": self.index_title,
            "needs": needs(lab_id=lab_id, sees_work=viewer.may(Area.WORK), wall=wall_now()),
            "studies": enrolment(lab_id=lab_id),
            "may_add_study": viewer.may(Area.DESIGN),
        }
        return TemplateResponse(request, "back_office/home.html", context)

    def search(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """None: Unfold's palette caches by user, across labs. Lists have searches of their own."""
        raise Http404

    def choose_lab(self, request: HttpRequest) -> HttpResponseBase:
        """Which lab to work in, from the memberships; operators may name any other by its id."""
        if request.method == "POST":
            wanted = request.POST.get("lab", "")
            if not wanted.isdecimal() or not switch_lab(request, int(wanted)):
                raise Http404
            return redirect("admin:index")
        viewer = viewer_of(request)
        own = [(member, _lab_name(member.lab_id)) for member in memberships_of(_staff(request))]
        mine = {member.lab_id for member, _name in own}
        others = (
            LabDirectory.objects.exclude(pk__in=mine).values_list("pk", flat=True)
            if _staff(request).is_operator
            else []
        )
        context = {
            **self.each_context(request),
            "title": _now("Choose a lab"),
            "memberships": own,
            "others": list(others),
            "active_lab": None if viewer is None else viewer.member.lab_id,
        }
        return render(request, "back_office/choose_lab.html", context)

    def blind(self, request: HttpRequest) -> HttpResponseBase:
        """Undo every unblinding of this login session."""
        if request.method != "POST":
            raise Http404
        blind_again(request)
        AuditEntry.objects.record(AuditAction.BLIND_AGAIN, user_id=request.user.pk)
        return redirect("admin:index")

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        context = super().each_context(request)
        lab: Lab | None = getattr(request, "lab", None)
        viewer = viewer_of(request)
        if lab is not None and viewer is not None:
            context |= {
                "site_header": lab.name,
                "site_subheader": f"{viewer.member.get_role_display()} · Memlab",
            }
        several = viewer is not None and (
            _staff(request).is_operator or len(memberships_of(_staff(request))) > 1
        )
        context["account_links"] = [
            *([{"title": _("Switch lab"), "link": reverse("admin:choose_lab")}] if several else []),
            {"title": _("Change password"), "link": reverse("admin:password_change")},
        ]
        context["unblinded"] = viewer is not None and viewer.unblinded_to_any
        context["site_url"] = None
        return context

    def get_sidebar_list(self, request: HttpRequest) -> list[dict[str, Any]]:
        """The side menu, from what is registered and what the role may see."""
        home = {"title": _("Today"), "icon": "home", "link": reverse("admin:index")}
        groups = [{"title": None, "items": [home]}] + [
            {"title": title, "items": self._menu_items(request, menu)}
            for menu, title in MENUS.items()
        ]
        for group in groups:
            for item in cast(list[dict[str, Any]], group["items"]):
                item["active"] = self._get_is_active(request, str(item["link"]))
                item["has_permission"] = True
        return groups

    def _menu_items(self, request: HttpRequest, menu: Menu) -> list[dict[str, Any]]:
        pages = [
            page
            for page in self._registry.values()
            if isinstance(page, TenantModelAdmin)
            and page.menu is menu
            and page.has_module_permission(request)
        ]
        return [
            {
                "title": page.menu_title or str(page.opts.verbose_name_plural).capitalize(),
                "icon": page.icon,
                "link": page.list_url(),
            }
            for page in sorted(pages, key=lambda page: page.menu_position)
        ]


def _staff(request: HttpRequest) -> User:
    """Whoever is signed in; the site lets nobody else in."""
    assert request.user.is_authenticated
    return request.user


def _inside_lab(view: View) -> View:
    """Run a view inside its lab: the answer is rendered before the scope closes, an exception
    rolls everything back, and what the role may not do isn't there."""

    @wraps(view)
    def inside(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        lab_id: int | None = request.lab_id  # type: ignore[attr-defined]
        if lab_id is None:
            if getattr(view, "__name__", "") in WITHOUT_LAB:
                return _rendered(view(request, *args, **kwargs))
            return redirect("admin:choose_lab")
        with lab_scope(lab_id):
            lab = Lab.objects.get(pk=lab_id)
            request.lab = lab  # type: ignore[attr-defined]
            with timezone.override(ZoneInfo(lab.time_zone)):
                try:
                    return _rendered(view(request, *args, **kwargs))
                except PermissionDenied:
                    raise Http404 from None

    return inside


def _rendered(response: HttpResponseBase) -> HttpResponseBase:
    return response.render() if isinstance(response, TemplateResponse) else response


def _lab_name(lab_id: int) -> str:
    with lab_scope(lab_id):
        return Lab.objects.get(pk=lab_id).name
