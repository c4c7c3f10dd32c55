// What a field is called on the command line.
import { flagsOf, questionNames } from "../../search/question-rules.js";

/** Flags that people would not guess from the field's name, or not want to type. */
const nameByField: { readonly [field: string]: string } = {
  ...Object.fromEntries(flagsOf(questionNames).map(({ parameter, name }) => [parameter, name])),
  memories_used: "memory",
  chunks_used: "chunk",
};

/** The name of a field's flag, without its dashes. */
export function flagNameOf(field: string): string {
  return Object.hasOwn(nameByField, field) ? (nameByField[field] as string) : field.replaceAll("_", "-");
}

/** What a flag is called among the options that were parsed: `max-messages` is read as `maxMessages`. */
export function attributeOf(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
