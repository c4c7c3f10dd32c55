// Where settings come from: flags, then the environment, then the user's own file. A file in the current folder is never read by
// itself, and a key belongs to the address that is set in the same place: it is sent to no other.
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isServerAddress } from "../../model/store-location.js";
import { WrongUse } from "./failures.js";

const settingNames = [
  ...(["data", "key", "host", "port", "allow_host", "tls_cert", "tls_key", "rate"] as const),
  ...(["mask", "mask_file", "redact", "seal_key", "prices", "retention"] as const),
  ...(["model_url", "model", "model_key", "via", "daily_tokens"] as const),
] as const;
export type SettingName = (typeof settingNames)[number];

/** Lists, which only a file holds. */
type ListSetting = "mask" | "retention";
/** An address, and the key that is sent to it. */
type KeySetting = "key" | "model_key";

/** A value, and where it was found, for error messages. */
export interface Found {
  readonly value: unknown;
  readonly origin: string;
  /** What a relative path in it is relative to. */
  readonly folder: string;
}

export interface SourceOptions {
  readonly flags: { readonly [name in SettingName]?: unknown };
  readonly env: NodeJS.ProcessEnv;
  /** The current folder. */
  readonly folder: string;
  /** The file named with --config, in place of the user's own. */
  readonly config?: string | undefined;
}

/** The name that earlier versions read in the current folder. */
const FORMER_CONFIG_FILE = "hansard.config.json";

export class SettingSources {
  readonly #options: SourceOptions;
  readonly #file: ConfigFile;

  constructor(options: SourceOptions) {
    this.#options = options;
    this.#file = openConfig(options);
  }

  find(name: Exclude<SettingName, ListSetting | KeySetting>): Found | undefined {
    return this.#flag(name) ?? this.#variable(name) ?? this.#inFile(name);
  }

  /** A list of the file. */
  list(name: ListSetting): Found | undefined {
    return this.#inFile(name);
  }

  /** The key that is set in the same place as the address; undefined if no key belongs to it. */
  key(name: KeySetting, { address, is_flag }: AddressOfKey): Found | undefined {
    const [variable, inFile] = [this.#variable(name), this.#inFile(name)];
    const { setting, variables } = addressesOfKey[name];
    const others = variables.flatMap((other) => this.#options.env[other] ?? []).filter(isServerAddress);
    if (variable !== undefined) {
      if (others.some((other) => isSameAddress(other, address))) return variable;
      if (others.length === 0 && is_flag) return variable;
    }
    const ofFile = this.#inFile(setting);
    if (ofFile === undefined || !isSameAddress(ofFile.value, address)) return undefined;
    if (inFile === undefined && variable !== undefined && others.length === 0) throw orphanKey(variable, ofFile, name);
    return inFile;
  }

  isFlag(name: SettingName): boolean {
    return this.#flag(name) !== undefined;
  }

  #flag(name: SettingName): Found | undefined {
    const value = this.#options.flags[name];
    if (value === undefined) return undefined;
    return { value, origin: `--${name.replaceAll("_", "-")}`, folder: this.#options.folder };
  }

  #variable(name: SettingName): Found | undefined {
    const origin = variableOf(name);
    const value = this.#options.env[origin];
    // An empty variable is how shells and containers spell "not set".
    return value === undefined || value === "" ? undefined : { value, origin, folder: this.#options.folder };
  }

  #inFile(name: SettingName): Found | undefined {
    const { path, settings } = this.#file;
    const value = settings[name];
    return value === undefined ? undefined : { value, origin: `${name} in ${path}`, folder: dirname(path) };
  }
}

export interface AddressOfKey {
  /** The address that the key would be sent to. */
  readonly address: string;
  /** Whether a flag of this command names it. */
  readonly is_flag: boolean;
}

/** What names the address of a key: in the file, and in the environment. */
const addressesOfKey = {
  key: { setting: "data", variables: ["HANSARD_DATA", "HANSARD_URL"] },
  model_key: { setting: "model_url", variables: ["HANSARD_MODEL_URL"] },
} as const satisfies {
  readonly [K in KeySetting]: { readonly setting: SettingName; readonly variables: readonly string[] };
};

/** Compares addresses as they are connected to: `https://A.example` is `https://a.example/`. */
function isSameAddress(one: unknown, other: string): boolean {
  const normal = (text: string): string => (URL.canParse(text) ? new URL(text).href.replace(/\/+$/, "") : text);
  return typeof one === "string" && normal(one) === normal(other);
}

function variableOf(name: SettingName): string {
  return `HANSARD_${name.toUpperCase()}`;
}

function orphanKey(key: Found, address: Found, name: KeySetting): WrongUse {
  return new WrongUse({
    code: "setting_invalid",
    field: key.origin,
    message: `${key.origin} is set, but the address is ${address.origin}: a key is sent only to an address set in the same place`,
    hint: `Set ${addressesOfKey[name].variables[0]} too, or put "${name}" into the file.`,
  });
}

interface ConfigFile {
  readonly path: string;
  readonly settings: { readonly [name: string]: unknown };
}

function openConfig({ config, env, folder }: SourceOptions): ConfigFile {
  if (config !== undefined) return readConfig(resolve(folder, config), { is_named: true });
  const path = userConfigFile(env);
  return path === undefined ? { path: "", settings: {} } : readConfig(path, { is_named: false });
}

/** The user's own file; undefined without a home folder. */
function userConfigFile({ XDG_CONFIG_HOME = "", HOME }: NodeJS.ProcessEnv): string | undefined {
  // The XDG standard requires absolute paths and ignores others.
  const base = isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : homeConfig(HOME);
  return base === undefined ? undefined : join(base, "hansard", "config.json");
}

function homeConfig(home: string | undefined): string | undefined {
  try {
    const folder = home ?? homedir();
    return isAbsolute(folder) ? join(folder, ".config") : undefined;
  } catch {
    return undefined;
  }
}

/** What to tell a user whose folder has the file that is no longer read. */
export function formerConfigNote({ config, env, folder }: SourceOptions): string | undefined {
  if (config !== undefined || !existsSync(join(folder, FORMER_CONFIG_FILE))) return undefined;
  const own = userConfigFile(env);
  const move = own === undefined ? "" : `, or move your settings to ${own}`;
  return `${FORMER_CONFIG_FILE} in this folder is not read. If it is yours, use --config ${FORMER_CONFIG_FILE}${move}.`;
}

function readConfig(path: string, { is_named }: { readonly is_named: boolean }): ConfigFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!is_named && (code === "ENOENT" || code === "ENOTDIR")) return { path, settings: {} };
    throw brokenConfig(path, `cannot be read (${message})`);
  }
  const settings = parseConfig(path, text);
  const unknown = Object.keys(settings).find((name) => !(settingNames as readonly string[]).includes(name));
  if (unknown !== undefined) throw brokenConfig(path, `has the unknown setting ${JSON.stringify(unknown)}`);
  return { path, settings };
}

function parseConfig(path: string, text: string): ConfigFile["settings"] {
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
