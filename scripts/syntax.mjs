// Reads TypeScript and JavaScript into a syntax tree, for the checks that regular expressions would get wrong.
import { parseAst } from "vitest/node";

/**
 * Any node of the tree; the checks look at a few fields of a few kinds.
 *
 * @typedef {{ type: string, start: number, end: number, [field: string]: any }} SyntaxNode
 */

/**
 * The compiler of this project has no interface for programs, so this is the parser that Vitest itself brings along.
 *
 * @param {string} file
 * @param {string} text
 * @returns {SyntaxNode[]} Every node, parents first.
 */
export function nodesOf(file, text) {
  const lang = file.endsWith(".tsx") ? "tsx" : file.endsWith(".mjs") ? "js" : "ts";
  const tree = parseAst(text, { lang, astType: "ts" }, file);
  /** @type {SyntaxNode[]} */
  const nodes = [];
  collect(/** @type {any} */ (tree), nodes);
  return nodes;
}

/**
 * @param {string} text
 * @param {number} offset
 */
export function lineAt(text, offset) {
  return text.slice(0, offset).split("\n").length;
}

/**
 * @param {unknown} value
 * @param {SyntaxNode[]} nodes
 */
function collect(value, nodes) {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, nodes);
  } else if (value !== null && typeof value === "object") {
    if ("type" in value && typeof value.type === "string") nodes.push(/** @type {SyntaxNode} */ (value));
    for (const field of Object.values(value)) collect(field, nodes);
  }
}
