// The formats that can be imported, in the order in which they are tried. To add one, add its file and a line here.
import { aiderImporter } from "./aider.js";
import { antigravityImporter } from "./antigravity.js";
import { atifImporter } from "./atif.js";
import { chatGptImporter } from "./chatgpt.js";
import {
  claudeAgentNoteImporter,
  claudeIndexImporter,
  claudeRequestImporter,
  claudeResponseImporter,
} from "./claude-code/bodies.js";
import { claudeCodeDocumentImporter, claudeCodeImporter } from "./claude-code/claude-code.js";
import { clineImporter } from "./cline.js";
import { clineTaskImporter, rooCodeImporter } from "./cline-tasks.js";
import { codexImporter } from "./codex/codex.js";
import { copilotCliImporter } from "./copilot-cli.js";
import { cursorImporter } from "./cursor.js";
import { droidImporter } from "./droid.js";
import { geminiCliDocumentImporter, geminiCliImporter } from "./gemini-cli.js";
import { gooseImporter, gooseTablesImporter } from "./goose.js";
import { hansardImporter } from "./hansard.js";
import type { FormatsRead, Importer, Opening, Reads } from "./importer.js";
import { kimiCliImporter } from "./kimi-cli.js";
import { kimiCodeImporter } from "./kimi-code.js";
import { kiroCliImporter, kiroCliTablesImporter } from "./kiro-cli.js";
import { llmImporter } from "./llm.js";
import { lookAlikeOf } from "./look-alikes.js";
import {
  anthropicDocumentImporter,
  anthropicLineImporter,
  openAiDocumentImporter,
  openAiLineImporter,
} from "./message-files.js";
import { nanobotImporter } from "./nanobot.js";
import { openCodeImporter, openCodeTablesImporter } from "./opencode.js";
import { openClawImporter, piImporter } from "./pi.js";
import { qwenAgentNoteImporter, qwenCodeImporter } from "./qwen-code.js";
import { timmyImporter } from "./timmy.js";
import { vscodeCopilotDocumentImporter, vscodeCopilotImporter } from "./vscode-copilot.js";
import { zedImporter } from "./zed.js";

const importers: readonly Importer[] = [
  hansardImporter,
  qwenCodeImporter,
  qwenAgentNoteImporter,
  claudeCodeImporter,
  claudeCodeDocumentImporter,
  claudeRequestImporter,
  claudeResponseImporter,
  claudeIndexImporter,
  claudeAgentNoteImporter,
  codexImporter,
  copilotCliImporter,
  vscodeCopilotImporter,
  vscodeCopilotDocumentImporter,
  clineImporter,
  clineTaskImporter,
  rooCodeImporter,
  kiroCliImporter,
  kiroCliTablesImporter,
  gooseImporter,
  gooseTablesImporter,
  kimiCliImporter,
  kimiCodeImporter,
  zedImporter,
  droidImporter,
  piImporter,
  openClawImporter,
  geminiCliImporter,
  geminiCliDocumentImporter,
  antigravityImporter,
  chatGptImporter,
  llmImporter,
  openCodeImporter,
  openCodeTablesImporter,
  cursorImporter,
  atifImporter,
  nanobotImporter,
  timmyImporter,
  anthropicLineImporter,
  anthropicDocumentImporter,
  openAiLineImporter,
  openAiDocumentImporter,
  aiderImporter,
];

const EXPORT_FORMAT = hansardImporter.format;

export const importFormats: readonly string[] = [...new Set(importers.map(({ format }) => format))];

/** The importer that recognises a source; for a named format, otherwise the first that can read such a source. */
export function findImporter(opening: Opening, { format, formats }: FormatChoice): Importer | undefined {
  const found = recognise(opening, format);
  return found !== undefined && isAllowed(found.format, formats) ? found : undefined;
}

export interface FormatChoice {
  /** Empty where the content decides. */
  readonly format: string;
  /** The formats that are read here; all of them, where it is left out. */
  readonly formats?: FormatsRead | undefined;
}

/** Why a source of a known format is not read here; undefined where none is recognised. */
export function whyRefused(opening: Opening, { format, formats }: FormatChoice): string | undefined {
  const other = format === "" ? lookAlikeOf(opening) : undefined;
  if (other !== undefined) return `it is a session of ${other}, which is not read`;
  const found = recognise(opening, format)?.format;
  if (found === undefined || isAllowed(found, formats)) return undefined;
  const what = found === EXPORT_FORMAT ? "an export of a record" : `a file of the format ${found}`;
  const here = Array.isArray(formats)
    ? `only ${formats.join(", ")} is read here`
    : "it is imported only when you name it";
  return `it is ${what}, and ${here}: hansard import FILE`;
}

export function isAllowed(format: string, formats: FormatsRead | undefined): boolean {
  if (formats === "no_exports") return format !== EXPORT_FORMAT;
  return formats === undefined || formats.includes(format);
}

function recognise(opening: Opening, format: string): Importer | undefined {
  if (format === "" && lookAlikeOf(opening) !== undefined) return undefined;
  const named = importers.filter((importer) => format === "" || importer.format === format);
  const found = named.find((importer) => canRead(importer.reads, opening) && importer.recognises(opening));
  return found ?? (format === "" ? undefined : named.find(({ reads }) => canRead(reads, opening)));
}

/** A unique name, by which `importerNamed` finds the importer again. */
export function nameOf(importer: Importer): string {
  const { format } = importer;
  return `${format}/${importers.filter((other) => other.format === format).indexOf(importer)}`;
}

export function importerNamed(name: string): Importer | undefined {
  return importers.find((importer) => nameOf(importer) === name);
}

function canRead(reads: Reads, { tables, is_one_value, document }: Opening): boolean {
  if (tables !== undefined || reads === "tables") return tables !== undefined && reads === "tables";
  if (reads === "text") return document === undefined;
  return reads === "lines" ? !is_one_value : document !== undefined;
}
