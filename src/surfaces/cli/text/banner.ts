// What a server says of itself on a terminal when it has started: where it is reached, and what it serves.
import { commandLine, hintText } from "../hints.js";
import type { Settings } from "../settings.js";
import { countOf, wrapText } from "./table.js";
import type { Pane } from "./terminal.js";

export interface Started {
  readonly version: string;
  /** Every address it is reached at, this machine's own first. */
  readonly addresses: readonly string[];
  /** Where the record is kept, as it may be shown. */
  readonly place: string;
  readonly settings: Pick<Settings, "given_data">;
  readonly health: {
    readonly status: "ok" | "degraded";
    readonly position: number;
    /** Memories that wait for a verdict. */
    readonly pending?: number;
    readonly trouble?: string;
    readonly warnings?: readonly string[];
    readonly problems?: readonly { readonly message: string; readonly hint: string }[];
  };
  /** How many keys were made, and how many of them still open the door; undefined where they cannot be read. */
  readonly keys: { readonly made: number; readonly good: number } | undefined;
}

const INDENT = 11;

export function bannerText(started: Started, pane: Pane): string {
  const { version, addresses, place, health, settings } = started;
  const [address = ""] = addresses;
  const { bold, dim, cyan, yellow } = pane.colours;
  const isKept = place !== "memory:";
  const inner = (text: string, paint: (line: string) => string): string =>
    wrapText(text, (pane.columns ?? 0) - 2)
      .map((line) => `  ${paint(line)}\n`)
      .join("");
  const rows = [
    ...addresses.map((one, at) => beside(at === 0 ? "Address" : "", one, pane, cyan)),
    beside("API", `${address}/docs`, pane, cyan),
    beside("Record", `${isKept ? place : "in memory"}, ${countOf(health.position, "entry", "entries")}`, pane),
    ...reviewRows(started, pane),
    ...keyRows(started, pane),
  ];
  const trouble = health.status === "ok" ? "" : `\n${inner(hintText(troubleText(health), settings), yellow)}`;
  const first = health.position === 0 ? firstEntry(address, pane) : "";
  const end = isKept ? "; nothing that was acknowledged is lost" : ", and the record is gone";
  return `${bold(`Hansard ${version}`)}\n\n${rows.join("")}${trouble}${first}\n${inner(`Ctrl-C stops it${end}.`, dim)}\n`;
}

function reviewRows({ health, settings }: Started, pane: Pane): readonly string[] {
  const { pending = 0 } = health;
  if (pending === 0) return [];
  const waits = countOf(pending, "candidate waits for a verdict", "candidates wait for a verdict");
  return [beside("Review", `${waits}: ${commandLine("hansard review", settings)}`, pane)];
}

function keyRows({ keys, settings }: Started, pane: Pane): readonly string[] {
  if (keys === undefined) {
    const text = "cannot be read, so that nobody gets in; `hansard doctor` says more";
    return [beside("Keys", hintText(text, settings), pane)];
  }
  if (keys.made === 0) return [];
  const make = `\`${commandLine("hansard keys create --scope admin", settings)}\``;
  const text =
    keys.good === 0
      ? `all are revoked, so that nobody gets in; ${make} makes a new one`
      : `${keys.good} in use; every request needs one`;
  return [beside("Keys", text, pane)];
}

function troubleText({ trouble, warnings = [], problems = [] }: Started["health"]): string {
  if (trouble !== undefined) return `Nothing can be recorded or read at present (${trouble}).`;
  if (warnings.includes("cut_off")) return "The log no longer holds what it once did; run `hansard doctor`.";
  const [problem] = problems;
  if (problem !== undefined) return `${problem.message}. ${problem.hint}`;
  return "Lists may lack older entries, because the index is not whole; `hansard doctor` says more.";
}

/** A label, and a text that may be longer than the line beside it. */
function beside(label: string, text: string, pane: Pane, paint = (line: string): string => line): string {
  const [first = "", ...rest] = wrapText(text, (pane.columns ?? 0) - INDENT);
  const more = rest.map((line) => `${" ".repeat(INDENT)}${paint(line)}\n`).join("");
  return `  ${pane.colours.dim(label.padEnd(INDENT - 2))}${paint(first)}\n${more}`;
}

/** A call to copy; a terminal that would break its lines is told where it stands instead. */
function firstEntry(address: string, pane: Pane): string {
  const lines = [
    `    curl ${address}/interactions \\`,
    "      -H 'content-type: application/json' \\",
    `      -d '{"prompt": "Who keeps the record?", "response": "Hansard."}'`,
  ];
  const isRoomy = lines.every((line) => line.length <= (pane.columns ?? line.length));
  if (!isRoomy) return "\n  Nothing yet; the API says how.\n";
  return `\n  Record a first interaction:\n\n${lines.join("\n")}\n`;
}
