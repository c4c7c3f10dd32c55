// Headings that name what they say: `## Decision: use SQLite`.
import type { MemoryType } from "../../../model/memory.js";
import type { Finding } from "./finding.js";
import { plain } from "./plain.js";

const typeByName: { readonly [name: string]: MemoryType } = {
  decision: "adaptation",
  constraint: "project",
  requirement: "project",
  fact: "knowledge",
};

const HEADING =
  /^[ \t]{0,3}#{1,6}[ \t]*(?:\*\*|__)?(decision|constraint|requirement|fact)(?:\*\*|__)?[ \t]*[:\-–—](?:\*\*|__)?[ \t]*(\S[^\n]{0,2000})$/gim;
const CLOSING = /[ \t]#+[ \t]*$/;

/** @param prose A text of an assistant without its code. */
export function findHeadings(prose: string): readonly Finding[] {
  return [...prose.matchAll(HEADING)].map((match) => {
    const [line, name = "", value = ""] = match;
    const content = plain(value.trimEnd().replace(CLOSING, ""));
    const start = match.index + line.length - line.trimStart().length;
    return { type: typeByName[name.toLowerCase()] as MemoryType, content, start, end: start + line.trim().length };
  });
}
