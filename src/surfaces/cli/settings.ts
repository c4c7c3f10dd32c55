// The settings of a command, parsed from wherever they come.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { filesOf, isServed } from "../../engines/stores.js";
import { limits } from "../../model/limits.js";
import { isServerAddress } from "../../model/store-location.js";
import { WrongUse } from "./failures.js";
import { type Found, SettingSources, type SourceOptions } from "./setting-sources.js";

export interface Settings {
  /** The folder of the store, its `postgres://` address, that of a server, or `memory:`. */
  readonly data: string;
  /** The value of --data, which a suggested command must repeat; undefined if it came from elsewhere. */
  readonly given_data: string | undefined;
  /** The key for the server that data names. */
  readonly key?: string | undefined;
  /** The key for another server; undefined if no key belongs to its address. */
  keyOf(address: string, named: { readonly is_flag: boolean }): string | undefined;
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

export function resolveSettings(options: SourceOptions): Settings {
  const sources = new SettingSources(options);
  const find = sources.find.bind(sources);
  const data = parseData(find("data"));
  return {
    data,
    given_data: typeof options.flags.data === "string" ? options.flags.data : undefined,
    key: isServerAddress(data)
      ? parseText(sources.key("key", { address: data, is_flag: sources.isFlag("data") }))
      : undefined,
    keyOf: (address, { is_flag }) => parseText(sources.key("key", { address, is_flag })),
    host: parseText(find("host")) ?? "127.0.0.1",
    port: parsePort(find("port")),
    allow_host: parseNames(find("allow_host")),
    tls: parseTls(find("tls_cert"), find("tls_key")),
    rate: parseRate(find("rate")),
    mask: readMaskValues({
      file: find("mask_file"),
      variable: options.env.HANSARD_MASK,
      config: sources.list("mask"),
    }),
    redact: parseRedact(find("redact")),
    seal_key: parsePath(find("seal_key")),
    prices: parsePath(find("prices")),
    retention: parseRetention(sources.list("retention")),
    model: parseModel(sources),
  };
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

/** The path of a file. A relative one in the user's file is relative to that file. */
function parsePath(found: Found | undefined): string | undefined {
  const text = parseText(found);
  return found === undefined || text === undefined ? undefined : resolve(found.folder, text);
}

/** Only the file can hold a list of rules. */
function parseRetention(found: Found | undefined): Settings["retention"] {
  if (found === undefined) return [];
  if (Array.isArray(found.value)) return found.value as Settings["retention"];
  throw new WrongUse({
    code: "setting_invalid",
    field: found.origin,
    message: `${found.origin} must be a list of rules`,
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
  return parseData({ value, origin, folder: process.cwd() });
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
  return resolve(found?.folder ?? "", expanded);
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
  const files = { cert: parsePath(cert), key: parsePath(key) };
  if (files.cert !== undefined && files.key !== undefined) return { cert: files.cert, key: files.key };
  const given = cert ?? key;
  if (given === undefined) return undefined;
  const message = `${given.origin} is set but ${cert === undefined ? "tls_cert" : "tls_key"} is not`;
  const hint = "HTTPS needs both: --tls-cert FILE --tls-key FILE.";
  throw new WrongUse({ code: "setting_invalid", field: given.origin, message, hint });
}

/** An endpoint with a model name, or a command; not both. */
function parseModel(sources: SettingSources): ModelSettings | undefined {
  const [url, model, via] = (["model_url", "model", "via"] as const).map((name) => parseText(sources.find(name)));
  const daily_tokens = parseTokens(sources.find("daily_tokens"));
  const wrong = (field: string, message: string): WrongUse => new WrongUse({ code: "setting_invalid", field, message });
  if (via !== undefined) {
    if (url === undefined) return { model: { via }, daily_tokens };
    throw wrong(sources.find("via")?.origin ?? "--via", "give either --via or --model-url, not both");
  }
  if (url === undefined) return undefined;
  if (model === undefined) throw wrong("--model", "--model-url needs --model, the name of the model");
  const key = sources.key("model_key", { address: url, is_flag: sources.isFlag("model_url") });
  return { model: { url, model, key: parseText(key) }, daily_tokens };
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
  readonly config: Found | undefined;
}): readonly string[] {
  const values = [
    ...(file === undefined ? [] : valuesOf(linesOf(readLines(file)), file.origin)),
    ...valuesOf(linesOf(variable ?? ""), "HANSARD_MASK"),
    ...(config === undefined ? [] : valuesOf(config.value, config.origin)),
  ];
  return [...new Set(values)];
}

function readLines({ value, origin, folder }: Found): string {
  try {
    if (typeof value === "string") return readFileSync(resolve(folder, value), "utf8");
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
