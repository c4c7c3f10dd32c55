// Texts made by program, secrets and harmless ones: names, values, quoting and places put together at random. They were
// written before the rules, and not for improving them; the labelled lists are.
import { MadeUp } from "./made-up-values.js";
import { type Sample, sampleOf } from "./sample.js";

const SEED = 20_260_101;
const EACH = 120;

type Values = (made: MadeUp) => string;
type Place = readonly [about: string, write: (secret: string, made: MadeUp) => string];

/** Recognised by their form alone, so they may be anywhere. Prefixes are put together here, so no scanner takes them for leaks. */
const tokens: readonly Values[] = [
  (m) => `gh${m.pick(["p", "o", "s", "u", "r"])}_${m.base62(36)}`,
  (m) => `github_${"pat"}_${m.base62(22)}_${m.base62(59)}`,
  (m) => `gl${"pat"}-${m.base62(20)}`,
  (m) => `xo${"xb"}-${m.digits(12)}-${m.digits(12)}-${m.base62(24)}`,
  (m) => `sk-${"ant"}-api03-${m.base64url(69)}AA`,
  (m) => `sk-${"proj"}-${m.base62(40)}T3BlbkFJ${m.base62(40)}`,
  (m) => `AI${"za"}${m.base62(35)}`,
  (m) => `hf_${m.base62(34)}`,
  (m) => `AK${"IA"}${m.chars("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)}`,
  (m) => `sk_${"live"}_${m.base62(24)}`,
  (m) => `SG${"."}${m.base62(22)}.${m.base62(43)}`,
  (m) => `np${"m_"}${m.base62(36)}`,
  (m) => `py${"pi-"}AgEIcHlwaS5vcmc${m.base62(80)}`,
  (m) => `da${"pi"}${m.hex(32)}`,
  (m) => `dop${"_v1_"}${m.hex(64)}`,
  (m) => `shp${"at_"}${m.hex(32)}`,
  (m) => `lin_${"api_"}${m.base62(40)}`,
  (m) => `nt${"n_"}${m.base62(46)}`,
  (m) => `fig${"d_"}${m.base62(40)}`,
  (m) => `gl${"sa_"}${m.base62(32)}_${m.hex(8)}`,
  (m) => `NR${"AK-"}${m.upper36(27)}`,
  (m) => `snt${"rys_"}${m.base62(64)}`,
  (m) => `dckr_${"pat_"}${m.base62(27)}`,
  (m) => `AGE-SECRET-${"KEY-1"}${m.upper36(58)}`,
  (m) => `eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ${m.base62(60)}.${m.base64url(32)}`,
  (m) => `ya${"29."}a0Af${m.base62(120)}`,
  (m) => `GOC${"SPX-"}${m.base62(28)}`,
  (m) => `tsk${"ey-auth-"}${m.base62(12)}-${m.base62(32)}`,
  (m) => `nf${"p_"}${m.base62(36)}`,
  (m) => `re${"_"}${m.base62(8)}_${m.base62(24)}`,
  (m) => `bk${"ua_"}${m.hex(40)}`,
  (m) => `sq${"u_"}${m.hex(40)}`,
];

/** Known only by their name. */
const named: readonly (readonly [names: readonly string[], Values])[] = [
  [
    ["db_password", "DB_PASSWORD", "dbPassword", "password", "Password", "MYSQL_ROOT_PASSWORD", "smtp-password"],
    (m) => m.password(),
  ],
  [
    ["passwd", "ftp_passwd", "pwd", "PGPASSWORD", "passphrase", "admin_pass", "LDAP_BIND_PASSWORD"],
    (m) => m.password(),
  ],
  [
    ["api_key", "apiKey", "API_KEY", "x-api-key", "DATADOG_API_KEY", "ApiKey", "mistral_api_key"],
    (m) => m.pick([m.hex(32), m.base62(32), m.uuid()]),
  ],
  [
    ["secret", "client_secret", "clientSecret", "JWT_SECRET", "SESSION_SECRET", "app-secret", "webhook_secret"],
    (m) => m.pick([m.base62(28), m.hex(64), m.base64(32)]),
  ],
  [
    ["token", "auth_token", "accessToken", "REFRESH_TOKEN", "bot-token", "CI_JOB_TOKEN", "X-Auth-Token"],
    (m) => m.pick([m.base62(40), m.hex(40), m.base64url(24)]),
  ],
  [
    ["secret_key", "SECRET_KEY", "encryptionKey", "ENCRYPTION_KEY", "signing_key", "private_key", "access_key"],
    (m) => m.pick([m.base64(32), m.hex(64), m.base62(40)]),
  ],
];

const namedPlaces: readonly (readonly [about: string, write: (name: string, secret: string) => string])[] = [
  ["env file", (n, s) => `HOST=db.internal\n${n}=${s}\nPORT=5432`],
  ["env file, quoted", (n, s) => `export ${n}="${s}"`],
  ["env file, single quotes", (n, s) => `${n}='${s}' ./run.sh`],
  ["YAML", (n, s) => `service:\n  user: app\n  ${n}: ${s}\n  port: 1`],
  ["YAML, quoted", (n, s) => `  ${n}: "${s}"`],
  ["JSON", (n, s) => JSON.stringify({ user: "app", [n]: s, port: 1 })],
  ["pretty JSON", (n, s) => JSON.stringify({ user: "app", [n]: s, port: 1 }, null, 2)],
  ["JSON in a JSON string", (n, s) => JSON.stringify({ body: JSON.stringify({ [n]: s }) })],
  ["TOML", (n, s) => `[auth]\n${n} = "${s}"\nretries = 3`],
  ["INI", (n, s) => `[client]\nuser = root\n${n} = ${s}\n`],
  ["properties", (n, s) => `spring.datasource.${n}=${s}`],
  ["Python", (n, s) => `client = Client(user="app", ${n}='${s}', timeout=3)`],
  ["Python dictionary", (n, s) => `conf = {'${n}': '${s}'}`],
  ["JavaScript", (n, s) => `const ${n} = '${s}';`],
  ["JavaScript template", (n, s) => `let ${n} = \`${s}\`;`],
  ["TypeScript object", (n, s) => `return connect({ host, ${n}: "${s}" });`],
  ["Go", (n, s) => `${n} := "${s}"`],
  ["Ruby", (n, s) => `config = { :${n} => "${s}" }`],
  ["PHP", (n, s) => `'${n}' => '${s}',`],
  ["Java", (n, s) => `private static final String ${n} = "${s}";`],
  ["long flag", (n, s) => `deploy --${n} ${s} --verbose`],
  ["long flag with =", (n, s) => `deploy --region eu --${n}=${s}`],
  ["query parameter", (n, s) => `GET https://api.example.org/v1/items?limit=10&${n}=${s}&page=2`],
  ["form", (n, s) => `user=app&${n}=${s}`],
  ["header", (n, s) => `curl -H '${n}: ${s}' https://api.example.org`],
  ["XML", (n, s) => `<conf><user>app</user><${n}>${s}</${n}></conf>`],
  ["Markdown", (n, s) => `- **${n}**: \`${s}\``],
  ["Docker", (n, s) => `docker run -e ${n}=${s} image:1`],
  ["Helm", (n, s) => `helm upgrade app ./chart --set auth.${n}=${s}`],
  ["PowerShell", (n, s) => `$env:${n} = "${s}"`],
  ["log line", (n, s) => `2026-01-01T00:00:00Z INFO loaded config ${n}=${s} in 3 ms`],
  ["name and value", (n, s) => `{"name":"${n}","value":"${s}"}`],
];

const tokenPlaces: readonly Place[] = [
  ["prose", (s) => `I used ${s} for the call and it worked.`],
  ["quoted prose", (s) => `The key is "${s}", please rotate it.`],
  ["bearer header", (s) => `Authorization: Bearer ${s}`],
  ["bearer header in JSON", (s) => `{"headers":{"Authorization":"Bearer ${s}"}}`],
  ["address", (s) => `https://api.example.org/?key=${s}`],
  ["user of an address", (s) => `git clone https://x-access-token:${s}@git.example.org/a/b.git`],
  ["log", (s) => `[warn] 401 for ${s} (expired)`],
  ["Markdown", (s) => `Use \`${s}\` here`],
  ["list", (s) => `["a", "${s}"]`],
  ["colours", (s) => `\u001b[1mkey\u001b[0m: \u001b[33m${s}\u001b[39m`],
  ["diff", (s) => `-OLD=1\n+NEW=${s}`],
  ["shell", (s) => `echo ${s} | login --with-stdin`],
];

const addresses: readonly Place[] = [
  [
    "database",
    (s, m) =>
      `${m.pick(["postgres", "mysql", "mongodb+srv", "amqp", "redis", "smtp"])}://app:${s}@db.example.org:5432/app`,
  ],
  ["libpq", (s) => `host=db user=app password=${s} dbname=app`],
  ["ADO", (s) => `Server=db;Database=app;User Id=sa;Password=${s};Encrypt=true`],
  ["JDBC", (s) => `jdbc:postgresql://db/app?user=app&password=${s}`],
  ["curl", (s) => `curl -u app:${s} https://example.org`],
  ["netrc", (s) => `machine example.org login app password ${s}`],
  [
    "basic header",
    (s, m) => `Authorization: Basic ⟦${Buffer.from(`app:${s.slice(1, -1)}${m.digits(3)}`).toString("base64")}⟧`,
  ],
];

/** Where something stands that only reads like a secret. */
const stands: readonly string[] = [
  ...[
    "<your-key>",
    "$TOKEN",
    `$${"{SECRET}"}`,
    "{{ vault_password }}",
    "****",
    "xxxxxxxx",
    "process.env.API_KEY",
    "null",
    "true",
  ],
  ...[
    "os.environ['TOKEN']",
    "changeme",
    "YOUR_API_KEY",
    "your-token-here",
    "<redacted>",
    `$${"{{ secrets.TOKEN }}"}`,
    "...",
  ],
  ...[
    "config.get('password')",
    "string",
    "undefined",
    "[REDACTED]",
    "example",
    "$(cat token.txt)",
    "args.token",
    "None",
  ],
];

const harmlessPlaces: readonly (readonly [about: string, write: (made: MadeUp) => string])[] = [
  ["git", (m) => `commit ${m.hex(40)}\nAuthor: A <a@example.org>`],
  ["digest", (m) => `image: app@sha256:${m.hex(64)}`],
  ["integrity", (m) => `"integrity": "sha512-${m.base64(64)}"`],
  ["id", (m) => `{"id":"${m.uuid()}","request_id":"req_${m.base62(24)}"}`],
  ["counts", (m) => `{"input_tokens":${m.digits(5)},"max_tokens":${m.digits(4)},"total_tokens":${m.digits(6)}}`],
  ["prose about tokens", (m) => `The token expired after ${m.digits(2)} minutes; ${m.digits(4)} tokens used.`],
  [
    "prose about passwords",
    (m) => `The password ${m.pick(["is wrong", "was reset", "must have 12 characters", "field is empty"])}.`,
  ],
  ["types", (m) => `interface Login { user: string; ${m.pick(["password", "token", "apiKey"])}: string }`],
  [
    "calls",
    (m) => `const token = await ${m.pick(["getToken", "auth.fetchToken", "store.readSecret"])}(user${m.digits(1)});`,
  ],
  ["image", (m) => `![x](data:image/png;base64,${m.base64(120)})`],
  ["public key", (m) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${m.base62(43)} me@host`],
  ["path", (m) => `/srv/app/${m.hex(12)}/token-${m.digits(2)}.txt`],
  ["address", (m) => `https://example.org:8443/a/${m.hex(24)}?page=${m.digits(2)}#top`],
  ["trace", (m) => `traceparent: 00-${m.hex(32)}-${m.hex(16)}-01`],
  ["etag", (m) => `ETag: "${m.hex(32)}"`],
  ["selector", (m) => `.token-${m.pick(["keyword", "string", "number"])}-${m.digits(2)} { color: #${m.hex(6)} }`],
  ["page", (m) => `"nextPageToken": "${m.base62(16)}"`],
  ["model", (m) => `"tokenizer": "cl100k_base", "vocab": ${m.digits(6)}`],
];

export const heldOutSecrets: readonly Sample[] = times(EACH, SEED, (made) => {
  const kind = made.below(10);
  if (kind < 3) {
    const [about, write] = made.pick(tokenPlaces);
    return sampleOf(`token, ${about}`, write(`⟦${made.pick(tokens)(made)}⟧`, made));
  }
  if (kind < 5) {
    const [about, write] = made.pick(addresses);
    return sampleOf(about, write(`⟦${made.base62(5)}${made.password().replaceAll(/[?#%&+]/g, "-")}⟧`, made));
  }
  const [names, values] = made.pick(named);
  const [about, write] = made.pick(namedPlaces);
  return sampleOf(about, write(made.pick(names), `⟦${values(made)}⟧`));
});

export const heldOutHarmless: readonly Sample[] = times(EACH, SEED + 1, (made) => {
  if (made.below(2) === 0) {
    const [about, write] = made.pick(harmlessPlaces);
    return sampleOf(about, write(made));
  }
  const [names] = made.pick(named);
  const [about, write] = made.pick(namedPlaces);
  return sampleOf(`${about}, nothing in it`, write(made.pick(names), made.pick(stands)));
});

function times(count: number, seed: number, make: (made: MadeUp) => Sample): readonly Sample[] {
  const made = new MadeUp(seed);
  return Array.from({ length: count }, () => make(made));
}
