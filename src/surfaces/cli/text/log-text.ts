// A line of a server's log for whoever sits before it: the same facts as in its JSON, as words.
import { wrapText } from "./table.js";
import { cleanLine, type Pane } from "./terminal.js";

type Line = { readonly [name: string]: unknown };

/** What was asked, and what was answered: they stand together. */
const ASKED = ["method", "route", "status", "code"];
/** What stands at a place of its own, or only helps programs. */
const APART = new Set([...ASKED, "level", "time", "msg", "hint", "stack", "request", "ms", "bytes_in", "bytes_out"]);
/** What needs no name before it. */
const PLAIN = new Set(["error", "message", "reason"]);
const wordByName: { readonly [name: string]: string } = { address: "from", key_id: "key" };

const WARN = 40;
const ERROR = 50;

export function logText(json: string, pane: Pane): string {
  const line = JSON.parse(json) as Line;
  const { bold, dim, red, yellow } = pane.colours;
  const level = Number(line.level);
  const paint = level >= ERROR ? red : level >= WARN ? yellow : dim;
  const time = `${String(line.time).slice(11, 19)}Z`;
  const asked = ASKED.map((name) => line[name] ?? "").filter((value) => value !== "");
  const facts = Object.entries(line).filter(([name, value]) => !APART.has(name) && value !== null && value !== "");
  const told = [asked.join(" "), ...facts.map(([name, value]) => words(name, value))].filter(Boolean).join(", ");
  // What was asked tells by itself that it was a request.
  const said = [asked.length > 0 && line.msg === "request" ? "" : String(line.msg), told].filter(Boolean);
  const indent = time.length + 2;
  const width = pane.columns === undefined ? undefined : pane.columns - indent;
  const hint = typeof line.hint === "string" && line.hint !== "" ? wrapText(`→ ${cleanLine(line.hint)}`, width) : [];
  const [first = "", ...rest] = wrapText(cleanLine(said.join(": ")), width).map((row) => paint(row));
  const more = [...rest, ...hint.map((row) => dim(row))].map((row) => `${" ".repeat(indent)}${row}\n`);
  return `${bold(time)}  ${first}\n${more.join("")}`;
}

function words(name: string, value: unknown): string {
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return PLAIN.has(name) ? text : `${wordByName[name] ?? name.replaceAll("_", " ")} ${text}`;
}
