/**
 * Between SurveyJS's questions and our items: a matrix is one question and several items.
 *
 * Everywhere else in these modules answers are a plain object from an item's code to its answer.
 */

const isMatrix = (question) => question.getType() === "matrix";

/** The items of a question, shown or not. */
const codesOf = (question) =>
  isMatrix(question) ? question.rows.map((row) => row.value) : [question.name];

/** The answers given so far to the questions of `holder`: a survey, or one of its pages. */
export function answersOf(holder) {
  const answers = {};
  for (const question of questionsOf(holder)) {
    if (!question.isVisible || question.isEmpty()) continue;
    if (isMatrix(question)) Object.assign(answers, question.value);
    else answers[question.name] = question.value;
  }
  return answers;
}

/** Fill a survey with answers. */
export function fill(survey, answers) {
  const values = {};
  for (const question of survey.getAllQuestions()) {
    const given = codesOf(question).filter((code) => code in answers);
    if (given.length === 0) continue;
    values[question.name] = isMatrix(question)
      ? Object.fromEntries(given.map((code) => [code, answers[code]]))
      : answers[question.name];
  }
  survey.data = values;
}

/** Show the server's objections at their questions; the first one gets the focus. */
export function objectTo(survey, errors, newError) {
  let first = null;
  for (const question of survey.getAllQuestions()) {
    for (const code of codesOf(question).filter((each) => each in errors)) {
      const row = isMatrix(question) && question.rows.find((each) => each.value === code);
      question.addError(newError(row ? `${row.text}: ${errors[code]}` : errors[code]));
      first ??= question;
    }
  }
  if (first) {
    survey.currentPage = first.page;
    first.focus(true);
  }
  return first !== null;
}

export const questionsOf = (holder) =>
  "getAllQuestions" in holder ? holder.getAllQuestions() : holder.questions;
