// Runs the doctor for a running server in its own process: it reads every page of the files, and capture must not wait
// for that.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Fault } from "../../model/fault.js";
import type { Diagnosis } from "../../model/verification.js";

const PROGRAM = fileURLToPath(new URL("main.js", import.meta.url));
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;

/** A record in memory has no files to check. */
const unkept: Diagnosis = {
  ok: true,
  findings: [
    {
      level: "warn",
      check: "folder",
      message: "the record is kept in memory, and is gone when the server stops",
      hint: "To keep it, use `hansard serve`: it stores the record in ~/.hansard, or in the place named with --data.",
    },
  ],
};

export async function inspectApart(store: {
  readonly data: string;
  readonly seal_key?: string | undefined;
}): Promise<Diagnosis> {
  const { data, seal_key } = store;
  if (data === "memory:") return unkept;
  // In the environment and not among the arguments, where every user of the machine could read a password.
  const env = { ...process.env, HANSARD_DATA: data, ...(seal_key === undefined ? {} : { HANSARD_SEAL_KEY: seal_key }) };
  const options = { env, maxBuffer: OUTPUT_BYTES_MAX };
  return new Promise((resolve, reject) => {
    // Its exit status says whether a check failed, and so does its output.
    execFile(process.execPath, [PROGRAM, "doctor", "--json"], options, (error, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout) as Diagnosis);
      } catch {
        const hint = "Run `hansard doctor` yourself.";
        reject(
          new Fault("store_failed", `the checks produced no output: ${stderr.trim() || error?.message}`, { hint }),
        );
      }
    });
  });
}
