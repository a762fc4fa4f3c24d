// Choosing a preset on an arm's page fills in its values; the server does the same without this.
const presets = JSON.parse(document.getElementById("ml-presets").textContent);
const select = document.querySelector("[data-presets]");

function fill(values) {
  for (const [name, value] of Object.entries(values)) {
    const field = document.querySelector(`[name="parameter_${name}"]`);
    if (!field) continue;
    if (field.type === "checkbox") field.checked = Boolean(value);
    else field.value = value;
  }
}

select?.addEventListener("change", () => fill(presets[select.value] ?? {}));
