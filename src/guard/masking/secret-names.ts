// Whether a name is that of a password, of a token, or of neither.
import { itemAt } from "../../model/item-at.js";
import type { ValueKind } from "./plausible-values.js";

const PASSWORD = new Set(
  (
    "password passwd pwd pass passphrase passcode psk passwort passe kennwort pw psw passwrd pswd mdp senha contraseña contrasena " +
    "wachtwoord hasło haslo lösenord losenord parola şifre sifre пароль 密码 密碼 口令 パスワード 비밀번호"
  ).split(" "),
);
const TOKEN = new Set(
  "secret token apikey credential credentials creds cred auth pat secretkey accesskey privatekey bearer".split(" "),
);
/** Written as one word with a prefix: `dbpassword`, `accesstoken`. */
const ENDING = /(?:password|passwd|passphrase|pwd|pass)$/;
const TOKEN_ENDING =
  /(?:secret|token|apikey|secretkey|accesskey|privatekey|authkey|signingkey|encryptionkey|sharedkey|accountkey|subscriptionkey|apitoken)$/;
/** Names of transports for passwords. */
const NO_PASS_OF = new Set(
  "first second third single two multi last final next render forward backward one each per".split(" "),
);
const HEADER = /authorization$|cookie$/i;
const NAMES_MAX = 4096;
const NAME_CHARS_MAX = 64;
const NO_PASSWORD = new Set(["compass", "bypass", "encompass", "trespass", "surpass", "overpass", "underpass"]);
/** Names that are secret: one of these words and `key`. */
const KEY_OF = new Set(
  (
    "api access secret private encryption encrypt decryption signing sign signature account auth authentication master subscription " +
    "license licence session shared service webhook hmac aes rsa jwt crypto cipher app application consumer client server " +
    "admin root bot vault unseal recovery ingest ingestion write deploy deployment preshared psk wallet functions function " +
    "integration storage validation machine openai anthropic stripe cohere mistral gemini google azure aws " +
    "datadog dd algolia twilio sendgrid mailgun"
  ).split(" "),
);
/** Keys that name or identify something; in capitals, any other `…_KEY=` counts as secret. */
const NO_KEY_OF = new Set(
  (
    "public pub publishable primary foreign cache sort partition hash range idempotency routing group dedup surrogate hot host object " +
    "row index unique composite natural bucket schema sequence storage translation i18n message map lookup query known site react " +
    "config settings local event metric feature flag lock redis item data shift control meta alt escape arrow any " +
    "space tab delete return home end page next previous prev"
  ).split(" "),
);
/** After these words a token is not a secret but a cursor, a part of a text or a count. */
const NO_TOKEN_OF = new Set(
  (
    "next page continuation sync max min total prompt completion input output cached reasoning num number count special eos bos pad " +
    "unk sep cls mask stop start end first last syntax lexer parser design color colour theme cancellation cancel cursor " +
    "resume delta previous prev public publishable unexpected expected current image text audio per tokens"
  ).split(" "),
);
/** Properties of a secret, which are not secret: `password_length`, `secretName`, `tokenUrl`. */
const ABOUT = new Set(
  (
    "count counts length len size type types name names id ids url uri path paths file files dir folder field fields label hint prompt policy " +
    "expiry expires expiration exp expire ttl age limit limits max min usage used budget index format header headers regex pattern placeholder error errors message reset " +
    "strength version ref refs reference arn enabled enable disabled required provider providers store storage manager service endpoint scope scopes " +
    "status state at timestamp created updated rotation rotate visible show input rule rules algorithm alg class style param params " +
    "prefix suffix stdin env var variable variables source location manager mode method kind audience issuer info alias help text title " +
    "description icon button link form page view screen component schema validator validation minlength maxlength match mismatch confirmation confirm verification again " +
    "changed change update attempts attempt tries history bucket encoder encoding decoder generator factory cache pool bytes char chars " +
    "estimate estimated cost costs price rate per ratio window totals total sum position positions offset"
  ).split(" "),
);

/** A bounded cache of names; most recur. */
export class NameMemory<T> {
  readonly #learn: (name: string) => T;
  readonly #known = new Map<string, T>();

  constructor(learn: (name: string) => T) {
    this.#learn = learn;
  }

  about(name: string): T {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const learnt = this.#learn(name);
    if (name.length > NAME_CHARS_MAX) return learnt;
    if (this.#known.size >= NAMES_MAX) this.#known.clear();
    this.#known.set(name, learnt);
    return learnt;
  }
}

/** What the value of this name is: a secret of some kind, a container of secrets and other things, or neither. */
export type NameKind = ValueKind | "header" | "none";

export function kindOfName(name: string): NameKind {
  if (name.length > NAME_CHARS_MAX) return "none";
  return HEADER.test(name) ? "header" : (valueKindOf(name) ?? "none");
}

function valueKindOf(name: string): ValueKind | undefined {
  const words = wordsOf(name);
  for (let at = words.length - 1; at >= 0; at -= 1) {
    const kind = kindAt(words, at, name);
    if (kind === undefined) continue;
    return words.slice(at + 1).some((word) => ABOUT.has(word)) ? undefined : kind;
  }
  return undefined;
}

function kindAt(words: readonly string[], at: number, name: string): ValueKind | undefined {
  const word = itemAt(words, at);
  const before = words[at - 1] ?? "";
  // The word of test runners, unless lower-case letters or another word say more.
  if (word === "pass" && words.length === 1 && name !== "pass") return undefined;
  if (word === "pass" && NO_PASS_OF.has(before)) return undefined;
  if (PASSWORD.has(word) || ENDING.test(word)) return NO_PASSWORD.has(word) ? undefined : "password";
  if (word === "token" || word === "auth") return NO_TOKEN_OF.has(before) ? undefined : "token";
  if (TOKEN.has(word) || TOKEN_ENDING.test(word)) return before === "public" ? undefined : "token";
  return word === "key" && isSecretKey(before, name) ? "token" : undefined;
}

function isSecretKey(before: string, name: string): boolean {
  if (KEY_OF.has(before) || /^--?key$/.test(name)) return true;
  return before !== "" && /^[A-Z][A-Z0-9_]*_KEY(?:_[A-Z0-9]+)?$/.test(name) && !NO_KEY_OF.has(before);
}

/** The words of a name in any spelling, in lower case: `dbPassword`, `DB_PASSWORD`, `db-password`, `db.password`. */
function wordsOf(name: string): readonly string[] {
  const parted = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z])([A-Z][a-z])/g, "$1 $2");
  return parted
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}
