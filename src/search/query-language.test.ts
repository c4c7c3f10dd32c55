// What a person types, and what it means: filters are few, and everything else is text.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fuzz } from "../../test/support/fuzz.js";
import { parseQueryText } from "./search-query.js";

function terms(text: string): readonly string[] {
  return parseQueryText(text).terms;
}

test.each([
  ["one two", ["one", "two"]],
  ["  one\ttwo\n three\u3000four ", ["one", "two", "three", "four"]],
  ['"a phrase" word', ["a phrase", "word"]],
  ['"  spaces  kept "', ["  spaces  kept "]],
  ['"runs to the end -x role:user', ["runs to the end -x role:user"]],
  ['word "', ["word"]],
  ['""', []],
  ['"a""b"c', ["a", "b", "c"]],
  ['5" of rain', ['5"', "of", "rain"]],
  ["-", ["-"]],
  ["a - b", ["a", "-", "b"]],
  ["foo:bar http://x:80/", ["foo:bar", "http://x:80/"]],
  ['"role:user"', ["role:user"]],
  ["Role:user kinds:error", ["Role:user", "kinds:error"]],
  ["role: user", ["role:", "user"]],
  ["kind:", ["kind:"]],
  ["a AND b OR NOT c NEAR(d) * (e) ^f g* {h}", [..."a AND b OR NOT c NEAR(d) * (e) ^f g* {h}".split(" ")]],
  ["日本 語", ["日本", "語"]],
  ["🙂 \ud800", ["🙂", "\ud800"]],
  ["", []],
])("%j looks for %j", (text, expected) => {
  const { terms, excluded, filters } = parseQueryText(text);
  expect({ terms, excluded, filters }).toEqual({ terms: expected, excluded: [], filters: [] });
});

test.each([
  ["-word", ["word"]],
  ['-"a phrase"', ["a phrase"]],
  ['-"runs on', ["runs on"]],
  ["--json", ["-json"]],
  ["-kind:error", ["kind:error"]],
  ['-""', []],
])("%j excludes %j", (text, expected) => {
  expect(parseQueryText(text)).toEqual({ terms: [], excluded: expected, filters: [] });
});

describe("filters", () => {
  test.each([
    ["Role:user", "role"],
    ["a kin:error rol:user", "kind"],
    ["sesion_id:x", "session_id"],
    ["use:anna", "user"],
    ["kinds:error", "kind"],
  ])("one letter away are named: %j", (text, name) => {
    expect(parseQueryText(text).near?.name).toBe(name);
  });

  test.each([
    "foo:bar",
    "kind:",
    "kin:",
    '"kin:error"',
    "-kin:error",
    "kind:error",
    "knid:error",
    `${"k".repeat(9_000)}:a`,
  ])("further away, quoted or excluded are text without a notice: %j", (text) => {
    expect(parseQueryText(text).near).toBeUndefined();
  });

  test("are taken out wherever they stand", () => {
    const { terms: found, filters } = parseQueryText("role:user kind:error since:7d timeout project:a");
    expect(found).toEqual(["timeout"]);
    expect(filters.map(({ name, value }) => `${name}=${value}`)).toEqual([
      ...["role=user", "kind=error", "since=7d", "project=a"],
    ]);
  });

  test("say where they stand, counted from 1", () => {
    expect(parseQueryText("x  kind:boo y").filters).toEqual([{ name: "kind", value: "boo", word: "kind:boo", at: 4 }]);
    expect(parseQueryText("🙂 kind:boo").filters).toMatchObject([{ at: 3 }]);
  });

  test.each([
    ['session_id:"with space" x', "with space"],
    ["session_id:a:b/c", "a:b/c"],
    ["session_id:-", "-"],
    ['session_id:"unbalanced to the end', "unbalanced to the end"],
    ['session_id:""', ""],
    ['session_id:a"b', 'a"b'],
  ])("%j has the value %j", (text, value) => {
    expect(parseQueryText(text).filters[0]).toMatchObject({ name: "session_id", value });
  });
});

test("whatever is typed is understood, and quoting a text finds just that text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
      parseQueryText(text);
      const phrase = text.replaceAll('"', "");
      expect(terms(`"${phrase}"`)).toEqual(phrase === "" ? [] : [phrase]);
    }),
    fuzz(1_000),
  );
});
