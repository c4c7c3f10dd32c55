// How long it takes from nothing to a page: with an empty cache of npm, from a fresh clone and from the packed package.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { repositoryRoot } from "../scripts/repository-root.mjs";
import { runCommand, runNpm } from "../scripts/run-command.mjs";
import { type Measured, median, type Suite, type SuiteOptions } from "./figures.js";

const ROUNDS_MAX = 3;
const PAGE_MS_MAX = 300_000;
const PEERS = ["claude-replay", "sideseat"] as const;
/** Node by its version, installed for this where another one runs. */
const NODES = ["20", "24"] as const;

export const install: Suite = {
  name: "install",
  about:
    "From nothing to a page, each time with an empty cache of npm: `npm start` in a fresh clone, `npx` of the packed package until its page answers, and `npx` of two peers until they have printed their help (a page of their own would come on top)",
  async run({ folder, rounds }: SuiteOptions): Promise<readonly Measured[]> {
    const bench = new InstallBench(folder);
    const tarball = await packed(folder);
    const nodes = await Promise.all(NODES.map(async (version) => [version, await nodeOf(version, folder)] as const));
    const taken = new Map<string, number[]>();
    const note = (name: string, seconds: number) => taken.set(name, [...(taken.get(name) ?? []), seconds]);
    for (let round = 0; round < Math.min(rounds, ROUNDS_MAX); round += 1) {
      const { first, building, second } = await bench.clone();
      note("npm start in a fresh clone", first);
      note("… of it building and starting", building);
      note("npm start again", second);
      for (const [version, node] of nodes) note(`npx of the package, Node ${version}`, await bench.npx(tarball, node));
      for (const peer of PEERS) note(`npx ${peer} --help`, await bench.help(peer));
    }
    const targets: { readonly [name: string]: number } = {
      "npm start in a fresh clone": 20,
      "… of it building and starting": 5,
      "npm start again": 1.5,
      "npx of the package, Node 20": 6,
      "npx of the package, Node 24": 4,
    };
    return [
      ...[...taken].map(([name, seconds]) => {
        const at_most = targets[name];
        return { name, value: median(seconds), unit: "s", ...(at_most === undefined ? {} : { target: { at_most } }) };
      }),
      ...[...bench.installed].flatMap(([name, { packages, bytes, files }]) => [
        { name: `${name}: packages`, value: packages, unit: "" },
        { name: `${name}: size`, value: bytes / 1e6, unit: "MB" },
        { name: `${name}: files`, value: files, unit: "" },
      ]),
    ];
  },
};

interface Installed {
  readonly packages: number;
  readonly bytes: number;
  readonly files: number;
}

class InstallBench {
  /** What each put on the disk; the same in every round. */
  readonly installed = new Map<string, Installed>();
  readonly #folder: string;
  #nth = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async clone(): Promise<{ readonly first: number; readonly building: number; readonly second: number }> {
    const { folder, env } = this.#empty();
    const clone = join(folder, "clone");
    const { status, stderr } = await runCommand("git", ["clone", "--quiet", repositoryRoot, clone]);
    if (status !== 0) throw new Error(`The repository could not be cloned.\n${stderr}`);
    const data = join(folder, "record");
    const start = () => untilPage((port) => spawnNpm(["start", "--", ...flags(port, data)], { cwd: clone, env }));
    const first = await start();
    const second = await start();
    this.installed.set("clone", measure(join(clone, "node_modules")));
    const building = first.seconds - (first.installed ?? 0);
    return { first: first.seconds, building, second: second.seconds };
  }

  async npx(tarball: string, node: string): Promise<number> {
    const { folder, env } = this.#empty();
    const data = join(folder, "record");
    const PATH = `${dirname(node)}${delimiter}${process.env.PATH ?? ""}`;
    const args = (port: number) => [
      "exec",
      "--yes",
      `--package=${tarball}`,
      "--",
      "hansard",
      "serve",
      ...flags(port, data),
    ];
    const { seconds } = await untilPage((port) =>
      spawn(node, [npmFile(), ...args(port)], { cwd: folder, env: { ...env, PATH }, detached: true }),
    );
    this.installed.set("package", measure(join(folder, "cache", "_npx")));
    return seconds;
  }

  async help(peer: string): Promise<number> {
    const { folder, env } = this.#empty();
    const start = performance.now();
    const { status, stderr } = await runNpm(["exec", "--yes", `--package=${peer}@latest`, "--", peer, "--help"], {
      cwd: folder,
      env,
    });
    const seconds = (performance.now() - start) / 1_000;
    if (status !== 0) throw new Error(`${peer} could not be run.\n${stderr}`);
    this.installed.set(peer, measure(join(folder, "cache", "_npx")));
    return seconds;
  }

  /** A folder with an empty cache, and the environment that uses it. */
  #empty(): { readonly folder: string; readonly env: NodeJS.ProcessEnv } {
    this.#nth += 1;
    const folder = join(this.#folder, String(this.#nth));
    mkdirSync(folder);
    const own = { npm_config_cache: join(folder, "cache"), npm_config_update_notifier: "false", HOME: folder };
    const inherited = Object.entries(process.env).filter(([name]) => !/^npm_(?!config_registry|execpath)/.test(name));
    return { folder, env: { ...Object.fromEntries(inherited), ...own } };
  }
}

async function packed(folder: string): Promise<string> {
  const { status, stdout, stderr } = await runNpm(["pack", "--json", "--pack-destination", folder], {
    cwd: repositoryRoot,
  });
  if (status !== 0) throw new Error(`The package could not be packed.\n${stderr}`);
  return join(folder, JSON.parse(stdout)[0].filename);
}

/** The program of this version of Node, with this machine's own cache: it is not what is measured. */
async function nodeOf(version: string, cwd: string): Promise<string> {
  if (process.versions.node.startsWith(`${version}.`)) return process.execPath;
  const args = ["exec", "--yes", `--package=node@${version}`, "--", "node", "-p", "process.execPath"];
  const { status, stdout, stderr } = await runNpm(args, { cwd });
  if (status !== 0) throw new Error(`Node ${version} could not be installed.\n${stderr}`);
  return stdout.trim();
}

function npmFile(): string {
  const file = process.env.npm_execpath;
  if (file?.endsWith("npm-cli.js")) return file;
  throw new Error("Start it as `npm run bench -- install`: it starts the npm that started it.");
}

function spawnNpm(args: readonly string[], options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }) {
  return spawn(process.execPath, [npmFile(), ...args], { ...options, detached: true });
}

function flags(port: number, data: string): readonly string[] {
  return ["--port", String(port), "--data", data];
}

/** Starts a server, waits until its page answers, and ends it. `installed` is when its packages were there. */
async function untilPage(
  start: (port: number) => ChildProcess,
): Promise<{ readonly seconds: number; readonly installed: number | undefined }> {
  const port = await freePort();
  const begin = performance.now();
  const since = () => (performance.now() - begin) / 1_000;
  const child = start(port);
  const said: string[] = [];
  let installed: number | undefined;
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said.push(text);
    if (text.includes("Installed in")) installed = since();
  });
  child.stdout?.resume();
  try {
    while (since() * 1_000 < PAGE_MS_MAX && child.exitCode === null) {
      const answers = await fetch(`http://127.0.0.1:${port}/ui/`).catch(() => undefined);
      if (answers?.ok && (await answers.text()).includes("<script")) return { seconds: since(), installed };
      await pause(10);
    }
    throw new Error(`No page was served.\n${said.join("")}`);
  } finally {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    // npx does not pass a signal on to what it started.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
    if (child.exitCode === null) await ended;
    await untilClosed(port);
  }
}

async function untilClosed(port: number): Promise<void> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    if ((await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined)) === undefined) return;
    await pause(20);
  }
  throw new Error(`The server on port ${port} did not end.`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** What is below a folder, packages as npm notes them. */
function measure(folder: string): Installed {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = all.filter((item) => item.isFile()).map((item) => join(item.parentPath, item.name));
  const notes = files.filter((file) => file.endsWith(join("node_modules", ".package-lock.json")));
  const packages = notes.flatMap((file) => Object.keys(JSON.parse(readFileSync(file, "utf8")).packages));
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  return { packages: packages.length, bytes, files: files.length };
}
