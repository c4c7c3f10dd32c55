// Filters and other parameters over HTTP: what a route documents is what it reads, and what it refuses is documented.

import { beforeAll, describe, expect, test } from "vitest";
import { itemAt } from "../../src/model/item-at.js";
import { type AskedName, askedNames, inputOf } from "../support/asked.js";
import { badValues, filterValues } from "../support/filter-values.js";
import { serverOfFile } from "./http-client.js";

const server = serverOfFile();

/** The route of each question that has one, what else it needs to be asked at all, and which parameter takes any text. */
const routeOf: {
  readonly [Q in Exclude<
    AskedName,
    "sessionHistory" | "getSession" | "getOutline" | "getTree" | "getMemory" | "getInteraction" | "count" | "verify"
  >]: {
    path: string;
    needs?: string;
    takes_any?: string;
  };
} = {
  listInteractions: { path: "/interactions" },
  listEntries: { path: "/entries" },
  listSessions: { path: "/sessions" },
  listSessionEntries: { path: "/sessions/{id}/entries" },
  getHistory: { path: "/sessions/{id}/history" },
  getEntry: { path: "/entries/{id}" },
  context: { path: "/entries/{id}/context" },
  told: { path: "/entries/{id}/told", takes_any: "q" },
  search: { path: "/search", needs: "q=word" },
  reflect: { path: "/reflection" },
  usage: { path: "/usage" },
  files: { path: "/files" },
  tail: { path: "/tail" },
  export: { path: "/export" },
  listMemories: { path: "/memories" },
  recall: { path: "/recall", takes_any: "q" },
};

interface Documented {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: { readonly [status: string]: { readonly description: string } };
}

let paths: { readonly [path: string]: { readonly [method: string]: Documented } } = {};

beforeAll(async () => {
  paths = (await server().get("/openapi.json")).body.paths;
});

function documented(path: string): Documented {
  return paths[path]?.get as Documented;
}

function codesOf(path: string): readonly string[] {
  return [...(documented(path).responses["400"]?.description ?? "").matchAll(/`(\w+)`/g)].map(([, code]) => `${code}`);
}

function addressOf(path: string, query: string): string {
  return `${path.replace("{id}", "s")}?${query}`;
}

const questions = Object.keys(routeOf) as readonly (keyof typeof routeOf)[];

test("every question with a route is asked here", () => {
  const routed = askedNames.filter((name) => name !== "sessionHistory");
  expect(questions.toSorted()).toEqual(routed.toSorted());
});

describe.each(questions)("%s", (question) => {
  const { path, needs, takes_any } = routeOf[question];

  test("documents the parameters that the route reads, and no others", async () => {
    const names = (documented(path).parameters ?? []).filter((one) => one.in === "query").map(({ name }) => name);
    expect(names).toEqual(inputOf(question).map(({ name }) => name));
    const { status, body } = await server().get(addressOf(path, "misspelt=x"));
    expect([status, body.error.code]).toEqual([400, "parameter_unknown"]);
    expect(body.error.hint).toBe(`Parameters are ${names.join(", ")}.`);
  });

  test("refuses a bad value of each parameter by its name, with a code that is documented", async () => {
    const bad = { ...badValues, ...mapValues(filterValues, ({ bad: texts }) => texts) };
    for (const { name, refusals } of inputOf(question).filter((one) => one.name !== takes_any)) {
      const companion = needs === undefined || needs.startsWith(`${name}=`) ? "" : `&${needs}`;
      for (const value of bad[name as keyof typeof bad]) {
        const query = `${name}=${encodeURIComponent(value)}${companion}`;
        const { status, body } = await server().get(addressOf(path, query));
        expect([query, status, body?.error.field]).toEqual([query, 400, name]);
        expect(refusals, query).toContain(body.error.code);
        expect(codesOf(path), query).toContain(body.error.code);
      }
    }
  });

  test("documents what a query that cannot be read is refused with", async () => {
    const [first] = inputOf(question);
    for (const query of [`${first?.name}=%ff`, `${first?.name}=1&${first?.name}=1`, "misspelt=x"]) {
      const { status, body } = await server().get(addressOf(path, query));
      expect([query, status]).toEqual([query, 400]);
      expect(codesOf(path), query).toContain(body.error.code);
    }
  });
});

test("every other call that reads documents that it takes no parameters", async () => {
  const known = new Set(Object.values(routeOf).map(({ path }) => path));
  const others = Object.keys(paths).filter((path) => documented(path) !== undefined && !known.has(path));
  expect(others.length).toBeGreaterThan(0);
  for (const path of others) {
    const { status, body } = await server().get(addressOf(path, "misspelt=x"));
    expect([path, status, body.error.code]).toEqual([path, 400, "parameter_unknown"]);
    expect(codesOf(path), path).toContain("parameter_unknown");
  }
});

describe("a switch", () => {
  const pending = { id: "call", type: "function", function: { name: "run", arguments: "{}" } };

  beforeAll(async () => {
    await server().post("/entries", [
      { kind: "message", session_id: "switched", role: "user", content: "word" },
      { kind: "message", session_id: "switched", role: "assistant", content: null, tool_calls: [pending] },
    ]);
  });

  /** Each switch: where it is given, and what shows that it is on. */
  const switches: readonly (readonly [name: string, address: string, isOn: (text: string) => boolean])[] = [
    ["facets", "/search?q=word", (text) => "facets" in JSON.parse(text)],
    ["masked", "/export?session_id=switched", (text) => JSON.parse(itemAt(text.split("\n"), 0)).masked === true],
    ["include_pending", "/sessions/switched/history?max_messages=9", (text) => JSON.parse(text).messages.length === 2],
  ];

  test.each(switches)("%s is on, off or refused by the same words as the others", async (name, address, isOn) => {
    expect(isOn((await server().get(address)).text)).toBe(false);
    for (const [words, expected] of [
      [["=true", "=1"], true],
      [["=false", "=0", "=", ""], false],
    ] as const) {
      for (const word of words) {
        const { status, text } = await server().get(`${address}&${name}${word}`);
        expect([word, status, isOn(text)]).toEqual([word, 200, expected]);
      }
    }
    for (const word of ["yes", "True", "2", "-", "on", "null"]) {
      const { status, body } = await server().get(`${address}&${name}=${word}`);
      expect([word, status]).toEqual([word, 400]);
      expect(body.error).toMatchObject({
        code: "field_invalid",
        field: name,
        message: `${name} must be true or false`,
      });
    }
  });
});

function mapValues<K extends string, V, W>(table: { readonly [N in K]: V }, map: (value: V) => W): { [N in K]: W } {
  return Object.fromEntries(Object.entries<V>(table).map(([name, value]) => [name, map(value)])) as { [N in K]: W };
}
