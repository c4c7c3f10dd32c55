// `hansard deliver`: sends entries left in the spool by agents that exited while their server was unreachable.
import type { Command } from "commander";
import { connectRecorder, type Problem } from "../../../../client/index.js";
import { node } from "../../../../client/node.js";
import { defaultSpoolFolder, spooledServers } from "../../../../client/spool.js";
import { type CommandModule, helpText, type Invocation, printResult, requireAddress, textOptions } from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { countOf, formatCount } from "../text/table.js";
import { cleanLine } from "../text/terminal.js";

interface Delivered {
  readonly server: string;
  readonly sent: number;
  /** Still in the spool. */
  readonly left: number;
  /** Rejected by the server for good, or unreadable. */
  readonly dropped: number;
  /** Why something was left or dropped. */
  readonly problems: readonly string[];
}

export const deliverCommand: CommandModule = {
  define(command: Command): void {
    command
      .option("--spool <folder>", "the spool folder, if agents do not use the default")
      .option("--url <address>", "only entries for this server")
      .option("--json", "print JSON")
      .addHelpText(
        "after",
        helpText(
          [
            "Running agents deliver spooled entries for their own server; use this command if none is running.",
            "The spools of running agents are not touched. HANSARD_KEY is sent only to the server in --url or HANSARD_URL.",
          ],
          [
            ["everything spooled on this machine", "hansard deliver"],
            ["only entries for one server", "HANSARD_KEY=hk_… hansard deliver --url https://record.example.com"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { options, settings } = invocation;
    const { spool, url } = textOptions(options, ["spool", "url"] as const);
    requireAddress("--url", url, "https://record.example.com");
    const here = node as NonNullable<typeof node>;
    const folder = spool ?? defaultSpoolFolder(here);
    const servers = url === undefined ? spooledServers(here, folder) : [url];
    const keyOf = (server: string): string | undefined => settings.keyOf(server, { is_flag: server === url });
    // The spool names servers, but a key is not sent to an address only because the spool names it.
    const hasKey = (process.env.HANSARD_KEY ?? "") !== "";
    if (url === undefined && hasKey && servers.some((server) => keyOf(server) === undefined)) throw unnamed(servers);
    const deliveries: Delivered[] = [];
    for (const server of servers) deliveries.push(await deliver(server, folder, keyOf(server)));
    const shown = deliveries.filter(({ sent, left, dropped, problems }) => sent + left + dropped + problems.length > 0);
    printResult(invocation, { deliveries: shown }, () => shown.map(line).join("") || "Nothing to deliver.\n");
    return shown.some(isUndone) ? exitStatus.failed : exitStatus.done;
  },
};

function unnamed(servers: readonly string[]): WrongUse {
  const message = `HANSARD_KEY is not sent to addresses that only the spool names: ${servers.join(", ")}`;
  return new WrongUse({
    code: "option_invalid",
    field: "--url",
    message,
    hint: "Give the server of the key with --url.",
  });
}

/** Entries are left, or the spool cannot be read. */
function isUndone({ sent, left, dropped, problems }: Delivered): boolean {
  return left > 0 || (sent + dropped === 0 && problems.length > 0);
}

async function deliver(server: string, folder: string, key: string | undefined): Promise<Delivered> {
  const problems: Problem[] = [];
  const recorder = connectRecorder({
    url: server,
    key: key ?? "",
    spool: folder,
    onProblem: (one) => problems.push(one),
  });
  // A flush ends after a few seconds, too short for a large spool, so it is repeated while it makes progress.
  const settled = (): number => recorder.counters.sent + recorder.counters.dropped;
  for (let before = -1; settled() > before; ) {
    before = settled();
    await recorder.flush();
  }
  const { sent, spooled: left, dropped } = await recorder.close();
  return { server, sent, left, dropped, problems: problems.map(({ code, message }) => `${code}: ${message}`) };
}

function line({ server, sent, left, dropped, problems }: Delivered): string {
  const counts = [
    `${countOf(sent, "entry", "entries")} sent`,
    ...(left === 0 ? [] : [`${formatCount(left)} not sent`]),
    ...(dropped === 0 ? [] : [`${formatCount(dropped)} dropped`]),
  ];
  const reasons = problems.map((problem) => `  ${cleanLine(problem)}\n`);
  return `${cleanLine(server)}: ${counts.join(", ")}\n${reasons.join("")}`;
}
