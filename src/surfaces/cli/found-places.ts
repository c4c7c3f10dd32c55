// `hansard import` without a path: what known tools have left on this machine, and whether it may be read.
import { type FoundPlace, findInPlaces, knownPlaces } from "../../index.js";
import { isAgreed } from "./agreed.js";
import type { Invocation } from "./command.js";
import { Failed, WrongUse } from "./failures.js";
import { countOf, formatBytes, formatCount, renderTable } from "./text/table.js";
import { documentText, pathText } from "./text/terminal.js";

/** The files to read; undefined where somebody was asked and said no. */
export async function askForPlaces(invocation: Invocation): Promise<readonly string[] | undefined> {
  const { options, screen, json, settings } = invocation;
  const { found, files } = await findInPlaces();
  if (found.length === 0) throw nothingFound();
  const isAllowed = options.yes === true;
  if (!json) (isAllowed ? screen.err : screen.out).write(foundText(found, invocation));
  if (isAllowed) return files;
  const isAsked = !json && process.stdin.isTTY === true && screen.out.isTerminal;
  if (!isAsked) {
    if (json) screen.out.write(documentText({ found }, screen.out));
    const message = `${countOf(files.length, "file", "files")} found, and nobody has said that they may be read`;
    const hint = "Add --yes, or name the paths that are meant.";
    throw new WrongUse({ code: "consent_missing", field: "--yes", message, hint });
  }
  if (await isAgreed(`Read them into ${pathText(settings.data)}? [y/N] `)) return files;
  screen.err.write("Nothing was read.\n");
  return undefined;
}

function nothingFound(): Failed {
  const looked = [...new Set(knownPlaces().map(({ path }) => pathText(path)))];
  return new Failed({
    code: "nothing_found",
    message: `no known tool has left files here; looked in ${looked.join(", ")}`,
    hint: "Name a file or folder: hansard import PATH.",
  });
}

function foundText(found: readonly FoundPlace[], { screen }: Invocation): string {
  const number = { align: "right" } as const;
  const { columns, colours } = screen.out;
  return renderTable({
    columns: [
      { title: "TOOL" },
      { title: "SESSIONS", ...number },
      { title: "FILES", ...number },
      { title: "SIZE", ...number },
      { title: "OLDEST" },
      { title: "PLACE" },
    ],
    rows: found.map(({ tool, sessions, files, bytes, oldest, path }) => [
      ...[tool, sessions === undefined ? "in a database" : formatCount(sessions), formatCount(files)],
      ...[formatBytes(bytes), oldest.slice(0, 10), pathText(path)],
    ]),
    width: columns,
    colours,
  });
}
