// The newest seal of each log, kept beside the key that signed it: outside of the data folder, so that whoever cuts off a log
// does not find it there.
import { createHash } from "node:crypto";
import { readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { makeFolder } from "../../model/files.js";
import { Rejection } from "../../model/rejection.js";
import { displayLocation, isDatabaseAddress } from "../../model/store-location.js";
import type { Seal } from "../../model/verification.js";
import { writeWholeFile } from "../whole-file.js";
import { newestSeal, parseSeals } from "./seal.js";

const PLACE_CHARS = 16;

export class KeptSeals {
  readonly #folder: string;
  readonly #data: string;

  constructor(options: { readonly key_path: string; readonly data: string }) {
    this.#folder = join(dirname(options.key_path), "seals");
    this.#data = options.data;
  }

  /** Undefined where there is none, or none that can be read: who can spoil it could as well have taken it away. */
  read(log_id: string): Seal | undefined {
    try {
      const seals = parseSeals(readFileSync(this.#path(log_id), "utf8"));
      return seals instanceof Rejection ? undefined : newestSeal(seals, log_id);
    } catch {
      return undefined;
    }
  }

  async write(seal: Seal): Promise<void> {
    makeFolder(this.#folder, 0o700);
    await writeWholeFile({ path: this.#path(seal.log_id), replaces: true }, async (draft) =>
      writeFileSync(draft, `${JSON.stringify(seal)}\n`),
    );
  }

  remove(log_id: string): void {
    rmSync(this.#path(log_id), { force: true });
  }

  /** By the log's id and its place: a copy of the log, elsewhere and older, is no log that was cut off. */
  #path(log_id: string): string {
    const place = createHash("sha256").update(placeOf(this.#data)).digest("hex").slice(0, PLACE_CHARS);
    // The id comes from the log, where anybody may have written anything.
    return join(this.#folder, `${log_id.replace(/[^A-Za-z0-9-]/g, "_").slice(0, 64)}.${place}.json`);
  }
}

function placeOf(data: string): string {
  if (isDatabaseAddress(data)) return displayLocation(data);
  try {
    return realpathSync(data);
  } catch {
    return resolve(data);
  }
}
