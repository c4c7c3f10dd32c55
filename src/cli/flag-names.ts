// What a field is called on the command line.

/** Flags that people would not guess from the field's name, or not want to type. */
const nameByField: { readonly [field: string]: string } = {
  session_id: "session",
  memories_used: "memory",
  chunks_used: "chunk",
};

/** The name of a field's flag, without its dashes. */
export function flagNameOf(field: string): string {
  return nameByField[field] ?? field.replaceAll("_", "-");
}
