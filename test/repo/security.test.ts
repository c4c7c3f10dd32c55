// docs/SECURITY.md says what the program does: its tables are the program's own.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { scopes } from "../../src/guard/scopes.js";
import { limits } from "../../src/model/limits.js";
import { statusByFault, statusByRejection } from "../../src/surfaces/http/checks/errors.js";
import { defaultLimits } from "../../src/surfaces/http/checks/limits.js";
import { registeredNeeds } from "../support/registered-needs.js";

const text = readFileSync(join(repositoryRoot, "docs", "SECURITY.md"), "utf8");

/** The rows of the table with this head, cell by cell. */
function tableOf(head: string): readonly (readonly string[])[] {
  const lines = text
    .slice(text.indexOf(`${head}\n`))
    .split("\n")
    .slice(2);
  const end = lines.findIndex((line) => !line.startsWith("|"));
  return lines.slice(0, end).map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim().replace(/^`(.*)`$/, "$1")),
  );
}

test("the table of calls, and the table of scopes, have the routes that a server registers, and no others", async () => {
  const rows = tableOf("| call | needs |").map(([call = "", need]) => [call.replaceAll("{id}", ":id"), need]);
  const routes = await registeredNeeds();
  expect(Object.keys(routes).length).toBeGreaterThan(40);
  expect(Object.fromEntries(rows)).toEqual(routes);
});

test("every scope is explained", () => {
  expect(tableOf("| scope | allows |").map(([scope]) => scope)).toEqual([...scopes]);
});

test("the limits are those that hold", () => {
  const { entry_bytes, request_bytes, nesting_levels, entry_values, request_values } = limits;
  const ofEntries = { entry_bytes, request_bytes, nesting_levels, entry_values, request_values };
  const rows = tableOf("| limit | value | beyond it |").map(([name, value]) => [name, Number(value)]);
  expect(Object.fromEntries(rows)).toEqual({ ...ofEntries, ...defaultLimits });
});

test("the statuses named with codes are theirs", () => {
  const known: { readonly [code: string]: number } = { ...statusByRejection, ...statusByFault };
  const named = [...text.matchAll(/\b([45]\d\d) (?:\()?`([a-z_]+)`/g)];
  expect(named.length).toBeGreaterThan(10);
  for (const [, status, code = ""] of named) expect([code, known[code]]).toEqual([code, Number(status)]);
});
