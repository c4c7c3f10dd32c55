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

/**
 * Whether the file is one JSON value over several lines, of which some may look like lines of a format: then more of them
 * end in a comma than stand alone.
 */
export function isOneDocument(bytes: Uint8Array): boolean {
  const lines = Buffer.from(bytes).toString("utf8").split("\n");
  const count = (shape: RegExp): number => lines.filter((line) => isObject(shape.exec(line)?.[1])).length;
  const items = count(/^\ufeff?\s*\[?\s*(\{.*\})\s*,\s*$/);
  return items > 0 && items >= count(/^\ufeff?\s*(\{.*\})\s*$/);
}

function isObject(text: string | undefined): boolean {
  if (text === undefined) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
