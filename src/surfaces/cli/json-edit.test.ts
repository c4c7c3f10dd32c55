// Edits of other programs' settings: the value is there afterwards, and every byte that was there before still is.
import fc from "fast-check";
import { parse } from "jsonc-parser";
import { describe, expect, test } from "vitest";
import { fuzz } from "../../../test/support/fuzz.js";
import { addJson, NotEditable, removeJson } from "./json-edit.js";

const launch = { command: "hansard", args: ["mcp"] };
const path = ["mcpServers", "hansard"];

describe("an edit keeps", () => {
  const crlf =
    '{\r\n\t"id": 12345678901234567890,\r\n\t"mcpServers": {\r\n\t\t"other": { "command": "x" }\r\n\t}\r\n}\r\n';
  const commented = '{\n  // mine\n  "mcpServers": {}, /* and this */\n  "n": 1.0e3,\n}\n';
  const minified = '{"big":9007199254740993,"mcpServers":{"other":{"a":[]}},"last":1}';

  test.each([
    ["line breaks of Windows, tabs and large numbers", crlf],
    ["comments, trailing commas and forms of numbers", commented],
    ["a file on one line", minified],
    ["a byte order mark", `\ufeff${minified}`],
    ["an object without members", "{}\n"],
    ["an object without members on two lines", "{\n}\n"],
  ])("%s", (_, text) => {
    const added = addJson(text, path, launch);
    expect(parse(added.replace(/^\ufeff/, "")).mcpServers.hansard).toEqual(launch);
    // What was there is there, in order, with something new in one place.
    let head = 0;
    while (head < text.length && text[head] === added[head]) head += 1;
    const rest = text.slice(head).trim();
    expect(added.trimEnd().endsWith(rest.trimStart())).toBe(true);
    if (text.includes("\r\n")) expect(added.replaceAll("\r\n", "")).not.toContain("\n");
  });

  test("what it does not understand as it is", () => {
    for (const text of [
      '{"mcpServers":"none"}',
      '{"mcpServers":{},"mcpServers":{}}',
      "[]",
      "{",
      "{'a':1}",
      '{"a":1}{}',
    ]) {
      expect(() => addJson(text, path, launch), text).toThrow(NotEditable);
    }
  });
});

test("what was added and removed again leaves the file as it was", () => {
  const key = fc.string({ minLength: 1, maxLength: 5 }).filter((name) => name !== "__proto__");
  const settings = fc.dictionary(key, fc.jsonValue({ maxDepth: 2 }), { minKeys: 1 });
  const indent = fc.constantFrom<string | undefined>(undefined, "  ", "    ", "\t");
  fc.assert(
    fc.property(settings, indent, fc.boolean(), (given, unit, isCrlf) => {
      const lines = JSON.stringify({ ...given, hooks: { Stop: [1] } }, null, unit);
      const text = isCrlf ? lines.replaceAll("\n", "\r\n") : lines;
      const inList = addJson(text, ["hooks", "Stop"], launch);
      expect(JSON.parse(inList).hooks).toEqual({ Stop: [1, launch] });
      expect(removeJson(inList, ["hooks", "Stop", 1])).toBe(text);
      const asMember = addJson(text, ["hooks", "Start"], [launch]);
      expect(JSON.parse(asMember)).toEqual({ ...JSON.parse(text), hooks: { Stop: [1], Start: [launch] } });
      expect(removeJson(asMember, ["hooks", "Start"])).toBe(text);
    }),
    fuzz(200),
  );
});
