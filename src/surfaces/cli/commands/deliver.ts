// `hansard deliver`: sends what agents left in the spool that were killed while their server was away, and never came back.
import type { Command } from "commander";
import { connectRecorder, type Problem } from "../../../../client/index.js";
import { node } from "../../../../client/node.js";
import { defaultSpoolFolder, spooledServers } from "../../../../client/spool.js";
import { type CommandModule, helpText, type Invocation, requireAddress, textOptions } from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { countOf } from "../text/table.js";
import { cleanLine, documentText } from "../text/terminal.js";

interface Delivered {
  readonly server: string;
  readonly sent: number;
  /** What the server did not take now, and still waits. */
  readonly left: number;
  /** What it will never take, or could not be read. */
  readonly dropped: number;
  /** Why something was left or dropped. */
  readonly problems: readonly string[];
}

export const deliverCommand: CommandModule = {
  define(command: Command): void {
    command
      .option("--spool <folder>", "where agents spool, if they were told so")
      .option("--url <address>", "what waits for this server alone")
      .option("--json", "print a JSON document")
      .addHelpText(
        "after",
        helpText(
          [
            "Every agent that records on the same server delivers what others left; this is for where none comes any more.",
            "What agents that are still there have in their spools stays theirs. HANSARD_KEY is sent along, to one server alone.",
          ],
          [
            ["what waits on this machine, for whatever server", "hansard deliver"],
            ["what waits for one of them", "HANSARD_KEY=hk_… hansard deliver --url https://record.example.com"],
          ],
        ),
      );
  },

  async run({ options, settings, screen, json }: Invocation) {
    const { spool, url } = textOptions(options, ["spool", "url"] as const);
    requireAddress("--url", url, "https://record.example.com");
    const here = node as NonNullable<typeof node>;
    const folder = spool ?? defaultSpoolFolder(here);
    const servers = url === undefined ? spooledServers(here, folder) : [url];
    // The key of one server is nothing for another to see.
    if (settings.key !== undefined && servers.length > 1) throw severalWait(servers);
    const deliveries: Delivered[] = [];
    for (const server of servers) deliveries.push(await deliver(server, folder, settings.key));
    const told = deliveries.filter(({ sent, left, dropped, problems }) => sent + left + dropped + problems.length > 0);
    screen.out.write(json ? documentText({ deliveries: told }, screen.out) : told.map(line).join("") || NOTHING);
    return told.some(isUndone) ? exitStatus.failed : exitStatus.done;
  },
};

function severalWait(servers: readonly string[]): WrongUse {
  const message = `HANSARD_KEY is for one server, and something may wait for several: ${servers.join(", ")}`;
  return new WrongUse({ code: "option_invalid", field: "--url", message, hint: "Name the one that it is for." });
}

/** Something still waits, or it cannot be known: its spool cannot be used. */
function isUndone({ sent, left, dropped, problems }: Delivered): boolean {
  return left > 0 || (sent + dropped === 0 && problems.length > 0);
}

const NOTHING = "Nothing waits to be delivered.\n";

async function deliver(server: string, folder: string, key: string | undefined): Promise<Delivered> {
  const problems: Problem[] = [];
  const recorder = connectRecorder({ url: server, key, spool: folder, onProblem: (one) => problems.push(one) });
  // One flush has only some seconds, which is too little for a large spool: it goes on as long as something is settled.
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
    ...(left === 0 ? [] : [`${left} still waiting`]),
    ...(dropped === 0 ? [] : [`${dropped} lost`]),
  ];
  const reasons = problems.map((problem) => `  ${cleanLine(problem)}\n`);
  return `${cleanLine(server)}: ${counts.join(", ")}\n${reasons.join("")}`;
}
