// The table of questions: what surfaces are told about a question is what its parser takes.
import { expect, test } from "vitest";
import { Rejection } from "../model/rejection.js";
import { parseReflectionQuery } from "../reflect/read/reflection-query.js";
import { parseEntryQuery, parseInteractionQuery } from "./lists/list-query.js";
import {
  parametersOf,
  type QuestionName,
  type QuestionRule,
  questionNames,
  questionRules,
  refusalsOf,
} from "./question-rules.js";
import { parseSearchQuery, parseSessionHistory } from "./search-query.js";

/** Questions that answer with so many, each asked without a limit and with far too high a one. */
const limitOf: { readonly [Q in QuestionName]?: (options: object) => unknown } = {
  interactions: (options) => parseInteractionQuery(options, 0),
  entries: (options) => parseEntryQuery(options, 0),
  search: (options) => parseSearchQuery("x", options, 0),
  session_history: (options) => parseSessionHistory({ query: "x", ...options }, 0),
  reflection: (options) => parseReflectionQuery(options, 0),
};

test("every limit that is documented is the one that holds", () => {
  const limited = questionNames.filter((question) => "limit" in questionRules[question]);
  expect(Object.keys(limitOf).toSorted()).toEqual(limited.toSorted());
  for (const question of limited) {
    const { limit }: QuestionRule = questionRules[question];
    const parameter = parametersOf(question).find(({ name }) => name === "limit");
    expect(limitOf[question]?.({})).toMatchObject({ limit: limit?.default });
    expect(limitOf[question]?.({ limit: "1e12" })).toMatchObject({ limit: limit?.max });
    expect(parameter?.schema).toMatchObject({ default: limit?.default });
    expect(parameter?.description).toContain(limit?.max.toLocaleString("en-US"));
    expect(parameter?.flag?.says).toContain(`(${limit?.default})`);
  }
});

test("a parameter is named once in a question, and its refusals are the question's", () => {
  for (const question of questionNames) {
    const parameters = parametersOf(question);
    expect(new Set(parameters.map(({ name }) => name)).size).toBe(parameters.length);
    for (const { description, refusals } of parameters) {
      expect(description).toMatch(/^.+\.$/);
      expect(refusalsOf(question)).toEqual(expect.arrayContaining([...refusals]));
    }
  }
});

test("questions that are asked without a clock take no times", () => {
  expect(questionRules.tail.filters).not.toContain("since");
  expect(questionRules.tail.filters).not.toContain("until");
});

test("what a query keeps of its filters is enough to ask it again", () => {
  const options = { project: "web", since: "7d", role: "timmy", kind: "", client: null };
  const query = parseEntryQuery(options as object, 1e12);
  if (query instanceof Rejection) throw new Error(query.message);
  expect(query.given).toEqual({ project: "web", role: "assistant", since: "7d" });
  expect(parseEntryQuery(query.given, 1e12)).toEqual(query);
  expect(parseReflectionQuery(options as object, 0)).toMatchObject({ given: query.given });
  expect(parseSearchQuery(" x ", options as object, 0)).toMatchObject({ given: { q: "x", ...query.given } });
});
