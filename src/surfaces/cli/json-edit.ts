// Edits the text of another program's JSON file: only the bytes of what is added or removed change. Numbers, line breaks, comments
// and the order of members stay as their owner wrote them.
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { itemAt } from "../../model/item-at.js";

/** Thrown where a text is not what the edit expects; nothing was changed. */
export class NotEditable extends Error {}

export type JsonPath = readonly (string | number)[];

/** Sets a member of the object at the path, or appends to the list there. Objects on the way are made. */
export function addJson(text: string, path: JsonPath, value: unknown): string {
  const root = parseObject(text);
  const known = nodeAt(root, path);
  if (known?.type === "array") return addChild(text, known, value);
  const parents = path.map((_, length) => nodeAt(root, path.slice(0, length)));
  const depth = parents.findLastIndex((node) => node !== undefined);
  const parent = itemAt(parents, depth) as Node;
  if (parent.type !== "object") throw new NotEditable(`${nameOf(path.slice(0, depth))} is no object`);
  const nested = path.slice(depth + 1).reduceRight((inner: unknown, key) => ({ [key]: inner }), value);
  const member = itemAt(path, depth);
  const old = nodeAt(root, path.slice(0, depth + 1));
  if (old !== undefined && JSON.stringify(getNodeValue(old)) === JSON.stringify(nested)) return text;
  if (old !== undefined) return replaceAt(text, old, written(text, nested, indentAt(text, old.offset)));
  return addChild(text, parent, nested, String(member));
}

/** Removes the member or item at the path, with its comma. */
export function removeJson(text: string, path: JsonPath): string {
  const value = nodeAt(parseObject(text), path);
  if (value === undefined) return text;
  const node = value.parent?.type === "property" ? value.parent : value;
  const siblings = node.parent?.children ?? [];
  const nth = siblings.indexOf(node);
  const before = siblings[nth - 1];
  const after = siblings[nth + 1];
  if (before !== undefined) return text.slice(0, endOf(before)) + text.slice(endOf(node));
  if (after !== undefined) return text.slice(0, node.offset) + text.slice(after.offset);
  const parent = node.parent as Node;
  const [opening, closing] = [parent.offset + 1, endOf(parent) - 1];
  const rest = text.slice(opening, node.offset) + text.slice(endOf(node), closing);
  return text.slice(0, opening) + (rest.trim() === "" ? "" : rest) + text.slice(closing);
}

/** The object that the text stands for; an empty text is an empty object. */
export function parseObject(text: string): Node {
  const errors: ParseError[] = [];
  const root = parseTree(text.replace(/^\ufeff/, " "), errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined)
    throw new NotEditable(`${printParseErrorCode(error.error)} at character ${error.offset + 1}`);
  if (root?.type !== "object") throw new NotEditable("it is no JSON object");
  return root;
}

/** A name that occurs twice is understood in different ways: such a file is left alone. */
function nodeAt(root: Node, path: JsonPath): Node | undefined {
  for (let length = 0; length < path.length; length += 1) {
    const parent = length === 0 ? root : findNodeAtLocation(root, path.slice(0, length));
    if (parent?.type !== "object") continue;
    const same = (parent.children ?? []).filter(({ children }) => children?.[0]?.value === path[length]);
    if (same.length > 1) throw new NotEditable(`${nameOf(path.slice(0, length + 1))} occurs twice`);
  }
  return findNodeAtLocation(root, [...path]);
}

function addChild(text: string, parent: Node, value: unknown, name?: string): string {
  const key = name === undefined ? "" : `${JSON.stringify(name)}: `;
  const last = parent.children?.at(-1);
  const eol = eolOf(text);
  if (last === undefined) {
    const [opening, closing] = [parent.offset + 1, endOf(parent) - 1];
    const inside = text.slice(opening, closing).trimEnd();
    const own = indentAt(text, parent.offset);
    const added = `${eol}${own}${unitOf(text)}${key}${written(text, value, own + unitOf(text))}${eol}${own}`;
    return text.slice(0, opening) + inside + added + text.slice(closing);
  }
  // On a line of its own where the one before it is, else on the same line.
  const lineStart = text.lastIndexOf("\n", last.offset) + 1;
  const indent = text.slice(lineStart, last.offset);
  const isOwnLine = lineStart > 0 && indent.trim() === "" && lineStart > parent.offset;
  const space = isOwnLine ? `${eol}${indent}` : " ";
  const added = `,${space}${key}${isOwnLine ? written(text, value, indent) : JSON.stringify(value)}`;
  return text.slice(0, endOf(last)) + added + text.slice(endOf(last));
}

function written(text: string, value: unknown, indent: string): string {
  return JSON.stringify(value, null, unitOf(text)).replaceAll("\n", `${eolOf(text)}${indent}`);
}

function replaceAt(text: string, node: Node, value: string): string {
  return text.slice(0, node.offset) + value + text.slice(endOf(node));
}

const endOf = ({ offset, length }: Node): number => offset + length;

const eolOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");

/** What the file indents by; two spaces where it does not show. */
const unitOf = (text: string): string => /^\ufeff?\s*\{[^\S\n]*\r?\n([ \t]+)/.exec(text)?.[1] ?? "  ";

/** The white space that the line of this place begins with. */
function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? "";
}

function nameOf(path: JsonPath): string {
  return path.length === 0 ? "the file" : path.map(String).join(".");
}
