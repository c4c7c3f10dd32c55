// Finds the examples of a Markdown document that are to be executed, and compares what they print with what it says.
//
// A comment on the line before a fenced block marks it: `<!-- run: NAME -->` for the example and, where its output is
// shown, `<!-- output: NAME -->`.

export interface Example {
  readonly name: string;
  readonly language: string;
  readonly code: string;
  readonly output: string | undefined;
}

export function examplesOf(markdown: string): Example[] {
  const blocks = [...markdown.matchAll(/^<!-- (run|output): ([\w-]+) -->\n```(\w*)[^\n]*\n(.*?)^```$/gms)].map(
    ([, mark = "", name = "", language = "", code = ""]) => ({ mark, name, language, code }),
  );
  const marks = markdown.match(/^<!-- (?:run|output):/gm) ?? [];
  if (marks.length !== blocks.length) throw new Error("A run or output mark is not followed by a fenced block.");
  const outputs = new Map(blocks.filter(({ mark }) => mark === "output").map(({ name, code }) => [name, code]));
  const examples = blocks
    .filter(({ mark }) => mark === "run")
    .map(({ name, language, code }) => ({ name, language, code, output: outputs.get(name) }));
  const orphan = [...outputs.keys()].find((name) => !examples.some((example) => example.name === name));
  if (orphan !== undefined) throw new Error(`The output "${orphan}" belongs to no example.`);
  return examples;
}

/**
 * Ids, times and hashes differ from run to run, so they are masked on both sides before the texts are compared. A `…`
 * in the document stands for anything within one line.
 */
export function outputMatches({ shown, printed }: { readonly shown: string; readonly printed: string }): boolean {
  const pattern = mask(shown)
    .trim()
    .split("…")
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join(".*");
  return new RegExp(`^${pattern}$`).test(mask(printed).trim());
}

function mask(text: string): string {
  return text
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "<id>")
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>")
    .replace(/\b[0-9a-f]{64}\b/g, "<hash>")
    .replace(/[ \t]+$/gm, "");
}
