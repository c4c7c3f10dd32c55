// The form of a rule for tokens, and what may precede a token.

export interface TokenRule {
  /** What the marker says. */
  readonly rule: string;
  /** Every such token contains one of these literals; text without them is not examined further. */
  readonly anchors: readonly string[];
  /** How many characters before the literal the shape starts. */
  readonly back?: number;
  /** Recognised by its context, not by itself: another rule that matches the token takes precedence. */
  readonly isContextual?: true;
  /** Whether what was found looks like a secret; without it, the shape alone tells. */
  readonly accepts?: (secret: string) => boolean;
  /** What must hold where the shape starts, unless another token reaches there: behind that one any token may begin. */
  readonly left?: RegExp | undefined;
  /**
   * The shape, starting at the anchor. The secret is all of it, or the group `secret` (`quoted`, `single`, `wide`), which stands at
   * its end, or the group `before`, which stands before the anchor.
   *
   * It must fail within a bounded number of steps or consume what it looked at: only so is a hostile text scanned in
   * linear time. A long repetition therefore stands at the end, or behind `START` in the shape itself.
   */
  readonly shape: RegExp;
}

/** Longer repetitions are cut here and the rest is taken from the run: the engine's stack does not hold millions. */
export const RUN_CHARS_MAX = 16_384;

const HEX = "[0-9A-Fa-f]";
/** Escapes of JSON, addresses and terminals end a word although they end with a letter or a digit. */
export const ESCAPE = [
  `(?<=%(?:25){0,3}${HEX}{2})`,
  String.raw`(?<=\\(?:[bfnrt]|x${HEX}{2}|u${HEX}{4}))`,
  String.raw`(?<=\[[0-9;]{0,12}m)`,
].join("|");
/** Near the beginning of a run of token characters, for shapes that look at more than they consume. */
export const START = String.raw`(?:(?<![\w-])|(?<=(?<![\w-])[\w-]{0,63}[_-])|${ESCAPE})`;
/** Not in the middle of a word, though after a joint: `proj-` and `x_` often stand before a token. */
export const joint = leftOf("(?<![A-Za-z0-9])");
export const DIGIT = "(?=[A-Za-z_-]{0,64}[0-9])";

/** The condition, or an escape that ends there. */
export function leftOf(condition: string): RegExp {
  return new RegExp(`(?:${condition}|${ESCAPE})`, "y");
}

export function shapeOf(source: string): RegExp {
  const flags = source.includes("(?<before>") ? "dy" : "y";
  return new RegExp(source.replaceAll(",}", `,${RUN_CHARS_MAX}}`), flags);
}
