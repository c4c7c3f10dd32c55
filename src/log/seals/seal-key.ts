// The key that signs seals: a file outside of the data folder, created on first use, readable only by its owner.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, realpathSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { Fault } from "../../model/fault.js";
import { makeFolder } from "../../model/files.js";

/** The default path of the key. */
export function defaultSealKeyPath(platform: { readonly home: string; readonly config_home?: string }): string {
  const { home, config_home = "" } = platform;
  // The XDG standard requires absolute paths and ignores others.
  const base = config_home.startsWith("/") ? config_home : join(home, ".config");
  return join(base, "hansard", "seal-key.pem");
}

/** Reads the private key, or creates it. */
export function openSealKey(path: string, options: { readonly data: string }): KeyObject {
  refuseInside(path, options.data);
  const text = readKeyFile(path) ?? makeKeyFile(path);
  return parsed(path, () => createPrivateKey(text));
}

/**
 * The key to verify seals with, private or public. Undefined if there is none, unless it was configured: then seals by
 * other keys must not pass.
 */
export function findSealKey(path: string, options: { readonly is_named?: boolean } = {}): KeyObject | undefined {
  const text = readKeyFile(path);
  if (text !== undefined) return parsed(path, () => createPublicKey(text));
  if (options.is_named !== true) return undefined;
  throw new Fault("seal_key_unusable", `the seal key ${path} does not exist`, {
    hint: "Name the key that signed the seal, or its public key.",
  });
}

/** Write access to the log must not include the key. */
function refuseInside(path: string, data: string): void {
  if (data === "memory:" || /^[a-z]+:\/\//i.test(data)) return;
  const way = relative(realPathOf(data), realPathOf(path));
  if (way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way)) return;
  throw new Fault("seal_key_unusable", `the seal key ${path} is inside the data folder`, {
    hint: "Name a file elsewhere with HANSARD_SEAL_KEY: anyone who can change the log must not find the key next to it.",
  });
}

/** Resolves links as far as the path exists: they may lead into the store or out of it. */
function realPathOf(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch {
    const parent = dirname(absolute);
    return parent === absolute ? absolute : join(realPathOf(parent), basename(absolute));
  }
}

function readKeyFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unusable(path, "cannot be read", error);
  }
}

/** Written to a temporary file and linked: others see a whole key or none, and of two concurrent ones one stays. */
function makeKeyFile(path: string): string {
  const text = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString();
  const draft = `${path}.${process.pid}.part`;
  try {
    makeFolder(dirname(path), 0o700);
    const file = openSync(draft, "wx", 0o600);
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    linkSync(draft, path);
    return text;
  } catch (error) {
    const other = (error as NodeJS.ErrnoException).code === "EEXIST" ? readKeyFile(path) : undefined;
    if (other !== undefined) return other;
    throw unusable(path, "cannot be created", error);
  } finally {
    rmSync(draft, { force: true });
  }
}

function parsed(path: string, parse: () => KeyObject): KeyObject {
  let key: KeyObject;
  try {
    key = parse();
  } catch (error) {
    throw unusable(path, "is not a key", error);
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  throw unusable(path, "is not an Ed25519 key", undefined);
}

function unusable(path: string, flaw: string, cause: unknown): Fault {
  return new Fault("seal_key_unusable", `the seal key ${path} ${flaw}`, {
    hint: "Set HANSARD_SEAL_KEY to another path; if no file exists there, a key is created.",
    cause,
  });
}
