// A new kind is handled everywhere: the compiler names the places, and docs/reference/entries.md lists every kind.
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { runCommand } from "../../scripts/run-command.mjs";
import type { Kind } from "../../src/model/entry.js";
import { captureKinds, fieldsOf, kindRules, reservedKinds } from "../../src/model/kinds.js";
import { folderOfTest } from "../support/temporary-folder.js";

test("a kind that is only in the table of kinds does not compile where every kind must be handled", async () => {
  const root = folderOfTest();
  cpSync(join(repositoryRoot, "src"), join(root, "src"), {
    recursive: true,
    filter: (file) => !file.endsWith(".test.ts"),
  });
  for (const file of ["package.json", "tsconfig.base.json"]) cpSync(join(repositoryRoot, file), join(root, file));
  // All parts at once: a part is not looked at while one that it imports has errors.
  const together = { composite: false, noEmit: true };
  const settings = { extends: "./tsconfig.base.json", compilerOptions: together, include: ["src/**/*.ts"] };
  writeFileSync(join(root, "tsconfig.json"), JSON.stringify(settings));
  symlinkSync(join(repositoryRoot, "node_modules"), join(root, "node_modules"), "junction");
  const add = (file: string, before: string, row: string): void => {
    const text = readFileSync(join(root, file), "utf8");
    expect(text).toContain(before);
    writeFileSync(join(root, file), text.replace(before, `${row}\n${before}`));
  };
  add("src/model/entry.ts", "  readonly raw: RawFields;", "  readonly gesture: { readonly gesture: string };");
  const rule =
    "gesture: { needs_session: false, is_conversation: false, is_searched: false, fields: { gesture: required(text) } },";
  add("src/model/kinds.ts", "  raw: {", `  ${rule}`);

  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { stdout } = await runCommand(process.execPath, [tsc, "--pretty", "false"], { cwd: root });
  const files = new Set([...stdout.matchAll(/^(src\/[^(]+)\(/gm)].map(([, file]) => file));
  expect([...files].sort()).toEqual(
    expect.arrayContaining([
      "src/surfaces/cli/commands/record.ts",
      "src/surfaces/cli/text/entry-text.ts",
      "src/surfaces/cli/text/session-text.ts",
      "src/export/markdown.ts",
      "src/surfaces/http/describe/entry-schemas.ts",
      "src/index/derivation.ts",
      "src/search/searcher.ts",
    ]),
  );
  // The model itself follows from its tables.
  expect([...files].filter((file) => file?.startsWith("src/model/"))).toEqual([]);
});

test("docs/reference/entries.md has every kind with its fields, the required ones in bold", () => {
  const text = readFileSync(join(repositoryRoot, "docs", "reference", "entries.md"), "utf8");
  const documented = text
    .split("\n| kind | fields |\n| --- | --- |\n")
    .slice(1)
    .map((rest) =>
      rest
        .slice(0, rest.indexOf("\n\n"))
        .split("\n")
        .map((row) => row.replaceAll(/ \([^)]*\)/g, "")),
    );
  expect(documented).toEqual([
    captureKinds.map((kind) => rowOf(kind, kindRules[kind].needs_session)),
    reservedKinds.map((kind) => rowOf(kind, false)),
  ]);
});

function rowOf(kind: Kind, needsSession: boolean): string {
  const fields = Object.entries(fieldsOf(kind)).map(([name, { required, schema }]) => {
    const shape = schema.type === "array" ? "[]" : schema.type === "object" ? "{}" : "";
    return `${required ? `**${name}**` : name}${shape}`;
  });
  return `| \`${kind}\` | ${[...(needsSession ? ["**session_id**"] : []), ...fields].join(", ")} |`;
}
