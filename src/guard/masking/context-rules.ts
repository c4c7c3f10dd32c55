// Secrets that are recognised by their context: URLs, headers, commands, configuration files. One row per context.
import { isPlausible, isRandom } from "./plausible-values.js";
import { shapeOf, type TokenRule } from "./token-shape.js";

type PlaceRow = readonly [
  rule: string,
  anchors: readonly string[],
  shape: string,
  accepts: (secret: string) => boolean,
];

const QUOTES = String.raw`\\{0,7}["'\x60]?`;
/** Between a name and its value: `KEY=`, `key: "`, `"key", "` and the same inside a JSON string. */
const ASSIGNED = String.raw`${QUOTES}\]?\s{0,4}(?:=>|:=|=|:|,)\s{0,4}${QUOTES}`;
/** The rest of a command up to an option, including continued lines. */
const OPTIONS = String.raw`(?:[^\n|;&]|\\\r?\n|&(?!&)){0,240}?\s`;
/** A word of a command, quoted or not. */
const ARGUMENT = String.raw`(?:"(?<quoted>[^"\n]{1,128})(?=")|'(?<single>[^'\n]{1,128})(?=')|(?<secret>[^\s"'\x60|;&<>()]{1,128}))`;
/** The part after the colon of `user:password`. */
const LOGIN = String.raw`(?:"[^"\s:]{0,64}:(?<quoted>[^"\n]{1,128})(?=")|'[^'\s:]{0,64}:(?<single>[^'\n]{1,128})(?=')|[^\s"':]{1,64}:["']?(?<secret>[^\s"'\x60|;&<>()]{1,128}))`;
const USER = String.raw`[^\s/?#@:"'<>\\]`;
/** Schemes whose addresses have no user, and in which a colon and an at sign have another meaning. */
const NO_LOGIN = String.raw`(?<!\b(?:s3a?|gs|docker|oci|npm|jsr|pkg|urn|file|dir|containers-storage|docker-daemon)://${USER}{0,128}:)`;
/** An image may be named with its tag and digest. */
const HOST = String.raw`(?=@(?!sha\d)[\w[])`;

const password = (secret: string): boolean => isPlausible(secret, "password", true);
/** Of an option; one with spaces was in quotes. */
const mixed = (secret: string): boolean => isPlausible(secret, "password", secret.includes(" "));
const token = (secret: string): boolean => isPlausible(secret, "token", true);
const long = (secret: string): boolean => secret.length >= 16 && token(secret);
/** Any password except placeholders: in a URL nothing else can be there. */
const any = (secret: string): boolean => !/^[$<{[*]|^%s|\$\{|\{\{|^x+$/i.test(secret);
const basic = (secret: string): boolean =>
  /^[!-9;-~]{0,128}:[ -~]+$/.test(Buffer.from(secret, "base64").toString("latin1"));
const header = (secret: string): boolean => basic(secret) || (isRandom(secret, 8) && token(secret));

const places: readonly PlaceRow[] = [
  // A password may contain what a URL should have encoded; a number before a slash is a port.
  [
    "url_password",
    ["://"],
    String.raw`://${USER}{0,128}:${NO_LOGIN}(?:(?<secret>[^\s/?#"'<>\\]{1,256})${HOST}|(?<!\[:)(?!\d{1,5}[/?#])(?<wide>[^\s"'<>\\]{1,128})${HOST}(?=@[\w.-]{1,128}(?::\d{1,5})?(?:[/?,\s"']|$)))`,
    any,
  ],
  ["url_token", ["://"], String.raw`://(?![0-9a-f]{32}@[\w.-]{1,128}/\d)(?<secret>[\w.~%-]{16,255})(?=@[\w[])`, token],
  ["url_password", ["@tcp(", "@unix("], String.raw`(?<=[\w.-]:(?<before>[^\s:@"'/]{1,128}))@`, any],
  ["url_password", [":thin:"], String.raw`:thin:[\w.-]{1,64}/(?<secret>[^\s@"'/]{1,128})(?=@)`, any],
  [
    "url_token",
    ["?key=", "&key=", "?code=", "&code=", "?auth=", "&auth=", "?sig=", "&sig=", ";sig=", "?k=", "&k="],
    String.raw`.[a-z]{1,4}=(?<secret>[\w.~%+/=-]{16,1024})`,
    long,
  ],
  ["url_token", ["ignature="], String.raw`ignature=(?<secret>[\w.~%+/=-]{16,1024})`, long],
  [
    "authorization",
    ["uthorization", "UTHORIZATION"],
    String.raw`\w{12}${ASSIGNED}(?:[A-Za-z][\w-]{2,23} {1,4})?(?<secret>[\w.~+/=:@%!$&*-]{8,})`,
    header,
  ],
  [
    "authorization",
    ["igest username="],
    String.raw`igest username=[^\r\n]{0,240}?response=\\{0,3}"(?<secret>[0-9a-f]{32,64})`,
    token,
  ],
  ["bearer_token", ["Bearer ", "bearer ", "BEARER "], String.raw`\w{6} {1,4}(?<secret>[\w.~+/=-]{16,})`, token],
  ["basic_credentials", ["asic ", "ASIC "], String.raw`\w{4} {1,4}(?<secret>[A-Za-z0-9+/=]{12,})(?![\w-])`, basic],
  [
    "command_password",
    ["curl ", "wget ", "http "],
    String.raw`\w{4}${OPTIONS}(?:-u|--user|-U|--proxy-user|-a|--auth)[ =]{0,8}${LOGIN}`,
    mixed,
  ],
  [
    "command_password",
    ["curl "],
    String.raw`curl${OPTIONS}(?:-u|--user)[ =]{0,8}["']?(?<secret>[^\s:"']{12,128})(?=:["']?(?:\s|$))`,
    token,
  ],
  [
    "command_password",
    ["mysql", "mariadb", "7z "],
    String.raw`\w{2,7}${OPTIONS}-p(?:'(?<single>[^'\n]{1,128})(?=')|"(?<quoted>[^"\n]{1,128})(?=")|(?<secret>[^\s"'\x60|;&<>()]{1,128}))`,
    mixed,
  ],
  [
    "command_password",
    ["sshpass", "login ", "mongosh ", "ldapsearch "],
    String.raw`\w{5,10}${OPTIONS}-[pw] ?${ARGUMENT}`,
    mixed,
  ],
  ["command_password", ["openssl "], `openssl${OPTIONS}-k ?${ARGUMENT}`, mixed],
  ["command_password", ["ssh-keygen"], `ssh-keygen${OPTIONS}-[NP] ?${ARGUMENT}`, mixed],
  [
    "command_password",
    ["--password-stdin", "--with-token", "login --stdin"],
    String.raw`(?<=echo (?:-n )?["']?(?<before>[^\s"'|$]{4,256})["']? {0,2}\|[^|\n]{0,80})[l-]`,
    mixed,
  ],
  [
    "assigned_secret",
    ["jwt.sign(", "jwt.verify(", "jwt.encode(", "jwt.decode("],
    String.raw`jwt\.\w{4,6}\([^()\n]{1,80},\s{0,4}["'](?<secret>[^"'\n]{4,256})(?=["'])`,
    mixed,
  ],
  ["command_password", ["redis-cli"], `redis-cli${OPTIONS}-a ?${ARGUMENT}`, mixed],
  ["command_password", ["sqlcmd", "unzip -"], String.raw`\w{5,6}${OPTIONS}-P ?${ARGUMENT}`, mixed],
  [
    "command_password",
    ["smbclient"],
    String.raw`smbclient${OPTIONS}-U ?["']?[^\s%"']{1,64}%(?<secret>[^\s"']{1,128})`,
    mixed,
  ],
  [
    "command_password",
    ["chpasswd"],
    String.raw`(?<=:(?<before>[^\s:"']{4,128})["']? {0,2}\| {0,2}(?:sudo )?)chpasswd`,
    mixed,
  ],
  ["command_password", ["pass:"], String.raw`pass:(?<secret>[^\s"'\x60|;&<>()]{4,128})`, mixed],
  [
    "netrc_password",
    ["login ", "login\t"],
    String.raw`login[ \t]{1,8}\S{1,128}\s{1,40}pass(?:word|wd)[ \t]{1,8}(?<secret>\S{1,256})`,
    mixed,
  ],
  [
    "pgpass_password",
    [":5432:", ":6432:", ":*:"],
    String.raw`:[\d*]{1,5}:[^\s:]{1,64}:[^\s:]{1,64}:(?<secret>[^\s"'\\]{1,128})`,
    mixed,
  ],
  [
    "sql_password",
    ["ENTIFIED BY"],
    String.raw`[A-Za-z]{8} [A-Za-z]{2} (?:PASSWORD )?\\{0,3}["'](?<secret>[^"'\n\\]{1,128})`,
    password,
  ],
  [
    "assigned_secret",
    ["auth=(", "auth = (", "BasicAuth(", "asic_auth(", "login(", "Login(", "uthenticate("],
    String.raw`[\w =]{4,11}\(\s{0,4}["'][^"'\n]{0,64}["'],\s{0,4}["'](?<secret>[^"'\n]{1,128})`,
    mixed,
  ],
  [
    "json_web_key",
    ['"d"', '"k"', '"d\\', '"k\\'],
    String.raw`"[dk]${QUOTES}\s{0,4}:\s{0,4}${QUOTES}(?<secret>[\w-]{40,1024}(?:${QUOTES},\s{0,8}${QUOTES}(?:p|q|dp|dq|qi)${QUOTES}\s{0,4}:\s{0,4}${QUOTES}[\w-]{40,1024}){0,5})`,
    (secret) => /[a-z]/.test(secret) && /[A-Z]/.test(secret) && isRandom(secret),
  ],
  [
    "password_hash",
    ["$1$", "$5$", "$6$", "$y$", "$apr1$"],
    String.raw`\$\w{1,4}\$[\w./=$,]{1,40}\$[\w./]{20,128}`,
    () => true,
  ],
  ["password_hash", ["$2a$", "$2b$", "$2y$"], String.raw`\$2[aby]\$\d\d\$[\w./]{53}`, () => true],
  ["password_hash", ["$argon2", "$scrypt$", "$pbkdf2"], String.raw`\$[\w-]{6,16}\$[\w=,.$+/-]{20,256}`, () => true],
  ["password_hash", ["pbkdf2_sha", "pbkdf2:sha"], String.raw`pbkdf2[_:]sha\d{1,3}[:$][\w=,.$+/-]{20,256}`, () => true],
  [
    "seed_phrase",
    ["nemonic", "NEMONIC", "eed phrase", "EED_PHRASE", "eedPhrase", "eed_phrase", "ecovery phrase"],
    `[A-Za-z_ ]{7,14}${ASSIGNED}(?<secret>(?:[a-z]{3,8} ){11,23}[a-z]{3,8})`,
    () => true,
  ],
  [
    "putty_key",
    ["Private-Lines: "],
    String.raw`Private-Lines: \d{1,3}\r?\n(?<secret>(?:[A-Za-z0-9+/=]{1,76}\r?\n){0,99}[A-Za-z0-9+/=]{1,76})`,
    () => true,
  ],
];

export const contextRules: readonly TokenRule[] = places.map(([rule, anchors, shape, accepts]) => ({
  rule,
  anchors,
  shape: shapeOf(shape),
  accepts,
  isContextual: true,
}));
