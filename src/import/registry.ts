// The formats that come in, in the order in which they are tried. A new one is a file of its own and a line here.
import { hansardImporter } from "./hansard.js";
import type { Importer, Opening } from "./importer.js";
import { nanobotImporter } from "./nanobot.js";
import { timmyImporter } from "./timmy.js";

const importers: readonly Importer[] = [hansardImporter, nanobotImporter, timmyImporter];

export const importFormats: readonly string[] = importers.map(({ format }) => format);

export function importerNamed(format: string): Importer | undefined {
  return importers.find((importer) => importer.format === format);
}

export function recogniseImporter(opening: Opening): Importer | undefined {
  if (opening.is_one_value) return undefined;
  return importers.find((importer) => importer.recognises(opening));
}
