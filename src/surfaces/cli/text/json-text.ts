// JSON for people: what fits on a line stands on one, the rest is indented.

/** Never throws on what JSON can hold; the depth of an entry is limited, so recursion is too. */
export function jsonText(value: unknown, width: number, indent = ""): string {
  const line = inline(value, width - indent.length);
  if (line !== undefined || typeof value !== "object" || value === null) return line ?? JSON.stringify(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item) => inner + jsonText(item, width, inner));
    return `[\n${items.join(",\n")}\n${indent}]`;
  }
  const pairs = Object.entries(value).map(([key, item]) => {
    return `${inner}${JSON.stringify(key)}: ${jsonText(item, width - key.length - 4, inner)}`;
  });
  return `{\n${pairs.join(",\n")}\n${indent}}`;
}

/** The value on one line if that takes no more than this many characters; gives up as soon as it does. */
function inline(value: unknown, room: number): string | undefined {
  if (typeof value !== "object" || value === null) {
    if (typeof value === "string" && value.length > room) return undefined;
    const text = JSON.stringify(value);
    return text.length > room ? undefined : text;
  }
  const isList = Array.isArray(value);
  const parts: string[] = [];
  let left = room - 2;
  for (const [key, item] of Object.entries(value)) {
    const name = isList ? "" : `${JSON.stringify(key)}: `;
    const text = inline(item, left - name.length);
    if (text === undefined) return undefined;
    parts.push(name + text);
    left -= name.length + text.length + 2;
  }
  const text = parts.join(", ");
  if (text.length + 2 > room) return undefined;
  return isList ? `[${text}]` : `{${text}}`;
}
