// Splits the digest of a session into segments that a model can read: numbered texts with their speakers.
import { itemAt } from "../../../model/item-at.js";
import type { QuotedEntry, Speaker } from "../../text/quoted-entry.js";

export interface Segment {
  readonly session_id: string;
  readonly project: string;
  /** Its entries, to be split again where it is too long for a model. */
  readonly entries: readonly QuotedEntry[];
  /** By number, from 1: the entry whose text it is. */
  readonly entryIds: readonly string[];
  /** What the model is shown. */
  readonly text: string;
}

interface Line {
  readonly entry: QuotedEntry;
  readonly by: Speaker;
  readonly text: string;
}

export interface SegmentLimits {
  /** Of one segment. */
  readonly chars_max: number;
  /** Of one text in it; longer ones lose their middle. */
  readonly text_chars_max: number;
}

const CHARS_LEAST = 1_000;

/** Some 12,000 tokens. */
export const segmentLimits: SegmentLimits = { chars_max: 48_000, text_chars_max: 4_000 };

/**
 * The segments of a session, each of one project. A segment that is half full ends before the next user message, so question
 * and answer stay together.
 *
 * @param entries Of one session in the order of the log, masked.
 */
export function segmentsOf(entries: readonly QuotedEntry[], limits: SegmentLimits = segmentLimits): readonly Segment[] {
  const segments: Segment[] = [];
  let lines: Line[] = [];
  let chars = 0;
  const close = () => {
    if (lines.length > 0) segments.push(segmentOf(lines));
    lines = [];
    chars = 0;
  };
  for (const line of linesOf(entries, limits)) {
    const isFull = chars + line.text.length > limits.chars_max;
    const isPause = line.by === "user" && chars > limits.chars_max / 2;
    if (isFull || isPause || (lines[0] !== undefined && lines[0].entry.project !== line.entry.project)) close();
    lines.push(line);
    chars += line.text.length;
  }
  close();
  return segments;
}

/** Half the limits, for a segment that is too long for a model; undefined where they would become too small. */
export function narrower({ chars_max, text_chars_max }: SegmentLimits): SegmentLimits | undefined {
  if (chars_max < 2 * CHARS_LEAST) return undefined;
  return {
    chars_max: Math.floor(chars_max / 2),
    text_chars_max: Math.max(CHARS_LEAST, Math.floor(text_chars_max / 2)),
  };
}

function* linesOf(entries: readonly QuotedEntry[], limits: SegmentLimits): Generator<Line> {
  for (const entry of entries) {
    for (const { by, text } of entry.said) {
      if (text.trim() === "") continue;
      yield { entry, by, text: shortened(text, Math.min(limits.text_chars_max, limits.chars_max)) };
    }
  }
}

/** The beginning and the end of a text, with a note of how much was left out. */
function shortened(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const half = Math.floor(charsMax / 2);
  const [begin, end] = [text.slice(0, half), text.slice(text.length - half)];
  return `${begin}\n[… ${text.length - 2 * half} characters left out …]\n${end}`;
}

function segmentOf(lines: readonly Line[]): Segment {
  const { entry } = itemAt(lines, 0);
  // A digest has no words of a system: these are notes of the rules.
  const shown = lines.map(({ by, text }, at) => `[${at + 1}] ${by === "system" ? "note" : by}: ${text}`);
  return {
    session_id: entry.session_id,
    project: entry.project,
    entries: [...new Set(lines.map((line) => line.entry))],
    entryIds: lines.map((line) => line.entry.entry_id),
    text: ["BEGIN", ...shown, "END"].join("\n"),
  };
}
