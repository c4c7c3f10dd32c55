// The documents name every format that is read, and every variable that moves where its files are looked for.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { placeVariables } from "../../src/import/places.js";
import { importFormats } from "../../src/import/registry.js";

function textOf(name: string): string {
  return readFileSync(join(repositoryRoot, "docs", name), "utf8");
}

test.each(["reads", "user messages"])(
  "the table of docs/IMPORTER_GUIDE.md by %s has the formats of the registry, and no other",
  (column) => {
    const [, table = ""] = textOf("IMPORTER_GUIDE.md").split(`\n| format | ${column} |`);
    const cells = [...table.slice(0, table.indexOf("\n\n")).matchAll(/^\| (`[^|]*) \|/gm)].map(([, cell = ""]) => cell);
    const named = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, format]) => format));
    expect(named.sort()).toEqual([...importFormats].sort());
  },
);

test("docs/OPERATIONS.md names every variable that the table of places asks for", () => {
  const variables = placeVariables();
  expect(variables).toEqual(expect.arrayContaining(["CODEX_HOME", "OTEL_LOG_RAW_API_BODIES", "XDG_CONFIG_HOME"]));
  const text = textOf("OPERATIONS.md");
  for (const name of variables) expect(text).toContain(name.startsWith("XDG_") ? "XDG_*" : name);
});
