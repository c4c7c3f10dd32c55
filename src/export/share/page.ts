// A shared page: everything around the articles follows from the data in it, so a check can make it again and compare.
import { hash } from "node:crypto";
import type { Seal } from "../../model/verification.js";
import { escapeHtml } from "./html.js";
import { STYLE } from "./style.js";

/** Raised whenever the same entries become another page. */
export const SHARE_VERSION = 1;

export interface SharedEntry {
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  readonly hash: string;
  /** SHA-256 of the article; absent where none is shown. */
  readonly shown?: string;
}

/** What the page says before its first article. */
export interface SharedHead {
  readonly hansard_share: number;
  readonly log_id: string;
  readonly session_id: string;
  readonly title: string;
  /** One line each. */
  readonly facts: readonly string[];
  readonly shared_at: string;
  /** The end of the log when the page was made. */
  readonly position: number;
  readonly hash: string;
  /** Absent where the log could not be sealed. */
  readonly seal?: Seal;
}

export interface SharedPage extends SharedHead {
  readonly entries: readonly SharedEntry[];
}

const POLICY = `default-src 'none'; img-src data:; style-src 'sha256-${hash("sha256", STYLE, "base64")}'; base-uri 'none'; form-action 'none'`;

/** For a server that serves it; a page may not say all of this itself. */
export const SHARE_POLICY = `${POLICY}; frame-ancestors 'none'; sandbox allow-popups allow-popups-to-escape-sandbox`;

export const DATA_START = '<script type="application/json" id="hansard-share">';
export const DATA_END = "</script>\n</body>\n</html>\n";

export function pageTop({ title, session_id, facts, shared_at }: SharedHead): string {
  const name = escapeHtml(title === "" ? session_id : title);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${name}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<p class="brand"><b>Hansard</b> · a session, shared ${escapeHtml(shared_at.slice(0, 16).replace("T", " "))} UTC</p>
<h1 dir="auto">${name}</h1>
${facts.map((fact) => `<p class="facts">${escapeHtml(fact)}</p>`).join("\n")}
</header>
<main>
`;
}

export function pageBottom(page: SharedPage): string {
  const { entries, log_id, seal } = page;
  const [first, last] = [entries[0], entries.at(-1)];
  const hidden = entries.filter(({ shown }) => shown === undefined).length;
  const span =
    first === undefined || last === undefined ? "none" : `${entries.length} (${first.position} to ${last.position})`;
  const rows: readonly (readonly [string, string])[] = [
    ["Entries", span],
    ["Log", log_id],
    ["Log's end", `entry ${page.position}, SHA-256 ${page.hash}`],
    ["Seal", seal === undefined ? "none: the log could not be sealed" : `entry ${seal.position}, ${seal.sealed_at}`],
    ...(seal === undefined ? [] : [["Sealed with", seal.public_key] as const]),
  ];
  const list = rows.map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`).join("\n");
  const notShown =
    hidden === 0
      ? ""
      : `<p>${hidden} of the entries are not shown: records of the tool, notes about the session, and what goes beyond the size of a page. Their hashes are here.</p>\n`;
  return `</main>
<footer>
<h2>What this page proves</h2>
<p>Secrets are masked, and long texts and large images are left out; so the hashes, which are of the entries as they were recorded, cannot be checked from this file alone. <b>hansard verify FILE.html</b> compares it with the store that it came from: every hash, the seal, and the text of every article.</p>
${notShown}<dl>
${list}
</dl>
</footer>
${DATA_START}${dataText(page)}${DATA_END}`;
}

/** JSON that no browser takes for the end of the element. */
function dataText(page: SharedPage): string {
  return JSON.stringify(page)
    .replaceAll("<", "\\u003c")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
}

export function shownHash(article: string): string {
  return hash("sha256", article, "hex");
}
