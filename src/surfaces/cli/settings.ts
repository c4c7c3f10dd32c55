// Settings come from flags, then the environment, then hansard.config.json in the current folder.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { filesOf, isServed } from "../../engines/stores.js";
import { limits } from "../../model/limits.js";
import { WrongUse } from "./failures.js";

export interface Settings {
  /** The folder of the store, its `postgres://` address, that of a server, or `memory:`. */
  readonly data: string;
  /** The value of --data, which a suggested command must repeat; undefined if it came from elsewhere. */
  readonly given_data: string | undefined;
  /** The key for the server that data names. */
  readonly key?: string | undefined;
  readonly host: string;
  readonly port: number;
  /** Further host names that the server accepts. */
  readonly allow_host: readonly string[];
  /** Files of the certificate and its private key; both or neither. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** Requests per second of one client; undefined for the default. */
  readonly rate: number | undefined;
  /** Values to mask in addition to well-known tokens. */
  readonly mask: readonly string[];
  /** Whether secrets are masked before they are stored. */
  readonly redact: "capture" | undefined;
  /** Path of the key that signs seals; undefined for the user's own. */
  readonly seal_key: string | undefined;
  /** Path of a price file; undefined for the built-in prices. */
  readonly prices: string | undefined;
  /** The model that proposes memories, and its tokens per day; undefined for none. */
  readonly model: ModelSettings | undefined;
  /** Retention rules as the configuration gives them; parsed where they are used. */
  readonly retention: readonly { readonly kind?: string; readonly older_than: string }[];
}

interface ModelSettings {
  readonly model:
    | { readonly url: string; readonly model: string; readonly key: string | undefined }
    | { readonly via: string };
  readonly daily_tokens: number | undefined;
}

/** Where to look for settings. */
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

/** A value, and where it was found, for error messages. */
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
    hint: `Fix or remove it. Allowed settings: ${settingNames.join(", ")}. Example: {"data": "record", "port": 4747}.`,
  });
}

function parseText(found: Found | undefined): string | undefined {
  if (found === undefined) return undefined;
  if (typeof found.value === "string" && found.value.trim() !== "") return found.value;
  throw new WrongUse({
    code: "setting_invalid",
    field: found.origin,
    message: `${found.origin} must be a non-empty string`,
  });
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
  const message = `${found.origin} must be "capture"`;
  const hint = "This masks secrets before they are stored. Without it, they are masked where entries are listed.";
  throw new WrongUse({ code: "setting_invalid", field: found.origin, message, hint });
}

/** A folder or address given with another option than `--data`. */
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
      message: "unsupported address: a record is in a folder, in PostgreSQL or on a server",
      hint: "Use --data ./record, postgres://user:password@host/database or https://server.",
    });
  }
  // Shells do not expand the tilde in --data=~/record and in variables.
  const expanded = text === "~" || text.startsWith("~/") ? join(homeFolder(), text.slice(1)) : text;
  return resolve(expanded);
}

function homeFolder(): string {
  let home = "";
  try {
    home = homedir();
  } catch {
    // Reported below.
  }
  if (home !== "") return home;
  throw new WrongUse({
    code: "home_missing",
    field: "--data",
    message: "no home folder for the record (HOME is not set)",
    hint: "Name a folder with --data, or set HANSARD_DATA.",
  });
}

function parsePort(found: Found | undefined): number {
  if (found === undefined) return 4747;
  const { value, origin } = found;
  const port = typeof value === "string" && /^\d{1,5}$/.test(value) ? Number(value) : value;
  if (Number.isInteger(port) && (port as number) >= 0 && (port as number) <= 65_535) return port as number;
  const message = `${origin} must be a port number from 0 to 65535`;
  throw new WrongUse({ code: "setting_invalid", field: origin, message, hint: "0 means any free port." });
}

/** A list in the configuration, a repeated flag, or names separated by commas. */
function parseNames(found: Found | undefined): readonly string[] {
  if (found === undefined) return [];
  const values: readonly unknown[] = Array.isArray(found.value) ? found.value : [found.value];
  return values.flatMap((value) => {
    const names = typeof value === "string" ? value.split(",").map((name) => name.trim()) : [""];
    if (names.every((name) => /^[A-Za-z0-9_.:[\]-]{1,255}$/.test(name))) return names;
    const message = `${found.origin} must be a host name`;
    const hint = "Give the name only, without scheme and port: --allow-host record.example.com.";
    throw new WrongUse({ code: "setting_invalid", field: found.origin, message, hint });
  });
}

function parseTls(cert: Found | undefined, key: Found | undefined): Settings["tls"] {
  const files = { cert: parseText(cert), key: parseText(key) };
  if (files.cert !== undefined && files.key !== undefined) return { cert: files.cert, key: files.key };
  const given = cert ?? key;
  if (given === undefined) return undefined;
  const message = `${given.origin} is set but ${cert === undefined ? "tls_cert" : "tls_key"} is not`;
  const hint = "HTTPS needs both: --tls-cert FILE --tls-key FILE.";
  throw new WrongUse({ code: "setting_invalid", field: given.origin, message, hint });
}

/** An endpoint with a model name, or a command; not both. */
function parseModel(
  find: (name: "model_url" | "model" | "via" | "daily_tokens") => Found | undefined,
  key: string | undefined,
): ModelSettings | undefined {
  const [url, model, via] = [parseText(find("model_url")), parseText(find("model")), parseText(find("via"))];
  const daily_tokens = parseTokens(find("daily_tokens"));
  const wrong = (field: string, message: string): WrongUse => new WrongUse({ code: "setting_invalid", field, message });
  if (via !== undefined) {
    if (url === undefined) return { model: { via }, daily_tokens };
    throw wrong(find("via")?.origin ?? "--via", "give either --via or --model-url, not both");
  }
  if (url === undefined) return undefined;
  if (model === undefined) throw wrong("--model", "--model-url needs --model, the name of the model");
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
  const message = `${origin} must be a whole number of requests per second, up to ${RATE_MAX}`;
  throw new WrongUse({ code: "setting_invalid", field: origin, message, hint: "0 means no limit." });
}

/**
 * The values to mask from a file (one per line), the environment (the same) and the configuration (a list) together. There is
 * no flag for them: every user of the machine can read the arguments of a process.
 */
function readMaskValues({
  file,
  variable,
  config,
}: {
  readonly file: Found | undefined;
  readonly variable: string | undefined;
  readonly config: unknown;
}): readonly string[] {
  const values = [
    ...(file === undefined ? [] : valuesOf(linesOf(readLines(file)), file.origin)),
    ...valuesOf(linesOf(variable ?? ""), "HANSARD_MASK"),
    ...valuesOf(config ?? [], "mask in hansard.config.json"),
  ];
  return [...new Set(values)];
}

function readLines({ value, origin }: Found): string {
  try {
    if (typeof value === "string") return readFileSync(value, "utf8");
  } catch (error) {
    const { message } = error as NodeJS.ErrnoException;
    throw invalidMask(origin, `cannot read the file of ${origin} (${message})`);
  }
  throw invalidMask(origin, `${origin} must name a file`);
}

function linesOf(text: string): readonly string[] {
  return text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** Errors name a value by its number: the value is a secret, and errors end up in logs. */
function valuesOf(given: unknown, origin: string): readonly string[] {
  if (!Array.isArray(given)) throw invalidMask(origin, `${origin} must be a list of strings`);
  return given.map((value: unknown, index) => {
    if (typeof value !== "string") throw invalidMask(origin, `value ${index + 1} of ${origin} is not a string`);
    const trimmed = value.trim();
    if ([...trimmed].length >= limits.masked_value_chars_min) return trimmed;
    throw invalidMask(
      origin,
      `value ${index + 1} of ${origin} has fewer than ${limits.masked_value_chars_min} characters`,
    );
  });
}

function invalidMask(field: string, message: string): WrongUse {
  const hint = "Give values of at least 6 characters, or ordinary text is masked too; in a file, one per line.";
  return new WrongUse({ code: "setting_invalid", field, message, hint });
}
