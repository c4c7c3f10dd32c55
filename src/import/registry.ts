// The formats that come in, in the order in which they are tried. A new one is a file of its own and a line here.
import { hansardImporter } from "./hansard.js";
import type { Importer, Opening } from "./importer.js";
import { nanobotImporter } from "./nanobot.js";
import { timmyImporter } from "./timmy.js";

export const importers: readonly Importer[] = [hansardImporter, nanobotImporter, timmyImporter];

export const importFormats: readonly string[] = importers.map(({ format }) => format);

export function importerNamed(format: string): Importer | undefined {
  return importers.find((importer) => importer.format === format);
}

export function recogniseImporter(opening: Opening): Importer | undefined {
  if (isOneDocument(opening.bytes)) return undefined;
  return importers.find((importer) => importer.recognises(opening));
}

/** Whether the file is one JSON value over several lines, of which some may look like lines of a format by themselves. */
export function isOneDocument(bytes: Uint8Array): boolean {
  const [first = ""] = Buffer.from(bytes)
    .toString("utf8")
    .replace(/^\ufeff/, "")
    .trimStart()
    .split("\n", 1);
  if (!/^[[{]/.test(first) || bytes.indexOf(0x0a) === -1) return false;
  return /^(?:\{|\[)\s*$/.test(first) || (first.startsWith("[") && !isJson(first));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
