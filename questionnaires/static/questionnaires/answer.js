/** The questionnaire's page: SurveyJS shows and collects, the server keeps and decides. */

import { answersOf, fill, objectTo } from "./answers.js";
import { Draft } from "./draft.js";
import { post } from "./saving.js";
import { Stopwatch } from "./stopwatch.js";

const { Survey } = window;

class QuestionnairePage {
  constructor(root, config) {
    this.root = root;
    this.config = config;
    this.revision = config.revision;
    this.texts = root.querySelector("#texts").dataset;
    this.token = root.querySelector("[name=csrfmiddlewaretoken]").value;
    this.draft = new Draft(config.response);
    this.stopwatch = new Stopwatch();
    this.busy = false;
  }

  start() {
    this.survey = new Survey.Model(this.config.survey);
    fill(this.survey, this.draft.over(this.config.answers, this.revision));
    this.survey.onValueChanged.add(() => this.keep());
    this.survey.onCurrentPageChanged.add(() => this.drawFrame());
    this.survey.onPageVisibleChanged.add(() => this.drawFrame());
    this.survey.onErrorCustomText.add((_survey, error) => {
      const own = { required: this.texts.required, requiredinallrowserror: this.texts.rows };
      error.text = own[error.name] ?? error.text;
    });
    this.survey.onAfterRenderQuestion.add((_survey, { question, htmlElement }) => {
      const pictures = question.getType() === "imagepicker" ? question.choices : null;
      const points = (pictures ?? question.columns ?? question.rateValues)?.length;
      if (points) htmlElement.style.setProperty("--points", points);
      const bare = question.columns?.some(({ text }) => /^\d+$/.test(text));
      htmlElement.dataset.named = bare ? "ends" : "points";
    });
    this.go(this.config.page);
    this.survey.render(this.root.querySelector("#questionnaire"));
    this.part("buttons").hidden = false;
    this.part("buttons").addEventListener("submit", (event) => {
      event.preventDefault();
      this.save();
    });
    this.part("back").addEventListener("click", () => this.back());
    this.drawFrame();
  }

  part(id) {
    return this.root.querySelector(`#${id}`);
  }

  get page() {
    return this.survey.pages.indexOf(this.survey.currentPage) + 1;
  }

  go(page) {
    this.survey.currentPage = this.survey.pages[page - 1];
    this.stopwatch.restart();
  }

  keep() {
    this.draft.write(answersOf(this.survey), this.revision);
  }

  back() {
    if (this.busy) return;
    this.survey.prevPage();
    this.arrive();
  }

  async save() {
    if (this.busy || !this.survey.currentPage.validate(true, true)) return;
    this.work(true);
    const page = {
      page: this.page,
      revision: this.revision,
      seconds: this.stopwatch.seconds(),
      answers: answersOf(this.survey.currentPage),
    };
    const lost = () => this.warn(this.texts.lost);
    const answer = await post(this.config.save_url, page, this.token, lost);
    this.work(false);
    this.take(answer);
  }

  take({ status, body }) {
    this.hideBanner();
    if (status === 200 && body.onward_url) this.leave(body.onward_url);
    else if (status === 200) this.goOn(body);
    else if (status === 422) this.object(body);
    else if (body?.reload_url) this.warn(body.message, body.reload_url, this.texts.reload);
    else if (body?.onward_url) this.warn(body.message, body.onward_url, this.texts.onward);
    else if (status === 403) this.warn(this.texts.signedOut);
    else this.warn(this.texts.broken, window.location.href, this.texts.reload);
  }

  goOn({ page, revision }) {
    this.revision = revision;
    this.keep();
    this.go(page);
    this.arrive();
  }

  object({ errors }) {
    const newError = (text) => new Survey.CustomError(text, this.survey);
    if (!objectTo(this.survey, errors, newError)) this.warn(Object.values(errors).join(" "));
  }

  leave(url) {
    this.draft.remove();
    this.busy = true;
    window.location.assign(url);
  }

  /** Say where one is now; the focus goes to the top of the new page. */
  arrive() {
    this.drawFrame();
    this.part("progress-text").focus({ preventScroll: true });
    window.scrollTo({ top: 0 });
  }

  drawFrame() {
    const shown = this.survey.visiblePages;
    const number = shown.indexOf(this.survey.currentPage) + 1;
    const page = this.texts.page.replace("{page}", number).replace("{pages}", shown.length);
    const words = [this.texts.questionnaire, shown.length > 1 ? page : ""].filter(Boolean);
    this.part("progress-text").textContent = words.join(" · ");
    this.part("progress").hidden = words.length === 0;
    this.part("progress-bar").value = this.config.before + (number - 1) / shown.length;
    this.part("back").hidden = number <= 1;
    const introduction = this.part("introduction");
    if (introduction) introduction.hidden = number > 1;
  }

  work(busy) {
    this.busy = busy;
    this.part("next").setAttribute("aria-disabled", String(busy));
    this.part("announcer").textContent = busy ? this.texts.saving : "";
  }

  warn(text, url = null, label = "") {
    this.part("banner-text").textContent = text;
    const link = this.part("banner-link");
    link.hidden = url === null;
    link.textContent = label;
    if (url !== null) link.href = url;
    this.part("banner").hidden = false;
    this.part("banner").scrollIntoView({ block: "center" });
  }

  hideBanner() {
    this.part("banner").hidden = true;
  }
}

// One icon, of a timer that we don't show, has a style attribute, which our policy forbids.
for (const [name, icon] of Object.entries(Survey.SvgRegistry.icons)) {
  if (String(icon).includes(" style=")) delete Survey.SvgRegistry.icons[name];
}
// Texts are compared as the server compares them.
Survey.settings.comparator.caseSensitive = true;
Survey.settings.comparator.trimStrings = false;
const config = JSON.parse(document.querySelector("#questionnaire-config").textContent);
new QuestionnairePage(document, config).start();
// A page out of the browser's memory may have been overtaken.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) window.location.reload();
});
