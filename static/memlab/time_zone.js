// The browser's time zone for windows and reminders; without it the study's own is taken.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
for (const field of document.querySelectorAll("[data-time-zone]")) field.value = zone ?? "";
