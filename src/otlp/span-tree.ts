// The spans of a trace as a tree, with what each means: a call inside of a call becomes one entry, of the inner one where it has
// its texts.
import type { JsonObject } from "../model/json.js";
import { type TokenName, tokenNames } from "../model/usage.js";
import { hasContent } from "./derived-entries.js";
import type { Labels } from "./labels.js";
import type { CallMeaning, SpanMeaning } from "./meaning.js";
import type { SpanItem } from "./telemetry-items.js";

export interface SpanNode {
  readonly span: SpanItem;
  /** Undefined for a span that no dialect knows. */
  reading: SpanReading | undefined;
}

interface SpanReading {
  readonly dialect: string;
  readonly meaning: SpanMeaning;
}

/** Spans between one and its root; hostile parents may form a circle. */
const ANCESTORS_MAX = 1_000;

export class SpanTree {
  readonly nodes: readonly SpanNode[];
  readonly #read: (span: SpanItem) => SpanReading | undefined;
  readonly #byId = new Map<string, SpanNode>();
  /** What spans mean where that is not what they say. */
  readonly #instead = new Map<string, SpanMeaning>();
  /** Spans with a failed one below. */
  readonly #failedBelow = new Set<string>();

  constructor(spans: readonly SpanItem[], read: (span: SpanItem) => SpanReading | undefined) {
    this.#read = read;
    this.nodes = spans.map((span) => ({ span, reading: undefined }));
    for (const node of this.nodes) this.#byId.set(node.span.span_id, node);
  }

  node(span_id: string): SpanNode | undefined {
    return this.#byId.get(span_id);
  }

  /** Reads every span, once what belongs to it is there. */
  read(): void {
    for (const node of this.nodes) node.reading = this.#read(node.span);
    this.#readLeaves();
    for (const { span, reading } of this.nodes) {
      if (reading === undefined || !(span.is_failed || isFailedCall(reading.meaning))) continue;
      for (const { span_id } of this.#ancestors(span)) this.#failedBelow.add(span_id);
    }
  }

  /** What a span means in its trace; undefined where no dialect knows it. */
  meaningOf(span_id: string): SpanMeaning | undefined {
    return this.#instead.get(span_id) ?? this.#byId.get(span_id)?.reading?.meaning;
  }

  hasFailedBelow(span_id: string): boolean {
    return this.#failedBelow.has(span_id);
  }

  /** A span and those that it is in, as far as they are here. */
  withAncestors(span_id: string): readonly SpanItem[] {
    const span = this.#byId.get(span_id)?.span;
    return span === undefined ? [] : [span, ...this.#ancestors(span)];
  }

  /** The label that the first span has that has one: libraries put some of them only on the root. */
  anyLabel<N extends keyof Labels>(name: N): Labels[N] | undefined {
    return this.nodes.find(({ span }) => span.labels[name] !== undefined)?.span.labels[name];
  }

  #ancestors(span: SpanItem): readonly SpanItem[] {
    const found: SpanItem[] = [];
    const seen = new Set([span.span_id]);
    for (let parent = this.#byId.get(span.parent_span_id); parent !== undefined; ) {
      if (seen.has(parent.span.span_id) || found.length >= ANCESTORS_MAX) break;
      seen.add(parent.span.span_id);
      found.push(parent.span);
      parent = this.#byId.get(parent.span.parent_span_id);
    }
    return found;
  }

  /**
   * Of calls inside of each other the innermost with texts counts; the others are steps, and what has only tokens lends
   * them to it. An agent elsewhere is a call where nothing is known of what it did.
   */
  #readLeaves(): void {
    const parents = new Set(this.nodes.map(({ span }) => span.parent_span_id));
    for (const { span, reading } of this.nodes) {
      const meaning = reading?.meaning;
      if (meaning?.is !== "step" || meaning.alone === undefined || parents.has(span.span_id)) continue;
      if (hasContent(meaning.alone)) this.#instead.set(span.span_id, meaning.alone);
    }
    const calls = this.nodes.flatMap(({ span }) => {
      const meaning = this.meaningOf(span.span_id);
      return meaning?.is === "call" ? [{ span, call: meaning }] : [];
    });
    const outer = new Set<string>();
    const callsAbove = (span: SpanItem): readonly SpanItem[] =>
      this.#ancestors(span).filter(({ span_id }) => this.meaningOf(span_id)?.is === "call");
    for (const { span, call } of calls) {
      if (hasContent(call)) for (const { span_id } of callsAbove(span)) outer.add(span_id);
    }
    const bare: { readonly span: SpanItem; readonly call: CallMeaning }[] = [];
    const lent = new Map<string, { readonly call: CallMeaning; usages: JsonObject[] }>();
    for (const { span, call } of calls) {
      if (hasContent(call)) continue;
      const host = callsAbove(span).find(({ span_id }) => hasContent(this.meaningOf(span_id) as CallMeaning));
      if (host === undefined) {
        bare.push({ span, call });
        continue;
      }
      this.#instead.set(span.span_id, { is: "step" });
      const known = lent.get(host.span_id) ?? { call: this.meaningOf(host.span_id) as CallMeaning, usages: [] };
      lent.set(host.span_id, known);
      if (call.usage !== undefined) known.usages.push(call.usage);
    }
    for (const { span } of bare) for (const { span_id } of callsAbove(span)) outer.add(span_id);
    for (const [span_id, { call, usages }] of lent) {
      if (outer.has(span_id) || call.usage !== undefined || usages.length === 0) continue;
      this.#instead.set(span_id, { ...call, usage: sumOf(usages) });
    }
    for (const span_id of outer) this.#instead.set(span_id, { is: "step" });
  }
}

function isFailedCall(meaning: SpanMeaning): boolean {
  return meaning.is === "call" && meaning.error !== undefined;
}

function sumOf(usages: readonly JsonObject[]): JsonObject {
  const sum: { [name in TokenName]?: number } = {};
  for (const usage of usages) {
    for (const name of tokenNames) {
      const count = usage[name];
      if (typeof count === "number") sum[name] = (sum[name] ?? 0) + count;
    }
  }
  return sum as JsonObject;
}
