/** The crisis card: shown outside of the conversation, put away and brought back by the participant. */

export class CrisisCard {
  /** Keeps in `storage` what was put away, so that a reload doesn't bring it back by itself. */
  constructor(root, texts, storage) {
    Object.assign(this, { texts, storage });
    this.card = root.querySelector("#crisis-card");
    this.opener = root.querySelector("#crisis-open");
    this.announcer = root.querySelector("#crisis-announcer");
    this.shown = "";
    this.card.querySelector("#crisis-close").addEventListener("click", () => this.#putAway());
    this.opener.addEventListener("click", () => this.#open({ focus: true }));
  }

  /** Show what `card` says; the same card again changes nothing. */
  render(card) {
    if (card === null) return;
    const content = JSON.stringify(card);
    if (content === this.shown) return;
    const isNew = card.times > this.storage.readPutAway();
    this.shown = content;
    this.times = card.times;
    this.#fill(card);
    if (isNew) {
      this.#open({ focus: false });
      this.announcer.textContent = `${card.title}. ${card.lines.join(" ")}`;
    } else if (this.card.hidden) {
      this.opener.hidden = false;
    }
  }

  #fill({ title, lines, hotlines, contact }) {
    this.card.querySelector("#crisis-title").textContent = title;
    const [first, ...others] = lines;
    this.card.querySelector("#crisis-first").textContent = first ?? "";
    this.card.querySelector("#crisis-others").replaceChildren(...others.map(paragraph));
    this.card.querySelector("#crisis-hotlines").replaceChildren(...hotlines.map(hotline));
    const person = this.card.querySelector("#crisis-contact");
    person.textContent = contact === "" ? "" : `${this.texts.contact} ${contact}`;
    person.hidden = contact === "";
  }

  /** The focus stays where somebody writes, unless they asked for the card. */
  #open({ focus }) {
    this.card.hidden = false;
    this.card.scrollTop = 0;
    this.opener.hidden = true;
    if (focus) this.card.focus();
  }

  #putAway() {
    this.card.hidden = true;
    this.opener.hidden = false;
    this.storage.writePutAway(this.times);
    this.opener.focus();
  }
}

function paragraph(text) {
  const line = document.createElement("p");
  line.textContent = text;
  return line;
}

function hotline({ name, number, tel, when }) {
  const item = document.createElement("li");
  const title = document.createElement("span");
  title.className = "hotlines__name";
  title.textContent = name;
  const call = document.createElement(tel === "" ? "span" : "a");
  call.className = "hotlines__number";
  call.textContent = number;
  if (tel !== "") call.href = tel;
  item.append(title, call);
  if (when !== "") {
    const hours = document.createElement("span");
    hours.className = "hotlines__when";
    hours.textContent = when;
    item.append(hours);
  }
  return item;
}
