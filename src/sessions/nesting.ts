// Which span is inside which: parents that are missing, or are inside of their own children, make roots, and no tree is too deep.
import { rounded } from "../usage/call-ledger.js";
import type { TreeNode } from "./session-tree.js";

/** A node of the tree before it has its place. */
export interface Span {
  readonly node: Omit<TreeNode, "total" | "children">;
  readonly created_ms: number;
  readonly position: number;
  parent: Span | undefined;
}

/** JSON may have 200 levels, and a node takes two. What is deeper is next to its parent. */
const DEPTH_MAX = 90;

/** Moves the parents of spans that lie on a cycle away: the first one found is a root. */
function cutCycles(spans: readonly Span[]): void {
  const done = new Set<Span>();
  for (const span of spans) {
    const path = new Set<Span>();
    let last = span;
    for (let at: Span | undefined = span; at !== undefined && !done.has(at); at = at.parent) {
      if (path.has(at)) {
        last.parent = undefined;
        break;
      }
      path.add(at);
      last = at;
    }
    for (const each of path) done.add(each);
  }
}

interface Growing {
  readonly node: Omit<TreeNode, "total" | "children">;
  readonly total: { duration_ms: number; tokens: number; cost: number | null };
  readonly children: Growing[];
}

/** In order of time, then of position. */
export function nested(spans: readonly Span[]): readonly TreeNode[] {
  cutCycles(spans);
  const inOrder = [...spans].sort(
    (left, right) => left.created_ms - right.created_ms || left.position - right.position,
  );
  const below = new Map<Span | undefined, Span[]>();
  for (const span of inOrder) {
    const siblings = below.get(span.parent);
    if (siblings === undefined) below.set(span.parent, [span]);
    else siblings.push(span);
  }
  const roots: Growing[] = [];
  const placed: { readonly own: Growing; readonly parent: Growing | undefined }[] = [];
  const waiting = (below.get(undefined) ?? []).map((span) => ({
    span,
    above: [] as readonly Growing[],
  }));
  for (const { span, above } of waiting) {
    const { duration_ms, tokens, cost } = span.node;
    const own: Growing = { node: span.node, total: { duration_ms: duration_ms ?? 0, tokens, cost }, children: [] };
    const parent = above.at(-1);
    (parent?.children ?? roots).push(own);
    placed.push({ own, parent });
    const next = above.length + 1 < DEPTH_MAX ? [...above, own] : above;
    for (const child of below.get(span) ?? []) waiting.push({ span: child, above: next });
  }
  for (const { own, parent } of placed.reverse()) {
    if (parent !== undefined) add(parent.total, own.total);
  }
  return roots.map(toNode);
}

function add(total: Growing["total"], more: Growing["total"]): void {
  total.duration_ms += more.duration_ms;
  total.tokens += more.tokens;
  if (more.cost !== null) total.cost = (total.cost ?? 0) + more.cost;
}

/** As deep as a tree may be. */
function toNode({ node, total, children }: Growing): TreeNode {
  const cost = total.cost === null ? null : rounded(total.cost);
  return { ...node, total: { ...total, cost }, children: children.map(toNode) };
}
