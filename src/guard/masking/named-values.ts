// Secrets that are recognised by their name: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, `<password>…`.
//
// A word such as `password` leads here. A separator must follow it, the whole name must be that of a secret, and the value
// must look like one.
import { isPlausible, type ValueKind } from "./plausible-values.js";
import type { NameKind, NameMemory } from "./secret-names.js";

/** A quote in plain text, in JSON within JSON, in HTML and in a URL. */
const QUOTE = String.raw`(?:\\{0,7}["'\x60]|&quot;|&#34;|%22|\\u0022|[“”„])`;
const CLOSED = String.raw`(?:${QUOTE}|\*\*|__)?\]?`;
/** An addition to a name before its value: `password for root:`, `API key (prod) =`. */
const OF = String.raw`(?: (?:for|of|on)(?: [\w.@-]{1,40}){1,3}?| ?\([^()\n]{1,24}\))?`;
const BLANKS = String.raw`[ \t\u00a0]{0,40}`;
const TYPE = String.raw`(?:const |readonly |&(?:'static )?)?(?:[Ss]tring|str|String\??|char ?\*|Final\[str\]|Optional\[str\])`;

/** What may separate a name from its value. */
const separators = {
  /** `password: string = "…"` */
  typed: String.raw`\??: ?${TYPE} ?= ?`,
  /** `password: |` and the value on the next line */
  block: String.raw`${CLOSED}:[ \t]{1,4}[|>][+-]?[ \t]{0,4}\r?\n[ \t]{1,40}`,
  /** `key="password" value="…"`, `{"name":"password","value":"…"}`, and the same in YAML */
  valued: String.raw`${QUOTE}?\s{0,40}(?:,?\s{0,40}${QUOTE}?[vV]alue${QUOTE}?\s{0,4}[=:]\s{0,4}|/?>\s{0,40}<[vV]alue>)`,
  /** `password=…`, `"password": "…"`, `'password' => '…'` */
  assigned: String.raw`${CLOSED}${OF}${BLANKS}(?:=>|:=|={1,3}|[:：](?!:)|%3[ADad]|\]=)(?:\*\*)?${BLANKS}(?:\r?\n[ \t]{0,40}(?=${QUOTE}))?`,
  /** `"password", "…"`, `:password, "…"` */
  paired: String.raw`(?:${QUOTE}|(?<=:[\w-]{1,40}))\s{0,4},\s{0,40}(?=${QUOTE})`,
  /** `<password>…` */
  enclosed: String.raw`>(?=[^<\s])`,
  /** `setPassword("…")` */
  called: String.raw`\(\s{0,4}@?(?=${QUOTE})`,
  /** `| password | … |` */
  tabled: String.raw`${CLOSED} {0,20}\| {0,4}`,
  /** `the password is …`, `密码是…` */
  said: `(?:${OF} (?:is|was|ist|est|es|to|será|é)(?: now)?:? |[是为為])`,
  /** `--password …`, `ENV TOKEN …`, `PASSWORD '…'` */
  spaced: String.raw`[ \t]{1,8}`,
};
const SEPARATOR = new RegExp(
  Object.entries(separators)
    .map(([name, source]) => `(?<${name}>${source})`)
    .join("|"),
  "y",
);
type Separator = keyof typeof separators;
const separatorNames = Object.keys(separators) as readonly Separator[];
/** The first characters of a separator. */
const MAY_SEPARATE = /[\s"'\x60=:：[\]>*,(|\\%&?“”是为為]/;

/** The rest of a name after the word: `_PROD`, `Key`, `-2`. */
const NAME_REST = /[\w-]{0,40}/y;
const NAME_CHARS_MAX = 64;
const isNameChar = Uint8Array.from({ length: 128 }, (_, code) => (/[\w.-]/.test(String.fromCharCode(code)) ? 1 : 0));
const [SMALL_A, SMALL_Z] = [97, 122];
/** This much of a value is judged; a longer one is masked to its end. */
const VALUE_CHARS_MAX = 128;
const QUOTED_CHARS_MAX = 1024;
const LINE = /^[^\r\n]*/;
const OPENED = new RegExp(`(?:[bru@$]{0,2}(?=["']))?(?<quote>${QUOTE})`, "y");
const SCHEME = /(?:Bearer|Basic|Token|bearer|basic|token) /y;
/** Characters that end a value in a URL, in a list of settings, in a table. */
const BARE = new RegExp(
  String.raw`(?:[^\s"'\x60,;<>()[\]{}|&\\“”\u3000-\u9fff\uac00-\ud7af\uff00-\uffef]|&(?![\w.-]{1,40}=|amp;|quot;|#)|,(?![\s"']|[\w.-]{1,40}[=:]|$)){1,${VALUE_CHARS_MAX}}`,
  "y",
);

export interface Range {
  readonly start: number;
  readonly end: number;
}

interface Value extends Range {
  readonly isQuoted: boolean;
}

/** Not part of a longer word: tokens, passwords, secretary. */
export function isWholeWord(text: string, at: number, anchor: string): boolean {
  const next = text.charCodeAt(at + anchor.length);
  return !(next >= SMALL_A && next <= SMALL_Z) || /\W$/.test(anchor);
}

/** The secret whose name contains the word at this place. */
export function namedSecret(names: NameMemory<NameKind>, text: string, at: number, anchor: string): Range | undefined {
  const wordEnd = at + (wordCharsByAnchor.get(anchor) as number);
  const nameEnd = endOf(NAME_REST, text, wordEnd);
  if (!MAY_SEPARATE.test(text[nameEnd] ?? "")) return undefined;
  const start = nameStart(text, at);
  const kind = names.about(text.slice(start, nameEnd));
  if (kind === "none" || kind === "header") return undefined;
  SEPARATOR.lastIndex = nameEnd;
  const match = SEPARATOR.exec(text);
  if (match === null) return undefined;
  const value = valueAt(text, SEPARATOR.lastIndex);
  if (value === undefined) return undefined;
  return isSecret(text, { start, separator: separatorOf(match), value, kind })
    ? { start: value.start, end: wholeEnd(text, value) }
    : undefined;
}

function separatorOf(match: RegExpExecArray): Separator {
  return separatorNames.find((name) => match.groups?.[name] !== undefined) as Separator;
}

interface Candidate {
  /** Where the name starts. */
  readonly start: number;
  readonly separator: Separator;
  readonly value: Value;
  readonly kind: ValueKind;
}

function isSecret(text: string, { start, separator, value, kind }: Candidate): boolean {
  const given = text.slice(value.start, value.end);
  const { isQuoted } = value;
  // A call or a lookup is not a value: `getToken2(`, `tokens[`. Neither is a truncated one.
  if (!isQuoted && /[([{]/.test(text[value.end] ?? "")) return false;
  if (text.startsWith("...", value.end) || text[value.end] === "…") return false;
  switch (separator) {
    case "typed":
    case "block":
    case "valued":
      return isPlausible(given, kind, true);
    case "assigned":
      return isPlausible(given, kind, isQuoted || isSetting(text, value));
    case "enclosed":
      return text[start - 1] === "<" && isPlausible(given, kind, true);
    case "paired":
      return text[start - 1] !== "/" && /^[^\s"'[\](){}]+$/.test(given) && isTelling(given, kind, isQuoted);
    case "called":
    case "tabled":
    case "said":
      return isTelling(given, kind, isQuoted);
    case "spaced":
      return isSpaced(text, start, value, kind);
  }
}

/** `NAME=value` and nothing else, as in settings files. */
function isSetting(text: string, { start, end }: Value): boolean {
  const isAlone = /^[\s;&]?$/.test(text[end] ?? "");
  return (
    isAlone &&
    (text[start - 1] === "=" ||
      (/^[\r\n]?$/.test(text[end] ?? "") &&
        /\n[ \t]*[\w.-]+: $|^[\w.-]+: $/.test(text.slice(Math.max(0, start - 64), start))))
  );
}

/** If the context says less, the value has to look more like a secret. */
function isTelling(given: string, kind: ValueKind, isQuoted: boolean): boolean {
  return isPlausible(given, kind, isQuoted) && (kind === "token" || !/^[a-z]+$|^\d+$/i.test(given));
}

function isSpaced(text: string, start: number, { start: valueStart, end, isQuoted }: Value, kind: ValueKind): boolean {
  const given = text.slice(valueStart, end);
  if (given.startsWith("-")) return false;
  const isFlag = text[start - 1] === "-" || text[start] === "-";
  if (isFlag || isQuoted) return isTelling(given, kind, isQuoted);
  return given.length >= 20 && isPlausible(given, "token", false);
}

function nameStart(text: string, at: number): number {
  const first = Math.max(0, at - NAME_CHARS_MAX);
  let start = at;
  while (start > first && isNameChar[text.charCodeAt(start - 1)] === 1) start -= 1;
  return start;
}

/** The value that starts here, in quotes or bare. */
function valueAt(text: string, at: number): Value | undefined {
  OPENED.lastIndex = at;
  const opened = OPENED.exec(text);
  if (opened !== null) {
    const start = endOf(SCHEME, text, OPENED.lastIndex);
    const end = closingQuote(text, start, opened.groups?.quote as string);
    if (end !== undefined) return end > start ? { start, end, isQuoted: true } : undefined;
  }
  const start = endOf(SCHEME, text, opened === null ? at : OPENED.lastIndex);
  const end = trimmed(text, start, endOf(BARE, text, start));
  return end > start ? { start, end, isQuoted: false } : undefined;
}

/** The closing quote, on the same line. */
function closingQuote(text: string, start: number, quote: string): number | undefined {
  const closing = quote === "“" || quote === "„" ? "”" : quote;
  const line = LINE.exec(text.slice(start, start + QUOTED_CHARS_MAX))?.[0] ?? "";
  let length = line.indexOf(closing);
  // One that is escaped is part of the value.
  while (length > 0 && line[length - 1] === "\\" && !closing.startsWith("\\"))
    length = line.indexOf(closing, length + 1);
  return length === -1 ? undefined : start + length;
}

function wholeEnd(text: string, { start, end, isQuoted }: Value): number {
  let reached = end;
  if (isQuoted || end - start < VALUE_CHARS_MAX) return reached;
  for (BARE.lastIndex = end; BARE.test(text); ) reached = BARE.lastIndex;
  return reached;
}

/** Without the full stop of a sentence. */
function trimmed(text: string, start: number, end: number): number {
  let last = end;
  while (last > start && /[.,:?]/.test(text.charAt(last - 1))) last -= 1;
  return last;
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

const SEPARATING = ["=", ":", '"', "'", " =", " :", "\\", ">", "*"];

/** Words that names of secrets contain; those that are part of many other words need one of the given followers. */
const words: readonly (readonly [words: readonly string[], followed?: readonly string[]])[] = [
  [["assword", "asswd", "assphrase", "asswort", "ennwort", "ecret", "oken", "pwd"].flatMap(inCapitalsToo)],
  [["Pwd"]],
  [
    [
      "pass",
      "_PASS",
      "Pass",
      "redential",
      "redentials",
      "REDENTIAL",
      "REDENTIALS",
      "creds",
      "CREDS",
      "trasena",
      "_pw",
      "_PW",
      "-pw",
      "psk",
      "PSK",
    ],
    SEPARATING,
  ],
  [["_PAT", "_AUTH", "_auth", '"auth', "'auth", " auth"], SEPARATING],
  [
    ["pw", "Pw", "PW"],
    [":", "="],
  ],
  [["storepass", "keypass"], [" "]],
  [
    ["_key", "-key", "Key", "_KEY", "-KEY", "-Key", " key", " Key", " KEY", ".key", "apikey", "APIKEY", "secretkey"],
    [...SEPARATING, " "],
  ],
  [["traseña", "ot de passe", "achtwoord", "senha", "Senha", "ароль", "パスワード", "비밀번호"]],
  [
    ["密码", "密碼", "口令"],
    [":", "：", "是", "为", "為", "=", " "],
  ],
];

const wordCharsByAnchor = new Map(
  words.flatMap(([list, followed = [""]]) =>
    list.flatMap((word) => followed.map((next): [string, number] => [word + next, word.length])),
  ),
);

export const nameAnchors: readonly string[] = [...wordCharsByAnchor.keys()];

function inCapitalsToo(word: string): readonly string[] {
  return [word, word.toUpperCase()];
}
