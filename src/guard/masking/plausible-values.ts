// Whether a value in the place of a secret is one, or a placeholder, a reference or a word.

/** Passwords are chosen by people, tokens are made by machines. */
export type ValueKind = "password" | "token";

/** A variable, a template, or an expression that is filled in or looked up elsewhere. */
const FILLED_IN = new RegExp(
  [
    String.raw`^\$\w+$|^\$\w+[:.[/]|\$[{(]|#\{|\{\{|\{%|<%|^<|>$|^\{[^{}]*\}$|\{[A-Za-z_][\w.]*\}`,
    String.raw`^%[A-Za-z_]\w*%?$|^%\(|^%[sdv]|^\[.*\]?$|^:[a-z_]\w*$|^\?+$|^@[\w.]+\(|^&\w|^\*\w+$`,
    String.raw`^(?:ENC|vault|op|arn|sm|ssm|gcp-sm|aws-sm|keyvault|azurekeyvault|secretsmanager|keyring|file|env|secretref|urn)(?::|\[)`,
    String.raw`^!\w|^[a-z][a-z0-9+.-]{1,20}:\/\/|\[masked:`,
  ].join("|"),
);
/** Characters that replace something left out. */
const BLANK = /[xX]{4}|\*{3}|\.{3}|…|•{2}|#{4}|_{4}|-{4}|^(.)\1+$|^[xX0.*_#-]+$/;
/** Words of placeholders. */
const STAND_IN =
  /your|example|placeholder|change.?(?:me|it|this)|redact|masked|dummy|sample|insert|replace|goes.?here|here$|^enter|hidden|removed|^my.?(?:password|secret|token|key|api)|^some|^fake|^foo|^bar|^none|^null|^true|^false|^undefined|^test.?(?:password|secret|token|key)/i;
const NAME = /^[\w.-]*(?:passw(?:or)?d|pwd|passphrase|secret|token|credential|key|pass|user)[\w.-]{0,24}$/i;
/** Words that occur next to passwords and tokens in prose and code. */
const WORDS = new Set(
  (
    "string str int integer number bool boolean any object text varchar char bytes required optional missing invalid valid expired wrong " +
    "incorrect empty unset unknown default disabled enabled failed failure success successful accepted rejected denied " +
    "password passwort kennwort wachtwoord passwd secret token key value admin user root guest login please none null " +
    "undefined confirmed confirmation encrypted hashed plaintext plain authenticated unauthorized forbidden revoked rotated " +
    "bearer basic digest oauth oauth2 local remote public private readonly protected internal anonymous username email " +
    "function symbol different utf8 utf16 sha1 sha256 sha512 md5 base64 ascii latin1 ipv4 ipv6 es256 rs256 hs256 ed25519 http2 " +
    "changed updated created deleted generated provided supplied specified specify configured prompt interactive identifier"
  ).split(" "),
);

/** Passwords are typed in alphabets, rarely in scripts of words or syllables. */
const OTHER_SCRIPT = /(?!\p{Script=Latin}|\p{Script=Cyrillic}|\p{Script=Greek})\p{L}/u;
/** A file path: its parts are words, unlike those of base64. */
const PATH = /^(?:~|\.{1,2})?\/[\w.@-]+(?:\/[\w.@-]*)*$|^[A-Z]:\\/;
const JOINT = /[-_.:/,;@+=?!*#&|<>()$%~^\s]+/;
/** The words and numbers of a part in camel case. */
const HUMP = /[A-Z]?[a-z]+|[A-Z]+|[0-9]+/g;
/** The minimum average length of words, in short names and in long ones. */
const [HUMP_CHARS_MIN, HUMP_CHARS_LONG_MIN, LONG_CHARS] = [3, 4, 20];

/** Whether the value is not a word, name, version or time, but letters and digits in random order. */
export function isRandom(value: string, charsMin = 8): boolean {
  if (value.length < charsMin) return false;
  let strange = 0;
  for (const part of value.split(JOINT)) if (!isWord(part)) strange += part.length;
  return strange >= Math.min(8, charsMin);
}

function isOfWords(value: string): boolean {
  return value.split(JOINT).every(isWord);
}

/** A word or several, with short numbers: `token`, `getToken2`, `OAuth2`, `user12345`; and a number alone. */
function isWord(part: string): boolean {
  if (/^(?:[0-9]*|[A-Z]?[a-z]+|[A-Z]+)$/.test(part)) return true;
  const humps = part.match(HUMP) ?? [];
  const charsMin = part.length < LONG_CHARS ? HUMP_CHARS_MIN : HUMP_CHARS_LONG_MIN;
  if (humps.length * charsMin > part.length) return /^[A-Za-z]{1,4}[0-9]{1,3}$|^v?[0-9]{1,3}[a-z]{0,2}$/.test(part);
  // Numbers stand at the end of words, or once between two of them.
  if (humps.slice(0, -1).filter((hump) => /^[0-9]/.test(hump)).length > 1) return false;
  return humps.every((hump, index) => !/^[0-9]{4}/.test(hump) || (index === humps.length - 1 && hump.length < 6));
}

/** A placeholder of a token: `glpat-xxxxxxxxxxxx`, `xoxb-your-token`. */
export function isStandIn(token: string): boolean {
  return /[xX]{8}|\*{3}|your[-_]/.test(token);
}

export function isPlausible(value: string, kind: ValueKind, isQuoted: boolean): boolean {
  if (FILLED_IN.test(value) || BLANK.test(value) || isReference(value)) return false;
  if (!isQuoted && /&&|\|\||[<>=]{2}(?!$)/.test(value)) return false;
  return kind === "token" ? isToken(value) : isPassword(value, isQuoted);
}

function isToken(value: string): boolean {
  if (/[\s\\]/.test(value) || (PATH.test(value) && !value.split("/").some((part) => part.length > 24 && !isWord(part))))
    return false;
  return isRandom(value) || isSigned(value) || (/^[a-z]{20,}$/.test(value) && !STAND_IN.test(value));
}

/** Letters, digits and punctuation as programs mix them, and not an encoded URL. */
function isSigned(value: string): boolean {
  const plain = value.replace(/%[0-9A-Fa-f]{2}/g, "");
  return (
    value.length >= 10 && /[!#$%^&*~]/.test(plain) && /[A-Z]/.test(plain) && /[a-z]/.test(plain) && /[0-9]/.test(plain)
  );
}

function isPassword(value: string, isQuoted: boolean): boolean {
  if (value.length < 4 || WORDS.has(value.toLowerCase()) || PATH.test(value) || OTHER_SCRIPT.test(value)) return false;
  if (/\s/.test(value)) return isQuoted && isPassphrase(value);
  if (isRandom(value, 12)) return true;
  if (STAND_IN.test(value) || isName(value)) return false;
  const hasLetter = /\p{L}/u.test(value);
  const hasDigit = /\d/.test(value);
  if (hasLetter && hasDigit) return !/^\d+[a-z]{1,3}$|^[vV]?\d+(?:\.\d+)+|^0x[0-9a-fA-F]{1,8}$/.test(value);
  if (/[!@#$%^&*+=?~]/.test(value)) return (hasLetter || hasDigit) && value.length >= 6 && !/^\d+%$/.test(value);
  if (!hasLetter) return /^\d{6,}$/.test(value);
  if (/^[a-z]+(?:[-_. ][a-z]+){3,}$/.test(value)) return value.length >= 20;
  return isQuoted && /^[a-z]{6,}$/.test(value);
}

/** The name of a secret in place of its value: `password1`, `dbPassword`, `my-secret-2`. */
function isName(value: string): boolean {
  if (!/^[a-z_$]|^[A-Z0-9_]+$/.test(value)) return false;
  return NAME.test(value) && isOfWords(value) && (!value.includes("-") || value.split("-").length > 2);
}

/** `settings.password2`, `this.#token`, `options?.token!`, `users.*.password`: names, joined by dots. */
function isReference(value: string): boolean {
  return /^[\w$#*]+!?(?:(?:\??\.|::|->)[\w$#*]+!?)+$/.test(value) && isOfWords(value);
}

/** A few words, at least one of them not spelt like a word; not a sentence. */
function isPassphrase(value: string): boolean {
  // The form of Google's app passwords for mail programs.
  if (/^[a-z]{4}(?: [a-z]{4}){3}$/.test(value)) return true;
  const words = value.split(/\s+/);
  if (words.length <= 4 && words.some((word) => /^\d{2,4}$/.test(word)) && /[!@#$%^&*]/.test(value)) return true;
  return (
    words.length <= 5 &&
    words.some(
      (word) =>
        /[A-Za-z]\d{1,4}[A-Za-z]|[A-Za-z][!@#$%^&*]{1,3}[A-Za-z0-9]/.test(word) ||
        /^[A-Za-z]{2,}\d{2,}$/.test(word) ||
        isRandom(word),
    )
  );
}
