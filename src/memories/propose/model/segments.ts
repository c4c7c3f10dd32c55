// A session in pieces that a model can read: numbered texts with their speakers, each piece within a bound.
import { itemAt } from "../../../model/item-at.js";
import type { QuotedEntry, Speaker } from "../../text/quoted-entry.js";

/** Changes whenever the same session would be cut in another way, since that makes another generation. */
export const SEGMENTATION = "1";

export interface Segment {
  readonly session_id: string;
  readonly project: string;
  /** What it is made of, to be cut once more where a model cannot take it. */
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
  /** Of one piece. */
  readonly chars_max: number;
  /** Of one text in it; what is longer loses its middle. */
  readonly text_chars_max: number;
}

const CHARS_LEAST = 1_000;

export const segmentLimits: SegmentLimits = { chars_max: 24_000, text_chars_max: 4_000 };

/**
 * The pieces of a session, each of one project. A piece ends before a user speaks if it is half full by then, so that
 * question and answer stay together.
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

/** Half the limits, for a piece that a model found too long; nothing where halving would leave nothing to read. */
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
      // What a system says is given and not learned.
      if (by === "system" || text.trim() === "") continue;
      yield { entry, by, text: shortened(text, Math.min(limits.text_chars_max, limits.chars_max)) };
    }
  }
}

/** The beginning and the end of a text, which say what it is about, with a word about what lies between. */
function shortened(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const half = Math.floor(charsMax / 2);
  const [begin, end] = [text.slice(0, half), text.slice(text.length - half)];
  return `${begin}\n[… ${text.length - 2 * half} characters left out …]\n${end}`;
}

function segmentOf(lines: readonly Line[]): Segment {
  const { entry } = itemAt(lines, 0);
  const shown = lines.map(({ by, text }, at) => `[${at + 1}] ${by}: ${text}`);
  return {
    session_id: entry.session_id,
    project: entry.project,
    entries: [...new Set(lines.map((line) => line.entry))],
    entryIds: lines.map((line) => line.entry.entry_id),
    text: ["BEGIN", ...shown, "END"].join("\n"),
  };
}
