// What a server shows on a terminal: a banner when it has started, and its log as text instead of JSON.
import { commandLine, hintText } from "../hints.js";
import type { Settings } from "../settings.js";
import { countOf, wrapText } from "./table.js";
import { cleanLine, type Pane } from "./terminal.js";

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
    /** Memory candidates to review. */
    readonly pending?: number;
    readonly trouble?: string;
    readonly warnings?: readonly string[];
    readonly problems?: readonly { readonly message: string; readonly hint: string }[];
  };
  /** How many keys exist and how many are not revoked; undefined if they cannot be read. */
  readonly keys: { readonly made: number; readonly good: number } | undefined;
}

const INDENT = 11;

export function bannerText(started: Started, pane: Pane): string {
  const { version, addresses, place, health, settings } = started;
  const [address = ""] = addresses;
  const { bold, dim, cyan, yellow } = pane.colours;
  const isKept = place !== "memory:";
  const isFirst = isKept && health.position === 0;
  const inner = (text: string, paint: (line: string) => string): string =>
    wrapText(text, (pane.columns ?? 0) - 2)
      .map((line) => `  ${paint(line)}\n`)
      .join("");
  const rows = [
    ...addresses.map((one, at) => labelled(at === 0 ? "Page" : "", one, pane, cyan)),
    ...(isFirst
      ? nextRows(started, pane)
      : [
          labelled("API", `${address}/docs`, pane, cyan),
          labelled("Record", `${isKept ? place : "in memory"}, ${countOf(health.position, "entry", "entries")}`, pane),
          ...reviewRows(started, pane),
        ]),
    ...keyRows(started, pane),
  ];
  const trouble = health.status === "ok" ? "" : `\n${inner(hintText(troubleText(health), settings), yellow)}`;
  const stays = isFirst ? `the record stays in ${place}.` : "nothing recorded is lost.";
  const end = `Press Ctrl-C to stop; ${isKept ? stays : "the record is discarded."}`;
  return `${bold(`Hansard ${version}`)}\n\n${rows.join("")}${trouble}\n${inner(end, dim)}\n`;
}

/** What to do with a record that is empty. */
function nextRows({ settings }: Started, pane: Pane): readonly string[] {
  const brought = `${commandLine("hansard import", settings)}: what agents wrote on this machine; it asks first`;
  const followed = `${commandLine("hansard watch", settings)}: what they write from now on; /docs: your own agents`;
  return [labelled("Import", brought, pane), labelled("Record", followed, pane)];
}

function reviewRows({ health, settings }: Started, pane: Pane): readonly string[] {
  const { pending = 0 } = health;
  if (pending === 0) return [];
  const waiting = countOf(pending, "candidate", "candidates");
  return [labelled("Review", `${waiting} waiting: ${commandLine("hansard review", settings)}`, pane)];
}

function keyRows({ keys, settings }: Started, pane: Pane): readonly string[] {
  if (keys === undefined) {
    const text = "cannot be read, so every request is rejected; run `hansard doctor`";
    return [labelled("Keys", hintText(text, settings), pane)];
  }
  if (keys.made === 0) return [];
  const make = `\`${commandLine("hansard keys create --scope admin", settings)}\``;
  const text =
    keys.good === 0
      ? `all revoked, so every request is rejected; ${make} creates a new one`
      : `${keys.good} active; every request needs one`;
  return [labelled("Keys", text, pane)];
}

function troubleText({ trouble, warnings = [], problems = [] }: Started["health"]): string {
  if (trouble !== undefined) return `Cannot record or read at present (${trouble}).`;
  if (warnings.includes("cut_off")) return "Entries are missing from the log; run `hansard doctor`.";
  const [problem] = problems;
  if (problem !== undefined) return `${problem.message}. ${problem.hint}`;
  return "The index is incomplete, so lists may miss older entries; run `hansard doctor`.";
}

/** A label, and a text wrapped next to it. */
function labelled(label: string, text: string, pane: Pane, paint = (line: string): string => line): string {
  const [first = "", ...rest] = wrapText(text, (pane.columns ?? 0) - INDENT);
  const more = rest.map((line) => `${" ".repeat(INDENT)}${paint(line)}\n`).join("");
  return `  ${pane.colours.dim(label.padEnd(INDENT - 2))}${paint(first)}\n${more}`;
}

type LogLine = { readonly [name: string]: unknown };

/** The request and its outcome, shown together. */
const REQUEST = ["method", "route", "status", "code"];
/** Fields that are shown elsewhere in the line, or only help programs. */
const NOT_LISTED = new Set([
  ...REQUEST,
  "level",
  "time",
  "msg",
  "hint",
  "stack",
  "request",
  "ms",
  "bytes_in",
  "bytes_out",
]);
/** Fields shown without their name. */
const UNNAMED = new Set(["error", "message", "reason"]);
const wordByName: { readonly [name: string]: string } = { address: "from", key_id: "key" };

const WARN = 40;
const ERROR = 50;

/** One JSON line of the server's log as text. */
export function logText(json: string, pane: Pane): string {
  const line = JSON.parse(json) as LogLine;
  const { bold, dim, red, yellow } = pane.colours;
  const level = Number(line.level);
  const paint = level >= ERROR ? red : level >= WARN ? yellow : dim;
  const time = `${String(line.time).slice(11, 19)}Z`;
  const request = REQUEST.map((name) => line[name] ?? "").filter((value) => value !== "");
  const fields = Object.entries(line).filter(
    ([name, value]) => !NOT_LISTED.has(name) && value !== null && value !== "",
  );
  const facts = [request.join(" "), ...fields.map(([name, value]) => fieldText(name, value))]
    .filter(Boolean)
    .join(", ");
  // The method and route already show that it was a request.
  const parts = [request.length > 0 && line.msg === "request" ? "" : String(line.msg), facts].filter(Boolean);
  const indent = time.length + 2;
  const width = pane.columns === undefined ? undefined : pane.columns - indent;
  const hint = typeof line.hint === "string" && line.hint !== "" ? wrapText(`→ ${cleanLine(line.hint)}`, width) : [];
  const [first = "", ...rest] = wrapText(cleanLine(parts.join(": ")), width).map((row) => paint(row));
  const more = [...rest, ...hint.map((row) => dim(row))].map((row) => `${" ".repeat(indent)}${row}\n`);
  return `${bold(time)}  ${first}\n${more.join("")}`;
}

function fieldText(name: string, value: unknown): string {
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return UNNAMED.has(name) ? text : `${wordByName[name] ?? name.replaceAll("_", " ")} ${text}`;
}
