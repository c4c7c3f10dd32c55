// The parts of a document that a run writes: what stands between `<!-- name -->` and `<!-- /name -->`.
import { readFileSync, writeFileSync } from "node:fs";

export function sectionOf(file: string, name: string): string {
  const { text, start, end } = find(file, name);
  return text.slice(start, end).trim();
}

export function writeSection(
  file: string,
  { name, section }: { readonly name: string; readonly section: string },
): void {
  const { text, start, end } = find(file, name);
  writeFileSync(file, `${text.slice(0, start)}\n${section.trim()}\n${text.slice(end)}`);
}

function find(file: string, name: string): { readonly text: string; readonly start: number; readonly end: number } {
  const text = readFileSync(file, "utf8");
  const [opening, closing] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const start = text.indexOf(opening) + opening.length;
  const end = text.indexOf(closing, start);
  if (!text.includes(opening) || end === -1)
    throw new Error(`${file} has no section between ${opening} and ${closing}.`);
  return { text, start, end };
}
