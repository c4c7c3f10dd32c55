// `hansard proxy`: forwards model calls to their provider and records them, for programs with a configurable base URL.
import type { Command } from "commander";
import { proxiedProviders, serveProxy } from "../../proxy/recording-proxy.js";
import {
  type CommandModule,
  examplesText,
  type Invocation,
  onStop,
  requireAddress,
  textOptions,
  withRecorder,
} from "../command.js";
import { exitStatus } from "../failures.js";
import { cleanLine } from "../text/terminal.js";

const PORT_DEFAULT = 4748;

export const proxyCommand: CommandModule = {
  define(command: Command): void {
    const names = Object.keys(proxiedProviders);
    command
      .option("--port <n>", `the port on 127.0.0.1 (${PORT_DEFAULT}); 0: any free port`)
      .option(
        "--to <address>",
        `forward everything there; without it the path names the provider: /${names.join("/…, /")}/…`,
      )
      .option("--session <id>", "the session of calls without the header x-hansard-session")
      .option("--project <name>", "the project of calls without the header x-hansard-project")
      .option("--client <name>", "the program that makes the calls")
      .addHelpText(
        "after",
        examplesText([
          ["then set OPENAI_BASE_URL=http://127.0.0.1:4748/openai/v1", "hansard proxy"],
          ["a model server on this machine", "hansard proxy --to http://127.0.0.1:11434 --project home"],
        ]),
      );
  },

  async run(invocation: Invocation) {
    const { options, settings, screen } = invocation;
    const { to, session, project, client } = textOptions(options, ["to", "session", "project", "client"] as const);
    requireAddress("--to", to, "https://api.openai.com");
    const port = options.port === undefined ? PORT_DEFAULT : settings.port;
    await withRecorder(invocation, { create: true }, async (recorder) => {
      const labels = { session_id: session, project, client };
      const proxying = await serveProxy({
        recorder,
        port,
        to,
        labels,
        onLost: (reason) => screen.err.write(`A model call was not recorded: ${cleanLine(reason)}\n`),
      });
      screen.out.write(`${proxying.address}\n`);
      await new Promise<void>((resolve) => onStop(resolve));
      await proxying.close();
    });
    return exitStatus.done;
  },
};
