// Runs the real command on a real terminal, which `script` provides, and hands back all that was drawn on it.
import { spawn } from "node:child_process";
import { configHome, mainFile } from "./cli-run.js";

export interface Drawn {
  readonly status: number | null;
  /** Both streams as the terminal got them, sequences included; its line ends are those of a file. */
  readonly text: string;
}

export async function runOnTerminal(
  args: readonly string[],
  options: {
    readonly data: string;
    readonly columns: number;
    readonly env?: NodeJS.ProcessEnv;
    /** Sees all that was drawn each time there is more, for a command that goes on until it is stopped. */
    readonly onText?: (text: string, type: (keys: string) => void) => void;
  },
): Promise<Drawn> {
  const line = [process.execPath, mainFile, ...args].map(quoted).join(" ");
  const command = `stty cols ${options.columns} rows 40; exec ${line}`;
  const { PATH = "" } = process.env;
  const child = spawn("script", scriptArguments(command), {
    env: {
      PATH,
      HOME: "/nonexistent",
      XDG_CONFIG_HOME: configHome,
      SHELL: "/bin/sh",
      TERM: "xterm",
      HANSARD_DATA: options.data,
      ...options.env,
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  if (options.onText === undefined) child.stdin.end();
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    options.onText?.(text, (keys) => child.stdin.write(keys));
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, text: text.replaceAll("\r\n", "\n") }));
  });
}

/** Linux and macOS know two programs of this name. */
function scriptArguments(command: string): readonly string[] {
  return process.platform === "darwin" ? ["-q", "/dev/null", "/bin/sh", "-c", command] : ["-qec", command, "/dev/null"];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
