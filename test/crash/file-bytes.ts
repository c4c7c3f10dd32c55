// What is in the files of a store, byte by byte: the only way to say that something is gone.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The files of a folder that hold a text in some form in which it could be stored. */
export function filesHolding(folder: string, text: string): readonly string[] {
  const forms = [Buffer.from(text, "utf8"), Buffer.from(text, "utf16le"), Buffer.from(text.toLowerCase(), "utf8")];
  return readdirSync(folder).filter((name) => {
    const bytes = readFileSync(join(folder, name));
    return forms.some((form) => bytes.includes(form));
  });
}
