// Where a setting comes from: its flag, then the environment, then hansard.config.json in the current folder.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { filesOf, isServed } from "../../engines/stores.js";
import { WrongUse } from "./failures.js";
import { readMaskValues } from "./mask-settings.js";

export interface Settings {
  /** The folder of the store, its `postgres://` address, that of a server, or `memory:`. */
  readonly data: string;
  /** As it was given with --data, which the next command needs again; undefined where it came from elsewhere. */
  readonly given_data: string | undefined;
  /** What a server is asked with, where data is the address of one. */
  readonly key?: string | undefined;
  readonly host: string;
  readonly port: number;
  /** Names that the server answers to beside its own. */
  readonly allow_host: readonly string[];
  /** Files of the certificate and its private key; both or neither. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** Requests a second of one client; undefined where nobody said. */
  readonly rate: number | undefined;
  /** Values that are masked beside well-known tokens. */
  readonly mask: readonly string[];
  /** Whether secrets are masked before they are stored. */
  readonly redact: "capture" | undefined;
  /** Path of the key that seals are signed with; the user's own where it is undefined. */
  readonly seal_key: string | undefined;
  /** Path of a file of prices; those that come with the program where it is undefined. */
  readonly prices: string | undefined;
  /** A model that proposes memories, and how many tokens it is sent in a day; nobody is asked where it is undefined. */
  readonly model: ModelSettings | undefined;
  /** Rules of what is forgotten when it is too old, as the configuration gives them; parsed where they are used. */
  readonly retention: readonly { readonly kind?: string; readonly older_than: string }[];
}

interface ModelSettings {
  readonly model:
    | { readonly url: string; readonly model: string; readonly key: string | undefined }
    | { readonly via: string };
  readonly daily_tokens: number | undefined;
}

/** Where settings are looked for; tests and embedders give their own. */
export interface Sources {
  readonly flags: { readonly [name in SettingName]?: unknown };
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
}

const CONFIG_FILE = "hansard.config.json";
const settingNames = [
  ...(["data", "key", "host", "port", "allow_host", "tls_cert", "tls_key", "rate"] as const),
  ...(["mask", "mask_file", "redact", "seal_key", "prices", "retention"] as const),
  ...(["model_url", "model", "via", "daily_tokens"] as const),
] as const;
type SettingName = (typeof settingNames)[number];

/** A value and the words that name where it was found, for the error that it may deserve. */
interface Found {
  readonly value: unknown;
  readonly origin: string;
}

export function resolveSettings(sources: Sources): Settings {
  const config = readConfig(join(sources.folder, CONFIG_FILE));
  const find = (name: SettingName): Found | undefined => {
    const flag = sources.flags[name];
    if (flag !== undefined) return { value: flag, origin: `--${name.replaceAll("_", "-")}` };
    const variable = `HANSARD_${name.toUpperCase()}`;
    const text = sources.env[variable];
    // An empty variable is how shells and containers spell "not set".
    if (text !== undefined && text !== "") return { value: text, origin: variable };
    if (config[name] !== undefined) return { value: config[name], origin: `${name} in ${CONFIG_FILE}` };
    return undefined;
  };
  return {
    data: parseData(find("data")),
    given_data: typeof sources.flags.data === "string" ? sources.flags.data : undefined,
    key: parseText(find("key")),
    host: parseText(find("host")) ?? "127.0.0.1",
    port: parsePort(find("port")),
    allow_host: parseNames(find("allow_host")),
    tls: parseTls(find("tls_cert"), find("tls_key")),
    rate: parseRate(find("rate")),
    mask: readMaskValues({ file: find("mask_file"), variable: sources.env.HANSARD_MASK, config: config.mask }),
    redact: parseRedact(find("redact")),
    seal_key: parseText(find("seal_key")),
    prices: parseText(find("prices")),
    retention: parseRetention(config.retention),
    model: parseModel(find, sources.env.HANSARD_MODEL_KEY),
  };
}

function readConfig(path: string): { readonly [name: string]: unknown } {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return {};
    throw brokenConfig(path, `cannot be read (${message})`);
  }
  const config = parseConfig(path, text);
  const unknown = Object.keys(config).find((name) => !(settingNames as readonly string[]).includes(name));
  if (unknown !== undefined) throw brokenConfig(path, `has the unknown setting ${JSON.stringify(unknown)}`);
  return config;
}

function parseConfig(path: string, text: string): { readonly [name: string]: unknown } {
  let config: unknown;
  try {
    config = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    throw brokenConfig(path, `is not valid JSON (${(error as Error).message})`);
  }
  if (typeof config === "object" && config !== null && !Array.isArray(config)) return { ...config };
  throw brokenConfig(path, "must hold a JSON object");
}

function brokenConfig(path: string, flaw: string): WrongUse {
  return new WrongUse({
    code: "config_invalid",
    message: `${path} ${flaw}`,
    hint: `Mend or remove it; it may hold ${settingNames.join(", ")}, for example {"data": "record", "port": 4747}.`,
  });
}

function parseText(found: Found | undefined): string | undefined {
  if (found === undefined) return undefined;
  if (typeof found.value === "string" && found.value.trim() !== "") return found.value;
  throw new WrongUse({ code: "setting_invalid", field: found.origin, message: `${found.origin} must be a text` });
}

/** Only the file can hold a list of rules. */
function parseRetention(value: unknown): Settings["retention"] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value as Settings["retention"];
  throw new WrongUse({
    code: "setting_invalid",
    field: `retention in ${CONFIG_FILE}`,
    message: "retention must be a list of rules",
    hint: 'For example [{"kind": "tool_call", "older_than": "90d"}].',
  });
}

function parseRedact(found: Found | undefined): "capture" | undefined {
  if (found === undefined || found.value === "capture") return found?.value as "capture" | undefined;
  const message = `${found.origin} can only be capture`;
  const hint = "It masks secrets before they are stored; without it they are masked where entries are listed.";
  throw new WrongUse({ code: "setting_invalid", field: found.origin, message, hint });
}

/** A folder or address that an option names, as `--data` would take it. */
export function resolvePlace(value: string, origin: string): string {
  return parseData({ value, origin });
}

function parseData(found: Found | undefined): string {
  const text = parseText(found);
  if (text === undefined) return join(homeFolder(), ".hansard");
  if (filesOf(text) === undefined) return text;
  if (!isServed(text)) {
    throw new WrongUse({
      code: "setting_invalid",
      field: found?.origin ?? "data",
      message:
        "the record is kept in a folder, in PostgreSQL or by a server, and this is the address of something else",
      hint: "Name a folder, for example --data ./record, postgres://user:password@host/database or https://server.",
    });
  }
  // Shells leave the tilde alone in --data=~/record and in variables; nobody means a folder of that name.
  const expanded = text === "~" || text.startsWith("~/") ? join(homeFolder(), text.slice(1)) : text;
  return resolve(expanded);
}

function homeFolder(): string {
  let home = "";
  try {
    home = homedir();
  } catch {
    // Neither HOME nor the system's list of users knows one; said below.
  }
  if (home !== "") return home;
  throw new WrongUse({
    code: "home_missing",
    field: "--data",
    message: "there is no home folder to keep the record in (HOME is not set)",
    hint: "Name a folder with --data, or set HANSARD_DATA.",
  });
}

function parsePort(found: Found | undefined): number {
  if (found === undefined) return 4747;
  const { value, origin } = found;
  const port = typeof value === "string" && /^\d{1,5}$/.test(value) ? Number(value) : value;
  if (Number.isInteger(port) && (port as number) >= 0 && (port as number) <= 65_535) return port as number;
  const message = `${origin} must be a port, a whole number from 0 to 65535`;
  throw new WrongUse({ code: "setting_invalid", field: origin, message, hint: "Port 0 chooses a free one." });
}

/** A list in the configuration, a flag given several times, or names with commas between them. */
function parseNames(found: Found | undefined): readonly string[] {
  if (found === undefined) return [];
  const values: readonly unknown[] = Array.isArray(found.value) ? found.value : [found.value];
  return values.flatMap((value) => {
    const names = typeof value === "string" ? value.split(",").map((name) => name.trim()) : [""];
    if (names.every((name) => /^[A-Za-z0-9_.:[\]-]{1,255}$/.test(name))) return names;
    const message = `${found.origin} must be a host name`;
    const hint = "Give names without scheme and port, for example --allow-host record.example.com.";
    throw new WrongUse({ code: "setting_invalid", field: found.origin, message, hint });
  });
}

function parseTls(cert: Found | undefined, key: Found | undefined): Settings["tls"] {
  const files = { cert: parseText(cert), key: parseText(key) };
  if (files.cert !== undefined && files.key !== undefined) return { cert: files.cert, key: files.key };
  const given = cert ?? key;
  if (given === undefined) return undefined;
  const message = `${given.origin} is given without its other half`;
  const hint = "HTTPS needs a certificate and its key: --tls-cert FILE --tls-key FILE.";
  throw new WrongUse({ code: "setting_invalid", field: given.origin, message, hint });
}

/** An endpoint with the name of a model, or a command; not both. */
function parseModel(
  find: (name: "model_url" | "model" | "via" | "daily_tokens") => Found | undefined,
  key: string | undefined,
): ModelSettings | undefined {
  const [url, model, via] = [parseText(find("model_url")), parseText(find("model")), parseText(find("via"))];
  const daily_tokens = parseTokens(find("daily_tokens"));
  const wrong = (field: string, message: string): WrongUse => new WrongUse({ code: "setting_invalid", field, message });
  if (via !== undefined) {
    if (url === undefined) return { model: { via }, daily_tokens };
    throw wrong(find("via")?.origin ?? "--via", "a model is asked by --via or by --model-url, and both are given");
  }
  if (url === undefined) return undefined;
  if (model === undefined) throw wrong("--model", "--model-url needs --model, the name of the model there");
  return { model: { url, model, key: key === "" ? undefined : key }, daily_tokens };
}

function parseTokens(found: Found | undefined): number | undefined {
  if (found === undefined) return undefined;
  const { value, origin } = found;
  const tokens = typeof value === "string" && /^\d{1,12}$/.test(value) ? Number(value) : value;
  if (Number.isSafeInteger(tokens) && (tokens as number) >= 0) return tokens as number;
  throw new WrongUse({ code: "setting_invalid", field: origin, message: `${origin} must be a number of tokens` });
}

const RATE_MAX = 1_000_000;

function parseRate(found: Found | undefined): number | undefined {
  if (found === undefined) return undefined;
  const { value, origin } = found;
  const rate = typeof value === "string" && /^\d{1,7}$/.test(value) ? Number(value) : value;
  if (Number.isInteger(rate) && (rate as number) >= 0 && (rate as number) <= RATE_MAX) return rate as number;
  const message = `${origin} must be a whole number of requests a second, up to ${RATE_MAX}`;
  throw new WrongUse({ code: "setting_invalid", field: origin, message, hint: "0 is no limit." });
}
