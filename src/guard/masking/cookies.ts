// Cookies, in headers, in JSON and in commands: of their values those that let somebody in.

import { isRandom } from "./plausible-values.js";

export const cookieAnchors: readonly string[] = [
  ...["ookie:", "OOKIE:", 'ookie"', "ookie'", 'ookie\\"', "ookie = ", "ookies = ", "ookies={", " -b ", "--cookie "],
];

const SEPARATOR = /[Oo][Oo][Kk][Ii][Ee][Ss]?(?:\\{0,7}["'])?\s{0,4}[:=]\s{0,4}|--cookie[ =]| -b /y;
const OPENED = /\\{0,7}["']/y;
const LINE = /[^\r\n"'\\]{1,4096}/y;
const PAIR = /([\w.%-]{1,64})=([^;,\s"'\\]{6,4096})/g;
const LOGIN = /sess|sid|auth|token|jwt|login|remember|secret|csrf|xsrf/i;

export interface Cookies {
  /** The values that are secret. */
  readonly ranges: readonly (readonly [start: number, end: number])[];
  /** Through here there are no others. */
  readonly through: number;
}

/** What the cookies hold that stand here. */
export function cookiesAt(text: string, at: number): Cookies {
  SEPARATOR.lastIndex = at;
  if (!SEPARATOR.test(text)) return { ranges: [], through: at };
  const from = SEPARATOR.lastIndex;
  OPENED.lastIndex = from;
  const start = OPENED.test(text) ? OPENED.lastIndex : from;
  LINE.lastIndex = start;
  const line = LINE.exec(text)?.[0] ?? "";
  const ranges: [number, number][] = [];
  for (const { index, 0: pair, 1: name = "", 2: value = "" } of line.matchAll(PAIR)) {
    const end = start + index + pair.length;
    if (isSecret(name, value)) ranges.push([end - value.length, end]);
  }
  return { ranges, through: start + line.length };
}

function isSecret(name: string, value: string): boolean {
  return LOGIN.test(name) ? isRandom(value, 8) : value.length >= 20 && isRandom(value, 20);
}
