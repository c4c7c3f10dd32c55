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
  /** Whether a match looks like a secret; without it, the shape alone decides. */
  readonly accepts?: (secret: string) => boolean;
  /** A condition on what precedes the shape, unless another token ends there: any token may follow that. */
  readonly left?: RegExp | undefined;
  /**
   * The shape, starting at the anchor. The secret is all of it, or the group `secret` (`quoted`, `single`, `wide`) at
   * its end, or the group `before`, which precedes the anchor. It must fail within a bounded number of steps or consume
   * what it read: only then are hostile texts scanned in linear time. So a long repetition is at the end, or after
   * `START` in the shape itself.
   */
  readonly shape: RegExp;
}

/**
 * Longer repetitions are cut here and the rest is taken from the run: the stack of the regex engine does not hold
 * millions.
 */
export const RUN_CHARS_MAX = 16_384;

const HEX = "[0-9A-Fa-f]";
/** Escapes in JSON, URLs and terminals end a word although they end with a letter or a digit. */
export const ESCAPE = [
  `(?<=%(?:25){0,3}${HEX}{2})`,
  String.raw`(?<=\\(?:[bfnrt]|x${HEX}{2}|u${HEX}{4}))`,
  String.raw`(?<=\[[0-9;]{0,12}m)`,
].join("|");
/** Near the beginning of a run of token characters, for shapes that read more than they consume. */
export const START = String.raw`(?:(?<![\w-])|(?<=(?<![\w-])[\w-]{0,63}[_-])|${ESCAPE})`;
/** Not in the middle of a word, but allowed after a separator: `proj-` and `x_` often precede a token. */
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
